"""From a campaign's run to the runs of its cells."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import Prices
from tests.support.airflow.exceptions import DagRunTriggerException, TaskDeferred
from tests.support.campaigns.attempt_verdicts import disturbed_verdict, verdict_of
from tests.support.campaigns.one_cell import run_cell

from plimsoll.services.campaign.state.runs import RUNS
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempt_state import cancel
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll_airflow.internals.moved import (
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
)
from plimsoll_airflow.operators import run_cell as run_cell_task
from plimsoll_airflow.operators.cell import Judge
from plimsoll_airflow.operators.run_cell import RunCell
from plimsoll_airflow.runs.installation import own_installation
from plimsoll_airflow.runs.ownership import CellRun
from plimsoll_airflow.triggers.slot import MAKE_WAY, START, SlotTrigger, next_step

RUN = "campaign__v1-001k-r1"


class Runs:
    """Answers as a task's context does: so many runs of the DAG `cell` live. The task has two retries."""

    dag_id, run_id, task_id, map_index = "demo", "manual__2026-01-31", "run_cell", 4

    def __init__(self, live: int, try_number: int = 1, cleared_after: int = 0) -> None:
        self._live = live
        self.own = "running"
        self.try_number = try_number
        self.max_tries = cleared_after + 2
        self.xcoms: dict[str, Any] = {}

    def xcom_push(self, *, key: str, value: Any) -> None:
        self.xcoms[key] = value

    def xcom_pull(self, *, task_ids: str, key: str, map_indexes: int) -> Any:
        assert (task_ids, map_indexes) == (self.task_id, self.map_index)
        return self.xcoms.get(key)

    def get_dr_count(self, dag_id: str, run_ids: list[str], states: list[str]) -> int:
        assert (dag_id, run_ids, states) == ("cell", [RUN], ["queued", "running"])
        return self._live

    def get_task_states(
        self, dag_id: str, *, map_index: int, task_ids: list[str], run_ids: list[str]
    ) -> dict[str, dict[str, str]]:
        assert (dag_id, map_index, task_ids, run_ids) == (self.dag_id, 4, ["run_cell"], [self.run_id])
        return {self.run_id: {"run_cell_4": self.own}}


def operator() -> RunCell:
    return RunCell(task_id="run_cell", run_id=RUN, poke_interval=3, retries=2)


def execute(live: int, **tries: int) -> None:
    context: Any = {"ti": Runs(live, **tries), "params": {}}
    RunCell.execute.__wrapped__(operator(), context)  # type: ignore[attr-defined]


def resume(waiting: TaskDeferred, live: int) -> None:
    """Go on where a deferred task asked to, its run having succeeded."""
    context: Any = {"ti": Runs(live), "params": {}}
    getattr(operator(), waiting.method_name)(context, event=("", {RUN: "success"}))


