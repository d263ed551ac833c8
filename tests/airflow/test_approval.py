"""Approving, rejecting, not answering, and clearing, before hosts are launched."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.standard.operators import hitl
from airflow.sdk import DAG
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import Prices
from tests.support.airflow.dag_bag import DagBag
from tests.support.airflow.exceptions import TaskDeferred

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.strategy import Search
from plimsoll.domain.keys.trigger import Approval, Approve
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.moved import AirflowFailException
from plimsoll_airflow.operators import approval, next_round
from plimsoll_airflow.operators import run_cell as run_cell_task
from plimsoll_airflow.operators.approval import AskApproval
from plimsoll_airflow.operators.next_round import NextRound
from plimsoll_airflow.operators.run_cell import RunCell

try:
    from airflow.sdk.exceptions import TaskAwaitingInput
except ImportError:  # before 3.3 the triggerer waits for the answer
    TaskAwaitingInput = TaskDeferred  # type: ignore[assignment, misc]

DAGS = Path(__file__).resolve().parents[2] / "dags"
CELL = "campaign__v1-001k-r1"
AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
ANSWER = {"params_input": {}, "responded_at": AT, "responded_by_user": {"id": "7", "name": "ada"}, "timedout": False}
SILENCE = {"error": "The timeout has passed", "error_type": "timeout"}


class Asked:
    """Airflow, as tasks of this run see it. Keeps the questions that were put."""

    dag_id, run_id, id, map_index = "instant", "manual__today", "0198", -1
    try_number, max_tries = 1, 2

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.questions: list[Mapping[str, Any]] = []
        self.cells = [CELL]
        monkeypatch.setattr(hitl, "upsert_hitl_detail", lambda **question: self.questions.append(question))

    def xcom_pull(self, task_ids: str, key: str = "") -> Any:
        return True if key else self.cells

    def get_dr_count(self, *_: object, **__: object) -> int:
        return 0

    @property
    def context(self) -> Any:
        return {"ti": self, "task_instance": self, "run_id": self.run_id, "params": {}}


def asking(definition: Definition, **approve: str) -> Definition:
    rule = Approve.model_validate({"above": "10 USD", **approve})
    return definition.model_copy(update={"approve": rule})


def have_prices(installation: Installation, monkeypatch: pytest.MonkeyPatch, usd: float | None = 1.0) -> None:
    tools = replace(installation.toolkit, tariffs={"instant": Prices(usd)})
    for module in (approval, next_round, run_cell_task):
        monkeypatch.setattr(module, "toolkit", lambda: tools)


@pytest.fixture
def store(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> CampaignStore:
    """Provide a campaign of four cells of four hosts: 16.09 USD at most, an hour of each for populating."""
    have_prices(installation, monkeypatch)
    return installation.open_campaign(asking(instant_definition()))


@pytest.fixture
def airflow(monkeypatch: pytest.MonkeyPatch, store: CampaignStore) -> Asked:
    return Asked(monkeypatch)


def task() -> AskApproval:
    return AskApproval(task_id="approve", within=timedelta(hours=72), campaign_id="campaign")


def ask(airflow: Asked) -> None:
    AskApproval.execute.__wrapped__(task(), airflow.context)  # type: ignore[attr-defined]


def is_asked(airflow: Asked) -> Any:
    """Begin to wait, as the task does, and return what Airflow was told."""
    with pytest.raises((TaskAwaitingInput, TaskDeferred)) as raised:
        ask(airflow)
    waiting: Any = raised.value
    assert waiting.method_name == "execute_complete"
    return waiting


def answer(airflow: Asked, event: Mapping[str, Any]) -> None:
    """Go on in another process, as Airflow does."""
    task().resume_execution("execute_complete", {"event": {**event}}, airflow.context)


def run_cell(airflow: Asked) -> None:
    RunCell.execute.__wrapped__(RunCell(task_id="run_cell", run_id=CELL, retries=2), airflow.context)  # type: ignore[attr-defined]


def test_a_person_is_asked_for_an_amount_and_the_approval_is_on_record(airflow: Asked, store: CampaignStore) -> None:
    is_asked(airflow)
    [question] = airflow.questions
    assert (question["options"], question["defaults"], question["params"]) == (["Approve", "Reject"], None, {})
    assert question["subject"] == "Approve campaign campaign: at most 16.09 USD"
    for words in ("Campaign `campaign` of the definition `instant`", "4 at most, 4 at a time", "16 at once"):
        assert words in question["body"]
    assert store.approvals() == ()

    answer(airflow, {**ANSWER, "chosen_options": ["Approve"]})
    [approved] = store.approvals()
    assert str(approved) == "approved by ada, 2026-01-31 12:00 UTC, for at most 16.09 USD"

    ask(airflow)  # a cleared task, a later run, a backfill
    assert len(airflow.questions) == 1


def test_the_answer_is_waited_for_as_long_as_the_definition_says(airflow: Asked) -> None:
    waiting, before = is_asked(airflow), datetime.now(UTC)
    if isinstance(waiting, TaskDeferred):
        until = waiting.trigger.timeout_datetime
        assert timedelta(hours=71) < until - before <= timedelta(hours=72)
    else:
        assert waiting.timeout == timedelta(hours=72)


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({**ANSWER, "chosen_options": ["Reject"]}, r"approval: was rejected by ada, so no host was launched"),
        (SILENCE, r"approval: was not answered within 72h, so no host was launched"),
    ],
)
def test_after_a_rejection_and_after_silence_the_run_fails_and_a_later_one_asks_again(
    airflow: Asked, store: CampaignStore, installation: Installation, event: Mapping[str, Any], why: str
) -> None:
    is_asked(airflow)
    with pytest.raises(AirflowFailException, match=why) as failed:
        answer(airflow, event)
    assert "trigger this DAG with `campaign_id` 'campaign', which asks again" in str(failed.value)
    assert store.approvals() == ()
    assert installation.provider.provided() == 0
    with pytest.raises(AirflowFailException, match="approval: is missing"):
        run_cell(airflow)  # cleared by itself, or after `approve` was marked as a success

    airflow.run_id = "manual__tomorrow"
    is_asked(airflow)
    answer(airflow, {**ANSWER, "chosen_options": ["Approve"]})
    assert len(store.approvals()) == 1


def test_a_task_that_is_cleared_while_it_waits_asks_again(airflow: Asked, store: CampaignStore) -> None:
    for _ in range(2):
        is_asked(airflow)
    assert airflow.questions[0] == airflow.questions[1]
    answer(airflow, {**ANSWER, "chosen_options": ["Approve"]})
    assert len(store.approvals()) == 1


def test_what_is_approved_is_what_was_shown(
    airflow: Asked, store: CampaignStore, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Airflow goes on to show the first question of a task, also once the task was cleared."""
    is_asked(airflow)
    have_prices(installation, monkeypatch, 2.0)
    with pytest.raises(AirflowFailException, match=r"was asked for at most 16\.09 USD; now it may cost 32\.18 USD"):
        ask(airflow)
    with pytest.raises(AirflowFailException, match=r"approval: is missing: it may cost 32\.18 USD"):
        answer(airflow, {**ANSWER, "chosen_options": ["Approve"]})
    assert [round(one.usd or 0, 2) for one in store.approvals()] == [16.09]

    airflow.run_id = "manual__tomorrow"
    is_asked(airflow)
    assert airflow.questions[-1]["subject"].endswith("at most 32.18 USD")


