"""Which group of hosts a new cluster gets, and which of its hosts, where some were unfit before or do not answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.owners import FixedOwners
from tests.unit.adapters.ssh.leased import FURTHER_LOAD, HOSTS, LOAD, NODES, asked_for, cluster_without, group_of

from plimsoll.adapters.hosts.onhost import lease
from plimsoll.adapters.providers.ssh import SshProvider
from plimsoll.adapters.providers.ssh.login import WrongHostKey
from plimsoll.adapters.providers.ssh.member import Lease, Member
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.keys.host_bounds import HostFigures
from plimsoll.domain.text.errors import HostsLost, ProviderError, UnfitHosts
from plimsoll.ports.host import Host
from plimsoll.ports.provider import Places
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts import kept_hosts
from plimsoll.services.hosts.kept_records import why_replaced
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit

RACK, OTHERS, OTHER_LOAD = NODES[:3], ["10.0.1.1", "10.0.1.2", "10.0.1.3"], "10.0.1.9"
NEXT = HOSTS.numbered(2)


@pytest.fixture
def two_racks(provider: SshProvider) -> SshProvider:
    """Provide a group of three nodes and no further host, and another one like it."""
    groups = [group_of("rack1", RACK, [LOAD]), group_of("rack2", OTHERS, [OTHER_LOAD])]
    return provider.at(Places(({"groups": groups, "folder": "/srv/plimsoll"},)))


def addresses(cluster: Cluster) -> list[str]:
    return [info.address for info in cluster.hosts]


def addresses_used(work: AttemptContext) -> list[str]:
    """Return the addresses of the hosts that the attempt was given."""
    cluster = layout.CLUSTER.read(work.toolkit.store, work.key)
    assert cluster is not None
    return addresses(cluster)


def test_a_group_with_an_unfit_host_is_passed_over(two_racks: SshProvider) -> None:
    assert addresses(two_racks.ensure(asked_for(two_racks, NODES[1], nodes=3, hosts=NEXT))) == [*OTHERS, OTHER_LOAD]


def test_a_group_with_further_hosts_is_used_without_the_unfit_ones(
    provider: SshProvider, asked: list[tuple[str, str]]
) -> None:
    cluster = provider.ensure(asked_for(provider, NODES[0], LOAD, hosts=NEXT))
    assert addresses(cluster) == [NODES[2], NODES[1], FURTHER_LOAD]
    assert cluster.load_host.name == "load"
    assert NODES[0] not in {address for _, address in asked}
    assert provider.ensure(asked_for(provider, NODES[0], LOAD, hosts=NEXT)).hosts == cluster.hosts


def test_where_the_other_groups_are_in_use_the_unfit_hosts_are_named(two_racks: SshProvider) -> None:
    two_racks.ensure(asked_for(two_racks, *NODES, nodes=3))
    with pytest.raises(ProviderError) as caught:
        two_racks.ensure(asked_for(two_racks, NODES[1], nodes=3, hosts=NEXT))
    assert "rack1: too few hosts are left without those that were unfit: 10.0.0.2" in str(caught.value)
    assert "rack2: is in use by demo-1/hosts/1" in str(caught.value)


def test_where_every_group_would_need_an_unfit_host_they_are_used_again(two_racks: SshProvider) -> None:
    found = two_racks.ensure(asked_for(two_racks, NODES[1], OTHER_LOAD, nodes=3, hosts=NEXT))
    assert addresses(found) == [*RACK, LOAD]


def test_a_host_that_was_unfit_in_an_earlier_cluster_takes_no_others_place(provider: SshProvider) -> None:
    cluster = provider.ensure(asked_for(provider, NODES[2]))
    unfit = asked_for(provider, NODES[2]).model_copy(update={"unfit": frozenset({NODES[1]}), "was_whole": True})
    assert addresses(provider.ensure(unfit)) == [NODES[0], NODES[3], LOAD]
    assert addresses(cluster) == [*NODES[:2], LOAD]


@dataclass
class Worn:
    """Finds these addresses too slow."""

    slow: set[str] = field(default_factory=set)

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        """Return figures of each host."""
        names = ("cpu_bytes_s", "disk_write_bytes_s", "disk_read_bytes_s", "network_bytes_s")
        speeds = {host.info.name: (10 if host.info.address in self.slow else 200) << 20 for host in hosts}
        return [HostFigures(host=name, **dict.fromkeys(names, speed)) for name, speed in speeds.items()]


@pytest.fixture
def worn() -> Worn:
    return Worn()


@pytest.fixture
def tools(tmp_path: Path, two_racks: SshProvider, worn: Worn) -> Toolkit:
    """Provide a campaign on kept hosts of the two groups, which are checked."""
    made = Installation(tmp_path / "made")
    plain = instant_definition(variants=2, loads=2, parallel=1).model_dump(mode="json")
    provider = {"name": "ssh", "options": two_racks.places.options[0]}
    checked = {"cluster_scope": "campaign", "canary": {"node": {"disk_write": "100M"}}}
    made.open_campaign(Definition.model_validate({**plain, **checked, "provider": provider}))
    owners = FixedOwners(alive={"me"})
    return replace(made.toolkit, providers={"ssh": two_racks}, canary=worn, owners=owners)


def checked_and_over(tools: Toolkit, cell_id: str) -> AttemptContext:
    """Return an attempt whose hosts have passed their check."""
    work = begin(tools, "campaign", cell_id, "me")
    actions.provision(work)
    try:
        actions._preflight(work)
    finally:
        actions.destroy(work)
    return work


def test_the_group_of_a_host_that_fails_its_check_does_not_come_back(tools: Toolkit, worn: Worn) -> None:
    checked_and_over(tools, "v1-001k-r1")
    worn.slow = {NODES[1]}
    later = [checked_and_over(tools, cell_id) for cell_id in ("v2-001k-r1", "v1-002k-r1", "v2-002k-r1")]
    assert [work.cluster_id.name for work in later] == ["hosts/2"] * 3
    assert {tuple(addresses_used(work)) for work in later} == {(*OTHERS, OTHER_LOAD)}
    assert "no other host that is free in its place: node2 (10.0.0.2)" in why_replaced(tools.store, later[0].cluster_id)


def test_mended_hosts_serve_again_where_every_group_had_an_unfit_one(tools: Toolkit, worn: Worn) -> None:
    checked_and_over(tools, "v1-001k-r1")
    worn.slow = {NODES[1], OTHERS[1]}
    for cell_id in ("v2-001k-r1", "v1-002k-r1"):
        with pytest.raises(UnfitHosts):
            checked_and_over(tools, cell_id)
    worn.slow.clear()
    later = [checked_and_over(tools, cell_id) for cell_id in ("v2-001k-r1", "v1-002k-r1")]
    assert [work.cluster_id.name for work in later] == ["hosts/3"] * 2
    assert {tuple(addresses_used(work)) for work in later} == {(*RACK, LOAD)}


def test_a_cluster_whose_group_falls_silent_is_not_made_again_on_another_one(
    two_racks: SshProvider, silent: set[str], tmp_path: Path
) -> None:
    """Its hosts may live, and be found under the same name later."""
    cluster_without(two_racks, nodes=3)
    silent.add(LOAD)
    with pytest.raises(HostsLost, match="can't be reached"):
        two_racks.ensure(asked_for(two_racks, nodes=3).model_copy(update={"was_whole": True}))
    assert not (tmp_path / OTHER_LOAD / "lease.json").exists()


def test_a_group_that_falls_silent_after_it_was_looked_for_is_replaced_by_another_one_under_another_name(
    tools: Toolkit, silent: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked_and_over(tools, "v1-001k-r1")
    taken = kept_hosts.take

    def then_silent(*arguments: Any) -> Any:
        monkeypatch.setattr(kept_hosts, "take", taken)
        found = taken(*arguments)
        silent.add(LOAD)
        return found

    monkeypatch.setattr(kept_hosts, "take", then_silent)
    second = checked_and_over(tools, "v2-001k-r1")
    assert (second.cluster_id.name, addresses_used(second)) == ("hosts/2", [*OTHERS, OTHER_LOAD])
    assert "can't be reached" in why_replaced(tools.store, second.cluster_id)
    silent.clear()
    kept_hosts.end_kept(tools, "campaign")
    assert tools.providers["ssh"].clusters() == []


def test_a_group_that_can_not_be_asked_for_another_reason_loses_no_hosts(
    two_racks: SshProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever mends the connection has the cluster again."""
    before = cluster_without(two_racks, nodes=3)
    with monkeypatch.context() as patch:
        patch.setattr(Member, "ask", refuses)
        with pytest.raises(ProviderError, match="another key") as caught:
            two_racks.ensure(asked_for(two_racks, nodes=3).model_copy(update={"was_whole": True}))
    assert not isinstance(caught.value, HostsLost)
    assert cluster_without(two_racks, nodes=3).hosts == before.hosts


