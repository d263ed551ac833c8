"""An end is believed once the list shows nothing, twice; clusters are found by what their hosts' tags say."""

from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.unit.adapters.provider_command.cloud_in_memory import CloudInMemory, OverSsh, Records, exits, printed
from tests.unit.adapters.provider_command.conftest import OPTIONS, PATIENCE
from tests.unit.adapters.provider_command.test_launching import CELL, KEPT, request

from plimsoll.adapters.providers.command import CommandProvider
from plimsoll.adapters.providers.command.programs import AGAIN, REFUSED, Ended
from plimsoll.domain.hosts.cluster import ClusterId, PartlySeen, RecordsUnread
from plimsoll.domain.text.errors import DamagedRecord, ProviderError, StoreError
from plimsoll.ports.provider import Places


def test_a_cluster_is_cleaned_ended_and_looked_for_twice(
    provider: CommandProvider, cloud: CloudInMemory, records: Records
) -> None:
    provider.ensure(request())
    cloud.calls.clear()
    provider.destroy(CELL)
    assert cloud.calls == ["list", "end", "list", "list"]
    assert cloud.given["end"]["tags"] == {"plimsoll-store": "lab:/store", "plimsoll-cluster": str(CELL)}
    assert len(cloud.given["end"]["ids"]) == 3
    assert isinstance(provider.ssh, OverSsh)
    assert provider.ssh.ended == [CELL]
    assert [launch.living for launch in records.of(CELL)] == [()]
    assert provider.clusters() == []


