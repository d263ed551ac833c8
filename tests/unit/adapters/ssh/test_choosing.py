"""Which group of hosts a cluster gets where some do not answer."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.owners import FixedOwners
from tests.unit.adapters.ssh.leased import LOAD, NODES, asked_for, cluster_without, group_of

from plimsoll.adapters.ssh import SshProvider
from plimsoll.adapters.ssh.errors import WrongHostKey
from plimsoll.adapters.ssh.member import Member
from plimsoll.domain.cluster import Cluster
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import HostsLost, ProviderError
from plimsoll.ports.provider import Places
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts import kept_hosts
from plimsoll.services.hosts.replacing import why_replaced
from plimsoll.services.toolkit import Toolkit

RACK, OTHERS, OTHER_LOAD = NODES[:3], ["10.0.1.1", "10.0.1.2", "10.0.1.3"], "10.0.1.9"


@pytest.fixture
def two_racks(provider: SshProvider) -> SshProvider:
    """A group of three nodes and no further host, and another one like it."""
    groups = [group_of("rack1", RACK, [LOAD]), group_of("rack2", OTHERS, [OTHER_LOAD])]
    return provider.at(Places(({"groups": groups},)))


def addresses(cluster: Cluster) -> list[str]:
    return [info.address for info in cluster.hosts]


@pytest.fixture
def tools(tmp_path: Path, two_racks: SshProvider) -> Toolkit:
    """A campaign on kept hosts of the two groups."""
    made = Installation(tmp_path / "made")
    plain = instant_definition(variants=2, loads=2, parallel=1).model_dump(mode="json")
    provider = {"name": "ssh", "options": two_racks.places.options[0]}
    made.open_campaign(Definition.model_validate({**plain, "cluster_scope": "campaign", "provider": provider}))
    owners = FixedOwners(alive={"me"})
    return replace(made.toolkit, providers={"ssh": two_racks}, owners=owners)


def over(tools: Toolkit, cell_id: str) -> AttemptContext:
    """An attempt that has had its hosts."""
    work = begin(tools, "campaign", cell_id, "me")
    actions.provision(work)
    actions.destroy(work)
    return work


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
    over(tools, "v1-001k-r1")
    taken = kept_hosts.take

    def then_silent(*arguments: Any) -> Any:
        monkeypatch.setattr(kept_hosts, "take", taken)
        found = taken(*arguments)
        silent.add(LOAD)
        return found

    monkeypatch.setattr(kept_hosts, "take", then_silent)
    second = over(tools, "v2-001k-r1")
    assert (second.cluster_id.name, addresses(second.cluster())) == ("hosts/2", [*OTHERS, OTHER_LOAD])
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