def test_an_unknown_price_is_asked_for_as_unknown(
    airflow: Asked, store: CampaignStore, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_prices(installation, monkeypatch, None)
    is_asked(airflow)
    assert "**Cost: an unknown cost**" in airflow.questions[0]["body"]
    answer(airflow, {**ANSWER, "chosen_options": ["Approve"]})
    assert [one.usd for one in store.approvals()] == [None]


def test_nobody_is_asked_where_no_cell_is_to_run_or_the_campaign_costs_no_more(
    airflow: Asked, store: CampaignStore
) -> None:
    airflow.cells = []
    ask(airflow)
    airflow.cells = [CELL]
    store.open(asking(instant_definition(), above="20 USD"))
    ask(airflow)
    assert airflow.questions == []


def test_nothing_that_somebody_wrote_is_part_of_the_question(airflow: Asked, store: CampaignStore) -> None:
    evil = "<script>alert(1)</script> {{ ti }} [x](javascript:alert(1))"
    stored = store.declared().model_copy(update={"description": evil})
    store.open(stored)
    is_asked(airflow)
    assert not any(sign in airflow.questions[0]["body"] for sign in ("<", "{{", "]("))
    assert AskApproval.template_fields == ("campaign_id",)


def test_no_next_round_begins_without_an_approval(airflow: Asked, installation: Installation) -> None:
    search = asking(instant_definition("sought")).model_copy(update={"strategy": Search()})
    installation.open_campaign(search, "search")
    follower = NextRound(task_id="next_round", dag_id="instant")
    follower.campaign_id = "search"
    with pytest.raises(AirflowFailException, match="approval: is missing"):
        NextRound.execute.__wrapped__(follower, airflow.context)  # type: ignore[attr-defined]


def test_only_a_campaign_that_asks_for_it_has_the_task(installation: Installation) -> None:
    installation.define(instant_definition("plain"))
    installation.define(asking(instant_definition("dear"), within="2h"))
    dags: dict[str, DAG] = DagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder").dags

    assert "approve" not in dags["plain"].task_ids
    dear = dags["dear"]
    assert dear.get_task("approve").upstream_task_ids == {"plan"}
    assert dear.get_task("run_cell").upstream_task_ids == {"plan", "approve"}
    asked: Any = dear.get_task("approve")
    assert (asked.within, dict(asked.params)) == (timedelta(hours=2), {})


def test_the_record_holds_the_name_that_airflow_tells(airflow: Asked, store: CampaignStore) -> None:
    is_asked(airflow)
    somebody = SimpleNamespace(id="1", name="Grace O'Hopper <g@example.com>")
    event = {**ANSWER, "chosen_options": ["Approve"], "responded_by_user": vars(somebody)}
    answer(airflow, event)
    assert [type(one) for one in store.approvals()] == [Approval]
    assert store.approvals()[0].by == somebody.name
