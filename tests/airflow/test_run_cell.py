"""From a campaign's run to the runs of its cells."""

from dataclasses import replace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowFailException, DagRunTriggerException, TaskDeferred
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import Prices

from plimsoll.services.running import run_cell
from plimsoll_airflow.operators import campaign
from plimsoll_airflow.operators.campaign import RunCell

RUN = "campaign__v1-001k-r1"


class Runs:
    """Answers as a task's context does: so many runs of the DAG `cell` live."""

    def __init__(self, live: int) -> None:
        self._live = live

    def get_dr_count(self, dag_id: str, run_ids: list[str], states: list[str]) -> int:
        assert (dag_id, run_ids, states) == ("cell", [RUN], ["queued", "running"])
        return self._live


def operator() -> RunCell:
    return RunCell(task_id="run_cell", run_id=RUN, poke_interval=3)


def execute(live: int) -> None:
    context: Any = {"ti": Runs(live)}
    RunCell.execute.__wrapped__(operator(), context)  # type: ignore[attr-defined]


def test_the_cells_run_is_started_or_started_over(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    with pytest.raises(DagRunTriggerException) as raised:
        execute(live=0)

    asked = raised.value
    assert (asked.trigger_dag_id, asked.dag_run_id, asked.reset_dag_run) == ("cell", RUN, True)
    assert asked.conf == {"campaign_id": "campaign", "cell_id": "v1-001k-r1"}
    assert (asked.wait_for_completion, asked.deferrable, asked.poke_interval) == (True, True, 3)


def test_no_run_is_started_past_the_budget_and_the_refusal_says_how_to_go_on(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.open_campaign(instant_definition().model_copy(update={"budget": 0.01}))
    monkeypatch.setattr(campaign, "toolkit", lambda: replace(installation.toolkit, tariffs={"instant": Prices()}))

    with pytest.raises(
        AirflowFailException, match=r"budget: has no room .* trigger its DAG with `campaign_id` 'campaign'"
    ):
        execute(live=0)
    with pytest.raises(TaskDeferred):  # one that runs is not cut
        execute(live=1)


@pytest.mark.usefixtures("installation")
def test_a_run_that_lives_is_waited_for_and_not_disturbed() -> None:
    with pytest.raises(TaskDeferred) as raised:
        execute(live=1)

    _, kwargs = raised.value.trigger.serialize()
    assert kwargs["run_ids"] == [RUN]
    assert {str(state) for state in kwargs["states"]} == {"success", "failed"}


def test_a_cell_with_a_valid_attempt_is_not_run_again(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", "owner", print)

    execute(live=0)  # neither starts nor waits, which both are exceptions


def test_a_failed_run_fails_for_good_with_the_attempts_reasons(installation: Installation) -> None:
    definition = instant_definition()
    installation.open_campaign(definition)
    installation.faults.plant("v1-001k-r1", "deploy")
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", "owner", print)

    with pytest.raises(AirflowFailException, match=f"run {RUN} of the DAG cell failed: .*was told to fail"):
        operator().execute_complete({}, ("", {RUN: "failed"}))


def test_a_run_that_failed_before_it_was_judged_points_to_the_logs(installation: Installation) -> None:
    installation.open_campaign(instant_definition())

    with pytest.raises(AirflowFailException, match="its tasks' logs say why"):
        operator().execute_complete({}, ("", {RUN: "failed"}))


def test_a_successful_run_passes() -> None:
    operator().execute_complete({}, ("", {RUN: "success"}))