def test_the_cells_run_is_started_or_started_over(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    with pytest.raises(DagRunTriggerException) as raised:
        execute(live=0)

    deferral = raised.value
    assert (deferral.trigger_dag_id, deferral.dag_run_id, deferral.reset_dag_run) == ("cell", RUN, True)
    assert deferral.conf == {"campaign_id": "campaign", "cell_id": "v1-001k-r1"}
    assert (deferral.wait_for_completion, deferral.deferrable, deferral.poke_interval) == (True, True, 3)


def test_before_a_cell_is_started_its_campaigns_run_is_seen_to_be_at_work(installation: Installation) -> None:
    """A cleared task runs long after `plan` said so, and the run's end took it back."""
    installation.open_campaign(instant_definition())
    store = installation.toolkit.store
    assert list(store.keys(RUNS.folder("campaign"))) == []
    with pytest.raises(DagRunTriggerException):
        execute(live=0)
    [file] = store.keys(RUNS.folder("campaign"))
    assert b"airflow-campaign:demo/manual__2026-01-31@here" in store.read(file)


def test_a_task_that_somebody_ended_starts_no_cell(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    runs = Runs(live=0)
    runs.own = "failed"
    context: Any = {"ti": runs, "params": {}}
    with pytest.raises(AirflowSkipException, match="ended by hand"):
        RunCell.execute.__wrapped__(operator(), context)  # type: ignore[attr-defined]
    assert list(installation.toolkit.store.keys(RUNS.folder("campaign"))) == []


def test_no_run_is_started_past_the_budget_and_the_refusal_says_how_to_go_on(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.open_campaign(instant_definition().model_copy(update={"budget": 0.01}))
    monkeypatch.setattr(run_cell_task, "toolkit", lambda: replace(installation.toolkit, tariffs={"instant": Prices()}))

    with pytest.raises(
        AirflowFailException, match=r"budget: has no room .* trigger its DAG with `campaign_id` 'campaign'"
    ):
        execute(live=0)
    with pytest.raises(TaskDeferred):  # one that runs is not cut
        execute(live=1)


def test_no_run_is_started_that_would_end_after_the_deadline(installation: Installation) -> None:
    over = {"finish_by": installation.toolkit.clock.now()}
    installation.open_campaign(instant_definition().model_copy(update=over))

    with pytest.raises(AirflowFailException, match="finish_by: leaves no time for another cell"):
        execute(live=0)


@pytest.mark.usefixtures("installation")
def test_a_run_that_lives_is_waited_for_and_not_disturbed() -> None:
    with pytest.raises(TaskDeferred) as raised:
        execute(live=1)

    _, kwargs = raised.value.trigger.serialize()
    assert kwargs["run_ids"] == [RUN]
    assert {str(state) for state in kwargs["states"]} == {"success", "failed"}


def test_a_killed_tasks_cell_that_is_valid_by_now_is_not_run_again(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", "owner", print)

    execute(live=0, try_number=2)  # neither starts nor waits, which both are exceptions


def test_a_valid_cell_is_run_again_when_its_task_is_cleared(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", "owner", print)

    with pytest.raises(DagRunTriggerException):
        execute(live=0, try_number=2, cleared_after=1)


@pytest.fixture
def attempt(installation: Installation) -> AttemptContext:
    """Provide the live run's attempt, provisioned."""
    installation.open_campaign(instant_definition())
    work = begin(installation.toolkit, "campaign", "v1-001k-r1", CellRun(RUN, 0, "here").token)
    actions.provision(work)
    return work


def test_a_cleared_task_starts_a_run_over_that_is_under_load(attempt: AttemptContext) -> None:
    loading.start_load(attempt)

    with pytest.raises(DagRunTriggerException) as raised:
        execute(live=1, try_number=2, cleared_after=1)

    assert (raised.value.dag_run_id, raised.value.reset_dag_run) == (RUN, True)


def test_a_cleared_task_leaves_a_run_alone_that_has_not_begun_its_load(attempt: AttemptContext) -> None:
    with pytest.raises(TaskDeferred):
        execute(live=1, try_number=2, cleared_after=1)


def test_a_cancelled_run_is_let_end_and_then_started_anew(attempt: AttemptContext) -> None:
    cancel(attempt, "ada")

    with pytest.raises(TaskDeferred) as waiting:
        execute(live=1)
    with pytest.raises(DagRunTriggerException) as raised:
        resume(waiting.value, live=0)

    assert (raised.value.dag_run_id, raised.value.reset_dag_run) == (RUN, True)


def test_what_somebody_else_has_started_anew_meanwhile_is_not_started_again(
    installation: Installation, attempt: AttemptContext
) -> None:
    cancel(attempt, "ada")
    with pytest.raises(TaskDeferred) as waiting:
        execute(live=1)
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", CellRun(RUN, 1, "here").token, print)

    resume(waiting.value, live=0)  # neither starts nor waits


@pytest.mark.parametrize("tries", [{"try_number": 2}, {"try_number": 3, "cleared_after": 1}])
def test_a_try_for_a_killed_process_leaves_a_load_alone(attempt: AttemptContext, tries: dict[str, int]) -> None:
    loading.start_load(attempt)

    with pytest.raises(TaskDeferred):
        execute(live=1, **tries)


def test_a_load_that_was_collected_is_left_to_be_judged(attempt: AttemptContext) -> None:
    loading.start_load(attempt)
    collect(attempt)

    with pytest.raises(TaskDeferred):
        execute(live=1, try_number=2, cleared_after=1)


@pytest.mark.parametrize(
    ("states", "map_index", "parallel", "step"),
    [
        ([], 0, 1, START),
        (["deferred"], 1, 1, None),
        (["deferred"], 1, 2, START),
        (["success", "failed", "running"], 3, 1, None),
        (["success", "failed", "skipped"], 3, 1, START),
        (["queued", "deferred", "success"], 3, 2, None),
        ([None, "deferred", "success"], 2, 3, START),
        # An earlier one was killed, cleared or has just found a slot: this one may not keep the place that it needs.
        (["up_for_retry", "deferred"], 2, 1, MAKE_WAY),
        ([None, "deferred", "success"], 3, 2, MAKE_WAY),
        (["success", "scheduled"], 2, 1, MAKE_WAY),
    ],
)
def test_a_cell_starts_when_few_enough_before_it_are_to_end(
    states: list[str | None], map_index: int, parallel: int, step: str | None
) -> None:
    given = {f"run_cell_{number}": state for number, state in enumerate(states)}

    assert next_step(given, map_index, parallel) == step


@pytest.mark.parametrize(
    ("counts_waiting", "asked", "parallel"), [(True, 2, 2), (False, 2, 2), (False, 8, 8), (False, None, 8)]
)
def test_a_cell_without_a_free_slot_waits_without_a_worker(
    monkeypatch: pytest.MonkeyPatch, counts_waiting: bool, asked: int | None, parallel: int
) -> None:
    monkeypatch.setattr("plimsoll_airflow.operators.run_cell.COUNTS_WAITING_TASKS", counts_waiting)
    with pytest.raises(TaskDeferred) as raised:
        take_slot(monkeypatch, None, asked)

    path, kwargs = raised.value.trigger.serialize()
    assert path == "plimsoll_airflow.triggers.slot.SlotTrigger"
    assert kwargs == {"dag_id": "demo", "run_id": "manual__1", "map_index": 4, "parallel": parallel, "poll_s": 3}
    assert raised.value.method_name == "take_slot"


@pytest.mark.parametrize(
    ("looks", "told"),
    [([None, START], START), ([MAKE_WAY, None, START], START), ([None, MAKE_WAY, MAKE_WAY], MAKE_WAY)],
)
def test_a_waiting_cell_is_told_once_what_to_do(monkeypatch: pytest.MonkeyPatch, looks: list[str], told: str) -> None:
    monkeypatch.setattr(SlotTrigger, "step", lambda _: looks.pop(0))

    async def first_event() -> Any:
        return await anext(SlotTrigger("demo", "manual__1", 4, 2, 0).run())

    assert asyncio.run(first_event()).payload == told
    assert not looks


def test_a_cell_makes_way_in_the_pool_for_an_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AirflowRescheduleException):
        take_slot(monkeypatch, MAKE_WAY, 2, MAKE_WAY)
    with pytest.raises(TaskDeferred):
        take_slot(monkeypatch, None, 2, MAKE_WAY)
    with pytest.raises(TaskDeferred):
        take_slot(monkeypatch, MAKE_WAY, 2)


def take_slot(monkeypatch: pytest.MonkeyPatch, step: str | None, asked: int | None, event: str = "") -> None:
    """Have the fifth of at most eight cells at a time look for a slot, for the first time or after an event."""
    monkeypatch.setattr(SlotTrigger, "step", lambda _: step)
    ti: Any = SimpleNamespace(dag_id="demo", run_id="manual__1", map_index=4, try_number=1)
    context: Any = {"ti": ti, "params": {"parallel": asked}}
    waiting = RunCell(task_id="run_cell", run_id=RUN, poke_interval=3, max_active_tis_per_dagrun=8)
    if event:
        waiting.take_slot(context, event)
    else:
        RunCell.execute.__wrapped__(waiting, context)  # type: ignore[attr-defined]


def test_a_cell_with_a_free_slot_is_started(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    installation.open_campaign(instant_definition())
    monkeypatch.setattr(SlotTrigger, "step", lambda _: START)
    context: Any = {"ti": Runs(0), "params": {"parallel": 1}}
    waiting = operator()
    waiting.max_active_tis_per_dagrun = 4  # else nobody looks for a slot

    with pytest.raises(DagRunTriggerException) as raised:
        waiting.take_slot(context, START)

    assert raised.value.dag_run_id == RUN


def test_a_failed_run_fails_for_good_with_the_attempts_reasons(installation: Installation) -> None:
    definition = instant_definition()
    installation.open_campaign(definition)
    installation.faults.plant("v1-001k-r1", "deploy")
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", "owner", print)

    with pytest.raises(AirflowFailException, match=f"run {RUN} of the DAG cell failed: .*was told to fail"):
        operator().execute_complete({"ti": Runs(live=0)}, ("", {RUN: "failed"}))  # type: ignore[typeddict-item]


def test_a_run_that_failed_before_it_was_judged_points_to_the_logs(installation: Installation) -> None:
    installation.open_campaign(instant_definition())

    with pytest.raises(AirflowFailException, match="its tasks' logs say why"):
        operator().execute_complete({"ti": Runs(live=0)}, ("", {RUN: "failed"}))  # type: ignore[typeddict-item]


def test_a_successful_run_passes() -> None:
    operator().execute_complete({}, ("", {RUN: "success"}))


def test_a_disturbed_cell_is_started_again_as_often_as_its_definition_lets_it(installation: Installation) -> None:
    definition = instant_definition()
    opened = installation.open_campaign(definition)
    context: Any = {"ti": Runs(live=0), "params": {}}
    for attempt in (1, 2):
        key = begin(installation.toolkit, "campaign", "v1-001k-r1", "owner").key
        layout.VERDICT.write(opened.store, key, disturbed_verdict(verdict_of(definition, key)))
        assert key.attempt == attempt
        with pytest.raises(DagRunTriggerException if attempt == 1 else AirflowFailException) as raised:
            operator().execute_complete(context, ("", {RUN: "failed"}))
    assert "noise in each of 3 missed intervals" in str(raised.value)


def test_a_run_that_began_no_attempt_is_not_started_for_an_earlier_one_that_noise_disturbed(
    installation: Installation,
) -> None:
    definition = instant_definition()
    opened = installation.open_campaign(definition)
    key = begin(installation.toolkit, "campaign", "v1-001k-r1", "owner").key
    layout.VERDICT.write(opened.store, key, disturbed_verdict(verdict_of(definition, key)))
    context: Any = {"ti": Runs(live=0), "params": {}}
    for started in (DagRunTriggerException, AirflowFailException):
        with pytest.raises(started) as raised:
            operator().execute_complete(context, ("", {RUN: "failed"}))
    assert "it began no attempt: the log of `provision` says why" in str(raised.value)


def test_a_disturbed_cell_that_was_cancelled_is_not_started_again(installation: Installation) -> None:
    definition = instant_definition()
    opened = installation.open_campaign(definition)
    work = begin(installation.toolkit, "campaign", "v1-001k-r1", CellRun(RUN, 0, own_installation()).token)
    layout.VERDICT.write(opened.store, work.key, disturbed_verdict(verdict_of(definition, work.key)))
    cancel(work, "somebody")
    with pytest.raises(AirflowFailException, match="noise"):
        operator().execute_complete({"ti": Runs(live=0)}, ("", {RUN: "failed"}))  # type: ignore[typeddict-item]


def test_a_disturbed_attempt_fails_its_task_which_leaves_word_that_the_cell_runs_again(
    installation: Installation,
) -> None:
    definition = instant_definition()
    opened = installation.open_campaign(definition)
    pushed: list[dict[str, Any]] = []
    ti = SimpleNamespace(xcom_push=lambda **word: pushed.append(word))
    context: Any = {"ti": ti, "run_id": RUN, "params": {"campaign_id": "campaign", "cell_id": "v1-001k-r1"}}
    for _ in (1, 2):
        work = begin(installation.toolkit, "campaign", "v1-001k-r1", CellRun(RUN, 0, own_installation()).token)
        layout.VERDICT.write(opened.store, work.key, disturbed_verdict(verdict_of(definition, work.key)))
        with pytest.raises(AirflowFailException, match="is invalid: disturbed: expected calm"):
            Judge.execute.__wrapped__(Judge(task_id="judge"), context)  # type: ignore[attr-defined]
    assert pushed == [{"key": "runs_again", "value": True}]
