"""Which campaign `make demo` goes on with."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns.synthetic import demo_definition

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.loads import TakenLoad
from plimsoll.domain.keys.strategy import FullGrid, Stage, StageLoad, StageStart
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll_airflow.local.client import AirflowClient, DagRun
from plimsoll_airflow.local.demo import CampaignRun, start_or_find, unfinished_campaign
from plimsoll_airflow.runs.ownership import CELL_DAG

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
EARLY, LATE = "demo-20260131t110000", "demo-20260131t120000"


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return ObjectStore(str(tmp_path))


@pytest.fixture(scope="module")
def definition() -> Definition:
    return demo_definition()


def opened(store: ObjectStore, campaign_id: str, definition: Definition, *, valid: int = 0) -> CampaignStore:
    """Return a campaign with that many cells measured."""
    campaign = CampaignStore(store, campaign_id)
    campaign.open(definition)
    for cell in grid(resolve(definition))[:valid]:
        key = AttemptKey(campaign_id=campaign_id, cell_id=cell.id, attempt=1)
        layout.VERDICT.write(store, key, verdict(key, cell))
    return campaign


def verdict(key: AttemptKey, cell: Cell) -> Verdict:
    return Verdict(
        key=key,
        cell=cell,
        valid=True,
        met=True,
        attempted_ops_s=1,
        achieved_ops_s=1,
        rate_achieved=True,
        code_version="1",
    )


def test_an_empty_store_has_nothing_to_go_on_with(store: ObjectStore, definition: Definition) -> None:
    assert unfinished_campaign(store, definition) is None


def test_the_newest_campaign_with_cells_to_run_is_gone_on_with(store: ObjectStore, definition: Definition) -> None:
    opened(store, EARLY, definition, valid=1)
    opened(store, LATE, definition, valid=3)
    assert unfinished_campaign(store, definition) == LATE


def test_a_campaign_without_its_report_is_not_finished(store: ObjectStore, definition: Definition) -> None:
    opened(store, LATE, definition, valid=4)
    assert unfinished_campaign(store, definition) == LATE
    store.write(report_key(LATE), b"<html>")
    assert unfinished_campaign(store, definition) is None


def test_after_a_finished_campaign_an_older_one_is_not_dug_out(store: ObjectStore, definition: Definition) -> None:
    opened(store, EARLY, definition)
    opened(store, LATE, definition, valid=4)
    store.write(report_key(LATE), b"<html>")
    assert unfinished_campaign(store, definition) is None


def test_campaigns_of_other_definitions_and_of_an_older_form_do_not_count(
    store: ObjectStore, definition: Definition
) -> None:
    opened(store, "demo-two-20260131t130000", demo_definition(name="demo-two"))
    opened(store, LATE, demo_definition(seed=7))
    assert unfinished_campaign(store, definition) is None
    opened(store, EARLY, definition)
    assert unfinished_campaign(store, definition) == EARLY


def test_a_campaign_is_gone_on_with_after_a_stage_has_found_its_loads(
    store: ObjectStore, definition: Definition
) -> None:
    stages = (
        Stage(id="maximum", strategy=FullGrid()),
        Stage(id="share", loads=TakenLoad.model_validate({"share": "70%", "of": "maximum"})),
    )
    staged = definition.model_copy(update={"stages": stages})
    load = StageLoad(variant=staged.variants[0].id, load_ops_s=700, maximum_ops_s=1000, kind="found")
    opened(store, LATE, staged).record_stage_start(StageStart(stage="share", of="maximum", at=NOON, loads=(load,)))
    assert unfinished_campaign(store, staged) == LATE


def test_a_campaign_is_gone_on_with_under_another_budget(store: ObjectStore, definition: Definition) -> None:
    opened(store, LATE, definition)
    assert unfinished_campaign(store, definition.model_copy(update={"budget": 7.0})) == LATE


def test_a_campaign_with_an_id_of_somebodys_own_is_neither_gone_on_with_nor_in_the_way(
    store: ObjectStore, definition: Definition
) -> None:
    opened(store, LATE, definition)
    opened(store, "demo-try", definition, valid=4)
    store.write(report_key("demo-try"), b"<html>")
    opened(store, "demo-unfinished", definition)
    assert unfinished_campaign(store, definition) == LATE


class Airflow:
    """Stands in for the client of an Airflow where a run is queued, and notes what is unpaused."""

    def __init__(self) -> None:
        self.unpaused: list[str] = []

    def dag_runs(self, dag_id: str) -> list[DagRun]:
        return [DagRun(dag_id, "manual__1", "queued", NOON, {})]

    def unpause(self, dag_id: str) -> None:
        self.unpaused.append(dag_id)


def test_a_queued_run_that_is_watched_is_not_left_waiting_for_a_paused_dag(
    store: ObjectStore, definition: Definition
) -> None:
    airflow: Any = Airflow()
    watched = start_or_find(airflow, store, definition, NOON)
    assert (watched.run.run_id, airflow.unpaused) == ("manual__1", [CELL_DAG, "demo"])


@pytest.mark.parametrize(
    ("key", "content"),
    [(layout.DEFINITION.key(LATE), b"name: demo\nof_another_version: true\n"), (layout.DELETING.key(LATE), b"{}")],
    ids=["of another version", "half deleted"],
)
def test_a_campaign_that_can_not_be_opened_is_passed_over(
    store: ObjectStore, definition: Definition, key: str, content: bytes
) -> None:
    opened(store, EARLY, definition)
    opened(store, LATE, definition)
    store.write(key, content)
    assert unfinished_campaign(store, definition) == EARLY


@pytest.mark.parametrize(
    ("conf", "campaign_id"), [({"campaign_id": EARLY}, EARLY), ({"campaign_id": ""}, LATE), ({}, LATE)]
)
def test_a_run_works_at_the_campaign_it_was_asked_for_else_at_the_one_of_its_time(
    store: ObjectStore, definition: Definition, conf: dict[str, str], campaign_id: str
) -> None:
    client = AirflowClient("http://127.0.0.1:1", "secret")
    run = DagRun("demo", "r1", "running", NOON, conf)
    assert CampaignRun(client, store, definition, run).campaign_id == campaign_id