def test_a_cluster_that_never_was_is_ended_all_the_same(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.destroy(CELL)
    assert cloud.calls == ["list", "end", "list", "list"]


def test_an_end_that_does_nothing_is_not_believed(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.ensure(request())
    cloud.always["end"] = exits(0)
    with pytest.raises(ProviderError, match=r"`end` has ended well, and after 0:20:00 `list` still shows node1"):
        provider.destroy(CELL)
    assert len(provider.clusters()) == 1


def test_one_empty_list_is_not_believed(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.ensure(request())
    kept = list(cloud.hosts)
    cloud.faults["end"] = [exits(0)]
    cloud.faults["list"] = [lambda _: printed(kept), lambda _: printed([])]
    provider.destroy(CELL)
    assert cloud.hosts == []
    assert cloud.calls.count("end") == 2


def test_hosts_that_take_their_time_are_waited_for(
    provider: CommandProvider, cloud: CloudInMemory, clock: SteppingClock
) -> None:
    provider.ensure(request())
    shown = list(cloud.hosts)
    cloud.faults["list"] = [lambda _: printed(shown)] * 5
    provider.destroy(CELL)
    assert clock.passed >= timedelta(seconds=30)


def test_the_end_is_asked_for_although_the_list_fails(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.ensure(request())
    cloud.always["list"] = lambda _: Ended(0, b"oops", "")
    with pytest.raises(ProviderError, match="no JSON: 'oops'"):
        provider.destroy(CELL)
    assert cloud.hosts == []


def test_an_end_that_fails_for_a_while_is_tried_again(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.ensure(request())
    cloud.faults["end"] = [exits(AGAIN)] * 3
    provider.destroy(CELL)
    assert cloud.hosts == []


def test_an_end_that_is_refused_is_named(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.ensure(request())
    cloud.always["end"] = exits(REFUSED, "no permission")
    with pytest.raises(ProviderError, match="refuses it for good: no permission"):
        provider.destroy(CELL)


def test_an_end_waits_for_a_launch_whose_answer_was_lost(
    provider: CommandProvider, cloud: CloudInMemory, clock: SteppingClock, records: Records
) -> None:
    def die(_: Any) -> Ended:
        raise KeyboardInterrupt

    cloud.faults["launch"] = [die]
    with pytest.raises(KeyboardInterrupt):
        provider.ensure(request())
    [unanswered] = provider.clusters()
    assert unanswered.id == CELL
    assert "answer was lost" in unanswered.resources[0]
    asked = cloud.given["launch"]
    cloud.faults["list"] = [lambda _: printed([])] * 6 + [lambda _: cloud._launch(asked)]
    provider.destroy(CELL)
    assert cloud.hosts == []
    assert clock.passed > timedelta(minutes=15)
    assert [len(launch.hosts or ()) for launch in records.of(CELL)] == [3], "what it brought is paid for"
    assert provider.clusters() == []


def test_a_list_that_fails_hides_nothing(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.ensure(request())
    cloud.faults["list"] = [exits(1, "the cloud is down")]
    with pytest.raises(PartlySeen, match="the cloud is down"):
        provider.clusters()


def test_expiry_and_owner_are_those_of_the_tags(provider: CommandProvider) -> None:
    provider.ensure(request())
    [cluster] = provider.clusters()
    assert (cluster.owner, cluster.expires_at, cluster.created_at) == (
        "run-1",
        BEGAN + timedelta(hours=2) + PATIENCE,
        BEGAN,
    )


def test_kept_hosts_live_on_for_their_present_owner(provider: CommandProvider, cloud: CloudInMemory) -> None:
    provider.ensure(request(KEPT))
    later = BEGAN + timedelta(hours=9)
    provider.ensure(request(KEPT, owner="run-2", expires_at=later, was_whole=True))
    [cluster] = provider.clusters()
    assert (cluster.owner, cluster.expires_at) == ("run-2", later + PATIENCE)
    assert cloud.calls.count("launch") == 1


@pytest.mark.parametrize(
    ("fault", "shown"), [(DamagedRecord("launches/a is damaged"), [KEPT, CELL]), (StoreError("store is away"), [CELL])]
)
def test_a_record_that_can_not_be_read_hides_no_other_hosts(
    provider: CommandProvider, records: Records, monkeypatch: pytest.MonkeyPatch, fault: StoreError, shown: list[Any]
) -> None:
    """Of kept hosts it tells for whom they live: while the store is away, nobody must take them for an ended run's."""
    for cluster_id in (KEPT, CELL):
        provider.ensure(request(cluster_id))
    read = records.of

    def of(cluster_id: ClusterId) -> Any:
        if cluster_id == KEPT:
            raise fault
        return read(cluster_id)

    monkeypatch.setattr(records, "of", of)
    with pytest.raises(RecordsUnread, match=fault.what) as caught:
        provider.clusters()
    assert [(cluster.id, cluster.owner) for cluster in caught.value.clusters] == [(one, "run-1") for one in shown]


def test_without_its_programs_no_cluster_counts_as_ended(provider: CommandProvider) -> None:
    provider.ensure(request())
    with pytest.raises(ProviderError, match="no definition names the programs"):
        provider.at(Places()).destroy(CELL)


def test_a_cluster_that_one_of_several_places_has_ended_is_left_alone_by_the_others(
    provider: CommandProvider, cloud: CloudInMemory
) -> None:
    """Options that were changed make a place of their own, whose programs list the same hosts."""
    provider.ensure(request())
    wrong = [{**OPTIONS, "end": ["end_wrongly"], "options": {"size": size}} for size in ("big", "huge")]
    cloud.always["end_wrongly"] = exits(5)
    places = provider.at(Places((wrong[0], OPTIONS, wrong[1])))
    places.destroy(CELL)
    assert (cloud.hosts, cloud.calls.count("end"), cloud.calls.count("end_wrongly")) == ([], 1, 1)


def test_an_end_that_fails_wherever_a_cluster_is_listed_is_an_error(
    provider: CommandProvider, cloud: CloudInMemory
) -> None:
    provider.ensure(request())
    cloud.always["end"] = exits(5)
    with pytest.raises(ProviderError, match="exit code 5"):
        provider.at(Places((OPTIONS, {**OPTIONS, "options": {"size": "big"}}))).destroy(CELL)
