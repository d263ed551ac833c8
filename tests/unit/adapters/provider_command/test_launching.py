"""Hosts are made once for a cluster, whatever the programs answer, and what was half made is ended."""

from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.unit.adapters.provider_command.cloud_in_memory import HOST_KEY, CloudInMemory, Records, exits, printed
from tests.unit.adapters.provider_command.conftest import OPTIONS

from plimsoll.adapters.providers.command import CommandProvider
from plimsoll.adapters.providers.command.programs import AGAIN, NO_ROOM, REFUSED, Ended
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.text.errors import HostsLost, ProviderError
from plimsoll.ports.provider import Places

CELL = ClusterId(campaign_id="demo-1", name="g1-00200-r1/1")
KEPT = ClusterId(campaign_id="demo-1", name="hosts/1")


def request(cluster_id: ClusterId = CELL, **changes: Any) -> ClusterRequest:
    asked = {"id": cluster_id, "owner": "run-1", "nodes": 2, "load_hosts": 1, "options": OPTIONS}
    return ClusterRequest.model_validate({**asked, "expires_at": BEGAN + timedelta(hours=2), **changes})


def test_a_cluster_is_launched_listed_and_used_over_ssh(
    provider: CommandProvider, cloud: CloudInMemory, records: Records
) -> None:
    cluster = provider.ensure(request())
    assert [(host.name, host.role, host.usd_per_hour) for host in cluster.hosts] == [
        ("node1", "node", 0.5),
        ("node2", "node", 0.5),
        ("load", "load", 0.5),
    ]
    assert cluster.provider == "command"
    assert cluster.hosts[0].since == BEGAN
    assert cluster.hosts[0].facts["instance_type"] == "small"
    assert provider.find(CELL) == cluster
    given = cloud.given["launch"]
    assert given["options"] == {"size": "small"}
    assert given["public_key"].startswith("ssh-ed25519 AAAA")
    assert given["user"] == "bench"
    [launch] = records.of(CELL)
    assert launch.token == given["token"] == given["tags"]["plimsoll-token"]
    assert [host.identity for host in launch.living] == [host["id"] for host in cloud.hosts]


def test_asked_again_nothing_is_launched_twice(provider: CommandProvider, cloud: CloudInMemory) -> None:
    first = provider.ensure(request())
    assert provider.ensure(request()) == first
    assert cloud.calls.count("launch") == 1


def test_the_launch_is_on_record_before_the_program_is_called(
    provider: CommandProvider, cloud: CloudInMemory, records: Records
) -> None:
    def die(_: Any) -> Ended:
        assert [launch.hosts for launch in records.of(CELL)] == [None]
        raise KeyboardInterrupt

    cloud.faults["launch"] = [die]
    with pytest.raises(KeyboardInterrupt):
        provider.ensure(request())
    assert [launch.hosts for launch in records.of(CELL)] == [None]


def test_after_a_crash_the_list_decides(provider: CommandProvider, cloud: CloudInMemory, records: Records) -> None:
    def die(asked: Any) -> Ended:
        cloud._launch(asked)
        raise KeyboardInterrupt

    cloud.faults["launch"] = [die]
    with pytest.raises(KeyboardInterrupt):
        provider.ensure(request())
    cluster = provider.ensure(request())
    assert (cloud.calls.count("launch"), len(cloud.hosts), len(cluster.hosts)) == (1, 3, 3)
    [launch] = records.of(CELL)
    assert len(launch.living) == 3


def test_after_a_crash_without_hosts_the_program_is_waited_for_and_asked_with_the_same_token(
    provider: CommandProvider, cloud: CloudInMemory, records: Records, clock: SteppingClock
) -> None:
    def die(_: Any) -> Ended:
        raise KeyboardInterrupt

    cloud.faults["launch"] = [die]
    with pytest.raises(KeyboardInterrupt):
        provider.ensure(request())
    token = cloud.given["launch"]["token"]
    provider.ensure(request())
    assert cloud.given["launch"]["token"] == token
    assert clock.passed >= timedelta(minutes=15)
    assert len(records.of(CELL)) == 1


