"""Further hosts of a group in the place of kept ones that are unfit. Each host is a folder with a lease in it."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.adapters.ssh.leased import FURTHER_LOAD, HOSTS, LOAD, NODES, cluster_without, ensured, group_of

from plimsoll.adapters.providers.ssh import Connections, SshProvider, Target
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.adapters.providers.ssh.member import Member
from plimsoll.domain.hosts.cluster import Cluster, HostsSilent, PartlySeen
from plimsoll.domain.text.errors import HostsLost, ProviderError
from plimsoll.ports.provider import Places


def test_a_machine_with_several_hosts_of_a_group_stays_taken_while_one_of_them_is_used(provider: SshProvider) -> None:
    groups: Any = provider.places.options[0]["groups"]
    for host in (*groups[0]["nodes"], groups[0]["load"]):
        host["ssh_address"] = "10.0.0.100"
    ensured(provider)
    assert ensured(provider, NODES[0]) == [NODES[2], NODES[1]]


def test_a_machine_is_taken_cleaned_and_given_back_once_however_many_hosts_of_a_group_it_is(
    provider: SshProvider, asked: list[tuple[str, str]]
) -> None:
    groups: Any = provider.places.options[0]["groups"]
    for host in (groups[0]["nodes"][0], groups[0]["load"], *groups[0]["further_load_hosts"]):
        host["ssh_address"] = "10.0.0.100"
    ensured(provider)
    own = [one for one in asked if one[0] != "lease-read"]
    each = {(command, host) for command in ("lease-take", "clean") for host in (LOAD, NODES[1])}
    assert (len(own), set(own)) == (5, {*each, ("lease-ready", LOAD)})
    asked.clear()
    provider.destroy(HOSTS)
    own = [one for one in asked if one[0] != "lease-read"]
    each = {(command, host) for command in ("clean", "lease-release") for host in (LOAD, NODES[1])}
    assert (len(own), set(own)) == (4, each)


def test_a_further_load_host_takes_the_place_of_the_first_and_then_a_further_node(provider: SshProvider) -> None:
    before = cluster_without(provider)
    after = cluster_without(provider, LOAD)
    assert cluster_without(provider, LOAD).hosts == after.hosts
    assert after.nodes == before.nodes
    assert (after.load_host.name, after.load_host.address, len(after.load_hosts)) == ("load", FURTHER_LOAD, 1)
    assert reached(provider, after) == [*NODES[:2], FURTHER_LOAD]
    last = cluster_without(provider, LOAD, FURTHER_LOAD)
    assert (last.load_host.name, last.load_host.role, reached(provider, last)) == ("load", "load", NODES[:3])
    assert ensured(provider, LOAD, FURTHER_LOAD, NODES[0]) == [NODES[3], NODES[1]]


def reached(provider: SshProvider, cluster: Cluster) -> list[str]:
    """Return the addresses at which the hosts of the cluster are asked."""
    found = []
    connected = Connections.to

    def noted(connections: Connections, target: Target) -> Connection:
        found.append(target.address)
        return connected(connections, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connections, "to", noted)
        for info in cluster.hosts:
            provider.host(cluster, info)
    return found


def test_the_load_host_that_was_replaced_stays_taken_and_is_given_back_with_the_others(
    provider: SshProvider, tmp_path: Path
) -> None:
    cluster_without(provider)
    cluster_without(provider, LOAD)
    taken = {address for address in (LOAD, FURTHER_LOAD, *NODES) if (tmp_path / address / "lease.json").exists()}
    assert taken == {LOAD, FURTHER_LOAD, *NODES[:2]}
    with pytest.raises(ProviderError, match="is in use by demo-1/hosts/1"):
        cluster_without(provider, hosts=HOSTS.numbered(2))
    provider.destroy(HOSTS)
    assert not list(tmp_path.glob("*/lease.json"))
    assert cluster_without(provider, hosts=HOSTS.numbered(2)).load_host.address == LOAD


def test_what_a_definition_says_of_a_host_does_not_make_it_another_host_of_the_group(
    provider: SshProvider, tmp_path: Path
) -> None:
    groups: Any = provider.places.options[0]["groups"]
    for host in (*groups[0]["nodes"], groups[0]["load"]):
        host["facts"] = {"group_host": "load2", "model": "R650"}
    cluster = cluster_without(provider)
    assert reached(provider, cluster) == [*NODES[:2], LOAD]
    assert {info.facts["model"] for info in cluster.hosts} == {"R650"}
    assert {path.parent.name for path in tmp_path.glob("*/lease.json")} == {LOAD, *NODES[:2]}
    assert reached(provider, cluster_without(provider, LOAD)) == [*NODES[:2], FURTHER_LOAD]


def test_killed_before_the_leases_say_so_the_next_try_takes_the_same_load_host(
    provider: SshProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster_without(provider)
    with monkeypatch.context() as patch:
        patch.setattr(Member, "renew", interrupted)
        with pytest.raises(KeyboardInterrupt):
            cluster_without(provider, LOAD)
    assert cluster_without(provider, LOAD).load_host.address == FURTHER_LOAD


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_further_node_takes_the_place_of_an_unfit_one_and_the_rest_stays(provider: SshProvider) -> None:
    assert ensured(provider) == NODES[:2]
    assert ensured(provider, NODES[0]) == [NODES[2], NODES[1]]
    assert ensured(provider, NODES[0]) == [NODES[2], NODES[1]]
    assert ensured(provider, NODES[0], NODES[2]) == [NODES[3], NODES[1]]
    provider.destroy(HOSTS)
    assert provider.clusters() == []
    assert ensured(provider, nodes=4, hosts=HOSTS.numbered(2)) == NODES


def test_a_further_node_that_does_not_answer_is_passed_over(provider: SshProvider, silent: set[str]) -> None:
    ensured(provider)
    silent.add(NODES[2])
    assert ensured(provider, NODES[1]) == [NODES[0], NODES[3]]


@pytest.mark.parametrize("unfit", [(LOAD, FURTHER_LOAD, *NODES[2:]), tuple(NODES[:3])])
def test_where_no_other_host_is_free_that_is_said(provider: SshProvider, unfit: tuple[str, ...]) -> None:
    ensured(provider)
    with pytest.raises(HostsLost, match="no other host that is free in its place"):
        ensured(provider, *unfit)


def test_a_group_that_can_not_be_asked_may_have_a_cluster_and_hides_no_other(
    provider: SshProvider, silent: set[str]
) -> None:
    (known,) = provider.places.options
    other = {"groups": [group_of("rack2", ["10.0.1.1", "10.0.1.2"], ["10.0.1.9"])], "folder": "/srv/plimsoll"}
    both = provider.at(Places((known, other)))
    cluster = cluster_without(provider)
    silent.add("10.0.1.9")
    with pytest.raises(
        HostsSilent, match=r"group rack2 can't be asked for its cluster: 10\.0\.1\.9: can't be"
    ) as caught:
        both.clusters()
    assert caught.value.clusters == (cluster,)
    unread = provider.at(Places((known, other), "a campaign can't be read"))
    with pytest.raises(PartlySeen, match=r"a campaign can't be read; group rack2 can't be asked") as caught_of_all:
        unread.clusters()
    assert not isinstance(caught_of_all.value, HostsSilent)
    assert caught_of_all.value.clusters == (cluster,)


def test_hosts_that_do_not_answer_are_lost(provider: SshProvider, silent: set[str]) -> None:
    ensured(provider)
    silent.add(NODES[1])
    with pytest.raises(HostsLost, match="can't be reached"):
        provider.destroy(HOSTS)
    silent.add("10.0.0.9")
    with pytest.raises(HostsLost, match="can't be reached"):
        provider.find(HOSTS)