def refuses(member: Member, *_: object, **__: object) -> None:
    raise WrongHostKey("another key", where=member.name)


def test_a_group_that_does_not_answer_keeps_no_new_cluster_from_another_one(
    two_racks: SshProvider, silent: set[str]
) -> None:
    silent.add(LOAD)
    assert addresses(two_racks.ensure(asked_for(two_racks, nodes=3))) == [*OTHERS, OTHER_LOAD]


def test_of_a_group_that_was_taken_in_part_no_host_is_cleaned_that_another_cluster_has_taken_since(
    provider: SshProvider, asked: list[tuple[str, str]], tmp_path: Path
) -> None:
    """A process was killed after it took the load host; the other definition's group shares a node."""
    lease.take(tmp_path / LOAD, unfinished(provider).model_dump(mode="json"))
    other = provider.at(
        Places(({"groups": [group_of("shared", [NODES[1]], [OTHER_LOAD])], "folder": "/srv/plimsoll"},))
    )
    whole = other.ensure(asked_for(other, nodes=1, hosts=NEXT))
    asked.clear()
    with pytest.raises(ProviderError, match="rack1: is in use by demo-1/hosts/2 of run-7"):
        provider.ensure(asked_for(provider))
    assert [host for command, host in asked if command == "clean"] == []
    assert other.find(NEXT) == whole
    assert not (tmp_path / LOAD / "lease.json").exists()


def unfinished(provider: SshProvider) -> Lease:
    """Return the lease of a cluster whose hosts are being taken."""
    cluster = provider.ensure(asked_for(provider))
    provider.destroy(HOSTS)
    return Lease(key=str(HOSTS), cluster=cluster)


def test_a_cluster_that_took_a_second_group_while_its_first_was_silent_gives_both_back(
    two_racks: SshProvider, silent: set[str], tmp_path: Path
) -> None:
    two_racks.ensure(asked_for(two_racks, nodes=3))
    silent.add(LOAD)
    two_racks.ensure(asked_for(two_racks, nodes=3))
    silent.clear()
    two_racks.destroy(HOSTS)
    assert not list(tmp_path.glob("*/lease.json"))


def test_a_silent_group_keeps_no_cluster_on_another_one_from_being_destroyed(
    two_racks: SshProvider, silent: set[str], tmp_path: Path
) -> None:
    two_racks.ensure(asked_for(two_racks, nodes=3))
    silent.add(OTHER_LOAD)
    two_racks.destroy(HOSTS)
    assert not list(tmp_path.glob("*/lease.json"))
