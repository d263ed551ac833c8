"""The load's trigger in an event loop of its own, as the triggerer runs it."""

import asyncio
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from airflow.sdk.bases.operator import TRIGGER_FAIL_REPR, TriggerFailureReason
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
from airflow.triggers.base import TaskSuccessEvent, TriggerEvent
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.exceptions import TaskDeferralError
from tests.support.campaigns.declared_steps import declare_polling
from tests.support.processes import PATIENCE_S

from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.text.errors import HostError, StoreError
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempt_state import failure_of
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll_airflow.internals.moved import AirflowFailException
from plimsoll_airflow.operators.cell import Measure
from plimsoll_airflow.runs.own_task import begin_or_resume
from plimsoll_airflow.runs.ownership import CellRun
from plimsoll_airflow.triggers.load import LoadTrigger

CELL, RUN = "v1-001k-r1", "run"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll_airflow.triggers.load.SOON_S", 0.0)
    declare_polling(monkeypatch, pause_s=lambda _definition: 0.0)


def started(installation: Installation, load_s: float = 0.0) -> AttemptContext:
    installation.open_campaign(instant_definition(load_s=load_s))
    work = begin(installation.toolkit, "campaign", CELL, "owner")
    actions.provision(work)
    loading.start_load(work)
    return work


def trigger_of(work: AttemptContext) -> LoadTrigger:
    return LoadTrigger(str(work.key), RUN, "load", work.toolkit.clock.now().isoformat())


async def _first(trigger: LoadTrigger) -> TriggerEvent:
    return await anext(trigger.run())


def event_of(trigger: LoadTrigger) -> TriggerEvent:
    return asyncio.run(_first(trigger))


def test_a_complete_load_ends_its_task_without_a_worker(installation: Installation) -> None:
    assert isinstance(event_of(trigger_of(started(installation))), TaskSuccessEvent)


async def _until_in_phase(work: AttemptContext, phase: str) -> AttemptProgress:
    """Return the first progress on record of that phase, while the trigger follows the load."""
    following = asyncio.create_task(_first(trigger_of(work)))
    try:
        while (progress := layout.PROGRESS.read(work.toolkit.store, work.key)) is None or progress.phase != phase:
            assert not following.done(), following
            await asyncio.sleep(0.01)
        return progress
    finally:
        following.cancel()


def test_progress_is_on_record_while_the_load_runs(installation: Installation) -> None:
    work = started(installation, load_s=600)
    assert asyncio.run(_until_in_phase(work, "load")).attempted_ops_s == 1000


def test_a_failed_load_goes_back_with_its_reason_which_is_on_record(installation: Installation) -> None:
    work = started(installation)
    installation.faults.plant(CELL, "load")

    event = event_of(trigger_of(work))

    assert not isinstance(event, TaskSuccessEvent)
    assert event.payload == f"load of campaign/{CELL}/1: the load generator was told to fail"
    assert failure_of(work.toolkit.store, work.key) == "load: the load generator was told to fail"


def test_a_vanished_cluster_fails_the_load(installation: Installation) -> None:
    work = started(installation)
    actions.destroy(work)

    assert "the cluster is gone" in event_of(trigger_of(work)).payload


