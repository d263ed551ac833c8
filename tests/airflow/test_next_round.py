"""From a run of a search to the one that follows it."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.exceptions import DagRunTriggerException
from tests.support.campaigns.one_cell import run_cell

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.loads import TakenLoad
from plimsoll.domain.keys.strategy import Search, Stage
from plimsoll.services.campaign.curating import delete_campaign
from plimsoll.services.campaign.open.request import read_request
from plimsoll.services.cell.attempts import begin
from plimsoll_airflow.dags.forms import campaign_params
from plimsoll_airflow.internals.moved import AirflowFailException, AirflowSkipException
from plimsoll_airflow.operators.next_round import NextRound

SEARCH = instant_definition(variants=2, loads=2, repeats=2).model_copy(update={"strategy": Search()})
FIRST = ("v1-001k-r1", "v2-001k-r1")
BY_HAND, ROUND = "manual__today", "round__campaign__2-20260131t120000000000"


class Runs:
    """Answers as a task's context does: the states of the DAG's runs, and whether `plan` said that the search goes on.

    The task itself is in the run `run_id` and has the state `own`. Keeps the XComs that are pushed.
    """

    dag_id, task_id, map_index = "instant", "next_round", -1

    def __init__(
        self, states: Mapping[str, str], *, goes_on: bool = True, run_id: str = BY_HAND, own: str = "running"
    ) -> None:
        self._states = states
        self.run_id = run_id
        self._own = own
        self._goes_on = goes_on
        self.pushed: dict[str, str] = {}

    def get_dr_count(self, dag_id: str, run_ids: list[str], states: list[str] | None) -> int:
        assert dag_id == "instant"
        [state] = [self._states.get(run_id) for run_id in run_ids]
        return int(state is not None and (states is None or state in states))

    def get_task_states(
        self, dag_id: str, *, map_index: int, task_ids: list[str], run_ids: list[str]
    ) -> dict[str, dict[str, str]]:
        assert (dag_id, map_index, task_ids, run_ids) == ("instant", -1, ["next_round"], [self.run_id])
        return {self.run_id: {"next_round": self._own}}

    def xcom_pull(self, task_ids: str, key: str) -> bool:
        assert (task_ids, key) == ("plan", "goes_on")
        return self._goes_on

    def xcom_push(self, key: str, value: str) -> None:
        self.pushed[key] = value


@pytest.fixture
def campaign(installation: Installation) -> Installation:
    """Provide a campaign whose first round is over."""
    run_first_round(installation)
    return installation


def run_first_round(installation: Installation) -> None:
    installation.open_campaign(SEARCH)
    for cell_id in FIRST:
        run_cell(installation.toolkit, "campaign", cell_id, "owner", print)


def execute(run_id: str = BY_HAND, runs: Runs | None = None, **params: object) -> None:
    task = NextRound(task_id="next_round", dag_id="instant")
    task.campaign_id = "campaign"
    context: Any = {"ti": runs or Runs({run_id: "running"}, run_id=run_id), "run_id": run_id, "params": params}
    NextRound.execute.__wrapped__(task, context)  # type: ignore[attr-defined]


def follows(run_id: str = BY_HAND, **params: Any) -> tuple[str, dict[str, Any]]:
    """Return id and conf of the run that follows."""
    runs = Runs({run_id: "running"}, run_id=run_id)
    with pytest.raises(DagRunTriggerException) as raised:
        execute(run_id, runs, **params)
    assert raised.value.trigger_dag_id == "instant"
    assert runs.pushed["trigger_run_id"] == raised.value.dag_run_id
    return str(raised.value.dag_run_id), dict(raised.value.conf or {})


@pytest.mark.usefixtures("campaign")
def test_what_the_strategy_asks_for_next_runs_in_a_run_that_follows() -> None:
    run_id, conf = follows(parallel=3)

    assert re.fullmatch(r"round__campaign__2-\d{8}t\d{12}", run_id)
    assert conf["campaign_id"] == "campaign"
    assert conf["parallel"] == 3
    assert sorted(conf["cells"].split()) == ["v1-001k-r2", "v2-001k-r2"]
    assert follows(run_id=ROUND, cells=conf["cells"])[1]["cells"] == conf["cells"]


@pytest.mark.usefixtures("campaign")
def test_a_scheduled_run_is_followed_like_one_that_was_sent_as_the_form_opens() -> None:
    form = {name: param.value for name, param in campaign_params(resolve(SEARCH)).items()}
    assert read_request(resolve(SEARCH), form).is_for_all

    run_id, conf = follows(run_id="scheduled__2026-01-31T12:00:00+00:00", **form)

    assert re.fullmatch(r"round__campaign__2-\d{8}t\d{12}", run_id)
    assert conf["campaign_id"] == "campaign"
    assert sorted(conf["cells"].split()) == ["v1-001k-r2", "v2-001k-r2"]
    assert follows(run_id=ROUND, **(form | conf))[1]["cells"] == conf["cells"]


@pytest.mark.usefixtures("campaign")
def test_a_second_try_of_a_killed_task_asks_for_the_same_run() -> None:
    assert follows() == follows()


@pytest.mark.usefixtures("campaign")
@pytest.mark.parametrize("state", ["queued", "running"])
def test_killed_once_the_run_was_there_the_second_try_names_that_run_and_starts_none(state: str) -> None:
    follower, _ = follows()

    second = Runs({BY_HAND: "running", follower: state})
    execute(runs=second)

    assert second.pushed == {"trigger_run_id": follower}


@pytest.mark.usefixtures("campaign")
def test_a_round_in_which_no_attempt_began_is_not_started_again_and_says_how_to_go_on() -> None:
    follower, conf = follows()
    message = (
        rf"run {follower} was started .* no attempt has begun since.* trigger this DAG with `campaign_id` 'campaign'"
    )

    with pytest.raises(AirflowFailException, match=message):
        execute(runs=Runs({BY_HAND: "running", follower: "failed"}))
    with pytest.raises(AirflowFailException, match=message):
        execute(run_id=follower, cells=conf["cells"])


def test_under_the_id_of_a_deleted_campaign_a_search_goes_on_in_runs_of_other_names(campaign: Installation) -> None:
    before, _ = follows()
    delete_campaign(campaign.toolkit, "campaign", "ada")
    run_first_round(campaign)

    again, _ = follows()

    assert again != before


def test_clearing_a_cell_of_an_earlier_round_lets_the_search_go_on_in_a_run_of_another_name(
    campaign: Installation,
) -> None:
    before, _ = follows()
    run_cell(campaign.toolkit, "campaign", FIRST[0], "owner", print)

    again, conf = follows()

    assert again != before
    assert sorted(conf["cells"].split()) == ["v1-001k-r2", "v2-001k-r2"]


@pytest.mark.usefixtures("campaign")
def test_a_run_that_was_asked_for_some_cells_alone_is_followed_by_none_and_says_how_to_go_on() -> None:
    alone = {BY_HAND: "running", ROUND: "running"}

    with pytest.raises(AirflowSkipException, match=r"some cells alone\..* this DAG with `campaign_id` 'campaign'"):
        execute(runs=Runs(alone, goes_on=False))
    with pytest.raises(DagRunTriggerException):  # of a round another run may have run all cells before
        execute(ROUND, Runs(alone, goes_on=False, run_id=ROUND))


@pytest.mark.usefixtures("campaign")
def test_a_run_that_somebody_ended_is_followed_by_none() -> None:
    """Such a run goes on for its teardown, so its own state is that of one that nobody ended."""
    with pytest.raises(AirflowSkipException, match="ended by hand or cleared"):
        execute(runs=Runs({BY_HAND: "running"}, own="failed"))


def test_cells_that_were_killed_are_left_to_a_person_and_the_last_run_is_red_and_says_how_to_go_on(
    campaign: Installation,
) -> None:
    for cell_id in ("v1-001k-r2", "v2-001k-r2"):
        begin(campaign.toolkit, "campaign", cell_id, "killed")

    with pytest.raises(AirflowFailException) as raised:
        execute()

    message = str(raised.value)
    assert message.startswith(
        "campaign incomplete: 2 of 8 cells have a valid attempt. What is left waits for cells whose"
    )
    waiting = message.partition("result: ")[2].partition(". ")[0]
    assert sorted(waiting.split(", ")) == ["v1-001k-r2", "v2-001k-r2"]
    assert message.endswith("trigger this DAG with `campaign_id` 'campaign'")


def test_while_other_variants_go_on_a_killed_cell_ends_nothing(campaign: Installation) -> None:
    begin(campaign.toolkit, "campaign", "v1-001k-r2", "killed")

    assert follows()[1]["cells"] == "v2-001k-r2"


def test_a_search_that_is_over_is_followed_by_none(campaign: Installation) -> None:
    for cell in ("v1-001k-r2", "v2-001k-r2", "v1-002k-r1", "v1-002k-r2", "v2-002k-r1", "v2-002k-r2"):
        run_cell(campaign.toolkit, "campaign", cell, "owner", print)

    with pytest.raises(AirflowSkipException, match="campaign complete"):
        execute()


def test_the_next_stage_follows_with_loads_from_the_one_before(installation: Installation) -> None:
    share = Stage(id="share", loads=TakenLoad.model_validate({"share": "70%", "of": "maximum"}))
    staged = instant_definition(variants=1, loads=1).model_copy(update={"stages": (Stage(id="maximum"), share)})
    campaign = installation.open_campaign(staged)
    run_cell(installation.toolkit, "campaign", "maximum-v1-001k-r1", "owner", print)

    assert follows()[1]["cells"] == "share-v1-70pct-r1"
    assert campaign.stage_starts(["share"])["share"].loads[0].load_ops_s == 700
