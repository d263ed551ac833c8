"""What could not be recorded of hosts is kept and counts; of a host on record twice the record with an end counts."""

from dataclasses import replace
from datetime import datetime
from typing import Any, NoReturn, cast

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.fakes.installation import Installation
from tests.unit.services.spending.paid_campaign import HOUR, opened, read_cost, start
from tests.unit.services.spending.test_costs import launched, paid_host

from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import StoreError
from plimsoll.ports.store import ResultStore
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.ending import destroy_cluster
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit


class Refusing:
    """A store that refuses writes while it is told to."""

    def __init__(self, store: ResultStore) -> None:
        self._store, self.refuses = store, False

    def __getattr__(self, name: str) -> Any:
        return self._refuse if self.refuses and name in ("write", "create") else getattr(self._store, name)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise StoreError("can't be written: the session has expired")


@pytest.fixture
def store(tools: Toolkit) -> Refusing:
    return Refusing(tools.store)


@pytest.fixture
def records(store: Refusing, clock: SteppingClock) -> StoredLaunches:
    return StoredLaunches(cast(ResultStore, store), Outage(clock))


@pytest.fixture
def keeping(tools: Toolkit, store: Refusing, records: StoredLaunches) -> Toolkit:
    return replace(tools, store=cast(ResultStore, store), write_kept_records=records.write_kept)


@pytest.fixture
def work(installation: Installation, keeping: Toolkit) -> AttemptContext:
    opened(installation, budget=None)
    work = start(keeping)
    keeping.store.delete(layout.CLUSTER.key(work.key))  # only what was launched is on record
    return work


def cost(tools: Toolkit, work: AttemptContext) -> float:
    found = read_cost(tools.store, work.key)
    assert found is not None
    return found.usd


@pytest.mark.parametrize("end", [None, BEGAN + HOUR])
def test_an_answer_and_an_end_that_the_store_refused_count_once_it_takes_them(
    keeping: Toolkit,
    work: AttemptContext,
    records: StoredLaunches,
    store: Refusing,
    clock: SteppingClock,
    end: datetime | None,
) -> None:
    records.note(launched(work.key, ()).model_copy(update={"hosts": None}))
    store.refuses = True
    with pytest.raises(StoreError):
        records.note(launched(work.key, (paid_host("i-1", BEGAN, end),)))
    clock.at += 2 * HOUR
    with pytest.raises(StoreError, match="what it has cost could not be recorded"):
        destroy_cluster(keeping, keeping.providers["instant"], work.cluster_id)
    assert read_cost(keeping.store, work.key) is None, "the account stays open"
    store.refuses = False
    destroy_cluster(keeping, keeping.providers["instant"], work.cluster_id)
    assert cost(keeping, work) == pytest.approx(1.0 if end else 2.0, rel=0.01)
    assert [host.facts["instance_id"] for one in records.of(work.cluster_id) for host in one.hosts or ()] == ["i-1"]


def test_what_is_kept_counts_for_whoever_asks_in_this_process(
    work: AttemptContext, records: StoredLaunches, store: Refusing, clock: SteppingClock
) -> None:
    records.note(launched(work.key, (paid_host("i-1", BEGAN),)))
    store.refuses = True
    with pytest.raises(StoreError):
        records.note(launched(work.key, (paid_host("i-1", BEGAN, BEGAN + HOUR),)))
    clock.at += HOUR
    assert [host.until for one in records.of(work.cluster_id) for host in one.hosts or ()] == [BEGAN + HOUR]


def test_a_request_that_the_store_refused_is_not_kept_as_it_is_never_sent(
    work: AttemptContext, records: StoredLaunches, store: Refusing, clock: SteppingClock
) -> None:
    store.refuses = True
    with pytest.raises(StoreError):
        records.note(launched(work.key, ()).model_copy(update={"hosts": None}))
    clock.at += HOUR
    assert records.of(work.cluster_id) == ()


def test_a_host_without_an_end_on_record_is_billed_until_it_was_seen_to_be_gone(
    keeping: Toolkit,
    work: AttemptContext,
    records: StoredLaunches,
    clock: SteppingClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records.note(launched(work.key, (paid_host("i-1", BEGAN),)))
    clock.at += HOUR
    provider = keeping.providers["instant"]
    end = provider.destroy

    def destroyed_late(cluster_id: ClusterId) -> None:
        clock.at += 2 * HOUR  # so long it was refused
        end(cluster_id)

    monkeypatch.setattr(provider, "destroy", destroyed_late)
    destroy_cluster(keeping, provider, work.cluster_id)
    assert cost(keeping, work) == pytest.approx(3.0)


@pytest.mark.parametrize("ended_first", [True, False])
def test_of_a_host_on_record_twice_the_record_with_an_end_counts(
    keeping: Toolkit, work: AttemptContext, records: StoredLaunches, clock: SteppingClock, ended_first: bool
) -> None:
    ended = paid_host("i-1", BEGAN, BEGAN + HOUR)
    living = paid_host("i-1", BEGAN.replace(microsecond=0))
    for number, host in enumerate([ended, living] if ended_first else [living, ended]):
        asked_at = BEGAN + number * HOUR
        records.note(launched(work.key, (host,), number).model_copy(update={"asked_at": asked_at}))
    clock.at += 5 * HOUR
    destroy_cluster(keeping, keeping.providers["instant"], work.cluster_id)
    assert cost(keeping, work) == pytest.approx(1.0)