def test_another_triggerer_goes_on_with_the_same_load(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, seen, over = started(installation), Event(), Event()
    classpath, kwargs = trigger_of(work).serialize()

    def poll(polled: AttemptContext) -> LoadStatus:
        assert polled.key == work.key
        seen.set()
        return LoadStatus("complete" if over.is_set() else "running", "load")

    async def interrupted() -> None:
        first = asyncio.ensure_future(_first(trigger_of(work)))
        assert await asyncio.to_thread(seen.wait, PATIENCE_S)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first

    declare_polling(monkeypatch, look=poll)
    asyncio.run(interrupted())
    over.set()

    assert classpath == "plimsoll_airflow.triggers.load.LoadTrigger"
    assert isinstance(event_of(LoadTrigger(**kwargs)), TaskSuccessEvent)


def test_a_lost_connection_changes_nothing(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    work, polls = started(installation), iter([HostError("no route", where="node1"), LoadStatus("complete")])
    _answer_polls_with(monkeypatch, polls)

    assert isinstance(event_of(trigger_of(work)), TaskSuccessEvent)


def test_a_store_that_can_not_be_read_at_first_changes_nothing(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, lost = started(installation), [StoreError("no route"), StoreError("no route")]
    read = vars(AttemptContext)["resolved"].func

    def resolved(work: AttemptContext) -> Campaign:
        if lost:
            raise lost.pop()
        return read(work)

    monkeypatch.setattr(AttemptContext, "resolved", property(resolved))

    assert isinstance(event_of(trigger_of(work)), TaskSuccessEvent)


def test_loads_that_can_not_be_observed_hold_up_nobody_and_not_the_loop(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than the loop itself has threads for what blocks."""
    works = [started(installation), *(begin(installation.toolkit, "campaign", CELL, f"lost-{n}") for n in range(40))]
    answered = Event()

    def poll(work: AttemptContext) -> LoadStatus:
        if work.key != works[0].key:
            answered.wait(2 * PATIENCE_S)
        return LoadStatus("complete")

    async def observed() -> TriggerEvent:
        others = [asyncio.ensure_future(_first(trigger_of(work))) for work in works[1:]]
        try:
            await asyncio.sleep(0)
            return await asyncio.wait_for(_first(trigger_of(works[0])), PATIENCE_S)
        finally:
            answered.set()
            await asyncio.gather(*others)

    declare_polling(monkeypatch, look=poll)

    assert isinstance(asyncio.run(observed()), TaskSuccessEvent)


def test_a_load_out_of_reach_for_too_long_fails(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    work, polls = started(installation), iter([HostError("no route", where="node1")])
    _answer_polls_with(monkeypatch, polls)
    monkeypatch.setattr("plimsoll.services.steps.steps.OUT_OF_REACH", timedelta(0))

    assert "out of reach for 0:00:00: node1: no route" in event_of(trigger_of(work)).payload


def test_populating_that_takes_too_long_fails_although_the_triggerer_is_a_new_one(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = started(installation)
    began = work.toolkit.clock.now() - timedelta(minutes=61)
    declare_polling(monkeypatch, look=lambda _work: LoadStatus("running", "populate"))
    _, kwargs = LoadTrigger(str(work.key), RUN, "load", began.isoformat()).serialize()

    assert "populating took longer than 1h" in event_of(LoadTrigger(**kwargs)).payload
    assert str(failure_of(work.toolkit.store, work.key)).startswith("load: populating took longer than 1h")


def resume(work: AttemptContext, error: str) -> None:
    """Go on with the task after its trigger has failed with that error."""
    context: Any = {"run_id": "run", "params": {"campaign_id": "campaign", "cell_id": work.key.cell_id}}
    Measure(task_id="load").resume_execution(TRIGGER_FAIL_REPR, {"error": error}, context)


def test_a_load_that_no_triggerer_looked_at_in_its_time_fails_for_good_with_that_reason(
    installation: Installation,
) -> None:
    installation.open_campaign(instant_definition())
    work = begin_or_resume(installation.toolkit, "campaign", CELL, CellRun(RUN, 0, "here"))
    with pytest.raises(TaskDeferralError):  # a trigger that breaks is tried again
        resume(work, TriggerFailureReason.TRIGGER_FAILURE)
    assert failure_of(work.toolkit.store, work.key) is None
    with pytest.raises(AirflowFailException, match="no triggerer has looked"):
        resume(work, TriggerFailureReason.TRIGGER_TIMEOUT)
    assert failure_of(work.toolkit.store, work.key) == "load: took longer than it may, and no triggerer has looked"


@pytest.mark.parametrize(("live_runs", "state"), [(0, "failed"), (1, "running")])
def test_a_kill_stops_only_the_load_of_a_run_that_has_ended(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, live_runs: int, state: str
) -> None:
    work = started(installation, load_s=600)
    monkeypatch.setattr(RuntimeTaskInstance, "get_dr_count", lambda *_args, **_kwargs: live_runs)

    asyncio.run(trigger_of(work).on_kill())

    assert loading.poll_load(work).state == state


def _answer_polls_with(monkeypatch: pytest.MonkeyPatch, answers: object) -> None:
    def poll(_work: AttemptContext) -> LoadStatus:
        answer = next(answers)  # type: ignore[call-overload]
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, LoadStatus)
        return answer

    declare_polling(monkeypatch, look=poll)