def test_a_launch_whose_answer_was_lost_counts_for_as_long_as_any_definition_gives_one(
    provider: CommandProvider, cloud: CloudInMemory, clock: SteppingClock
) -> None:
    def die(_: Any) -> Ended:
        raise KeyboardInterrupt

    patient = {**OPTIONS, "launch_within": "1h"}
    cloud.faults["launch"] = [die]
    with pytest.raises(KeyboardInterrupt):
        provider.ensure(request(options=patient))
    both = provider.at(Places((OPTIONS, patient)))
    clock.at += timedelta(minutes=59)
    assert [cluster.id for cluster in both.clusters()] == [CELL]
    clock.at += timedelta(minutes=3)
    assert both.clusters() == []


def test_no_room_is_waited_for(provider: CommandProvider, cloud: CloudInMemory, clock: SteppingClock) -> None:
    cloud.faults["launch"] = [exits(NO_ROOM), exits(AGAIN)]
    provider.ensure(request())
    assert cloud.calls.count("launch") == 3
    assert clock.passed < timedelta(minutes=5)


def test_no_room_ends_with_patience(provider: CommandProvider, cloud: CloudInMemory, clock: SteppingClock) -> None:
    cloud.always["launch"] = exits(NO_ROOM, "zone a is full")
    with pytest.raises(ProviderError, match="has no room: zone a is full"):
        provider.ensure(request())
    assert timedelta(minutes=20) < clock.passed < timedelta(minutes=40)


def test_waiting_for_room_takes_nothing_of_the_cell_s_own_time(
    provider: CommandProvider, cloud: CloudInMemory, clock: SteppingClock
) -> None:
    asked = request(expires_at=BEGAN + timedelta(hours=2), ends_at=BEGAN + timedelta(hours=5))
    cloud.faults["launch"] = [exits(NO_ROOM)] * 4
    cluster = provider.ensure(asked)
    assert clock.passed > timedelta(minutes=2)
    assert cluster.expires_at - clock.now() > timedelta(hours=2)
    assert provider.ensure(asked).expires_at == cluster.expires_at


def test_hosts_end_at_the_ceiling_of_the_definition_however_long_they_were_waited_for(
    provider: CommandProvider,
) -> None:
    ends_at = BEGAN + timedelta(hours=2, minutes=5)
    assert provider.ensure(request(ends_at=ends_at)).expires_at == ends_at


@pytest.mark.parametrize("code", [REFUSED, 1])
def test_a_refusal_is_raised_at_once(provider: CommandProvider, cloud: CloudInMemory, code: int) -> None:
    cloud.faults["launch"] = [exits(code, "no such type")]
    with pytest.raises(ProviderError, match="no such type"):
        provider.ensure(request())
    assert cloud.calls.count("launch") == 1


def host(**changes: Any) -> dict[str, Any]:
    return {"id": "i-9", "name": "node1", "address": "10.0.0.9", "host_key": HOST_KEY, **changes}


def garbled(**changes: Any) -> Any:
    """Return a program that prints its first host with these changes; a key that is None is left out."""

    def answer(asked: Any) -> Ended:
        every = [{**host(name=one["name"]), "id": one["name"], "tags": asked["tags"]} for one in asked["hosts"]]
        for number, one in enumerate(every, start=1):
            one["address"] = f"10.0.1.{number}"
        every[0] = {key: value for key, value in {**every[0], **changes}.items() if value is not None}
        return printed(every)

    return answer


def mistagged(**changes: str) -> Any:
    """Return a program that prints its first host with tags of these values."""

    def answer(asked: Any) -> Ended:
        wrong = {f"plimsoll-{name}": value for name, value in changes.items()}
        tags: Any = {**asked["tags"], **wrong}
        return printed([{**host(), "tags": tags}])

    return answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda _: Ended(0, b"Launching...\n", ""), "is no JSON: 'Launching...'"),
        (lambda _: Ended(0, b"", ""), "is no JSON: nothing"),
        (lambda _: Ended(0, b"[" * 100_000, ""), "is no JSON"),
        (lambda _: Ended(0, b'{"nodes": []}', ""), "no object with the key `hosts` alone"),
        (lambda _: Ended(0, b'{"hosts": [7]}', ""), "a host is no object: 7"),
        (lambda _: printed([]), "load, node1, node2 were asked for, and none printed"),
        (garbled(host_key=None), "host_key"),
        (garbled(host_key="ssh-ed25519 nonsense"), "a host key looks like"),
        (garbled(address="a.example"), "is no IP address"),
        (garbled(prize=3), "prize"),
        (garbled(usd_per_hour=float("inf")), "usd_per_hour"),
        (mistagged(created="yesterday"), "tags.plimsoll-created: must be a date and a time"),
        (
            mistagged(cluster="of mine"),
            "tags name no cluster: `plimsoll-cluster` is 'of mine', no `campaign/cell/attempt`",
        ),
        (mistagged(cluster="demo-1/B_B/1"), "tags name no cluster: `plimsoll-cluster` is 'demo-1/B_B/1', no `campaign"),
        (garbled(name="node2"), "were asked for, and load, node2, node2 printed"),
        (garbled(address="10.0.1.2"), "hosts have the same address: 10.0.1.2"),
        (garbled(id="load"), "hosts have the same id: load"),
    ],
)
def test_garbage_is_named_and_what_it_may_stand_for_is_ended(
    provider: CommandProvider, cloud: CloudInMemory, answer: Any, why: str
) -> None:
    cloud.faults["launch"] = [answer]
    with pytest.raises(ProviderError) as raised:
        provider.ensure(request())
    assert why in raised.value.what
    assert raised.value.where
    assert raised.value.mend
    assert "end" in cloud.calls


def test_hosts_that_the_list_does_not_show_are_no_cluster(provider: CommandProvider, cloud: CloudInMemory) -> None:
    cloud.always["list"] = lambda _: printed([])
    with pytest.raises(ProviderError, match=r"printed node1 .* list shows none of them"):
        provider.ensure(request())
    assert cloud.hosts == []


def test_a_list_may_lag_behind_a_launch(provider: CommandProvider, cloud: CloudInMemory) -> None:
    cloud.faults["list"] = [lambda _: printed([])] * 3
    assert len(provider.ensure(request()).hosts) == 3
    assert cloud.calls.count("launch") == 1


def test_a_lost_host_ends_the_others_and_all_are_launched_anew(
    provider: CommandProvider, cloud: CloudInMemory, records: Records
) -> None:
    provider.ensure(request())
    first = cloud.given["launch"]["token"]
    lost = cloud.hosts.pop(0)
    assert provider.find(CELL) is None
    assert provider.why_gone(CELL) == f"not listed any more: node1 ({lost['id']})"
    cluster = provider.ensure(request(was_whole=True))
    assert cloud.given["launch"]["token"] != first
    assert (len(cloud.hosts), len(cluster.hosts)) == (3, 3)
    before, after = records.of(CELL)
    assert not before.living
    assert len(after.living) == 3


def test_kept_hosts_of_which_one_is_lost_are_given_up(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.ensure(request(KEPT))
    cloud.hosts.pop()
    with pytest.raises(HostsLost, match="not listed any more: load"):
        provider.ensure(request(KEPT, was_whole=True))
    assert cloud.calls.count("launch") == 1


def test_hosts_of_other_stores_are_neither_seen_nor_read(provider: CommandProvider, cloud: CloudInMemory) -> None:
    cloud.hosts.append({"tags": {"plimsoll-store": "another"}, "name": "what they like"})
    provider.ensure(request())
    assert [cluster.id for cluster in provider.clusters()] == [CELL]
    provider.destroy(CELL)
    assert len(cloud.hosts) == 1
