"""Whole runs of the DAGs, in this process, with instant adapters (`airflow dags test`)."""

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.models.dagrun import DagRun
from airflow.sdk import BaseOperator
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.dag_bag import DagBag
from tests.support.campaigns.one_cell import run_cell
from tests.support.campaigns.running import run_missing

from plimsoll.domain.keys.strategy import Search
from plimsoll.domain.text.errors import Refused
from plimsoll.services.campaign.state.runs import begin_run, require_no_other_run
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.ownership import held
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.moved import AirflowFailException
from plimsoll_airflow.operators.campaign import Plan
from plimsoll_airflow.operators.run_cell import RunCell
from plimsoll_airflow.runs.ownership import CampaignRunOwner, CellRun

DAGS = Path(__file__).resolve().parents[2] / "dags"
FILES = {"cell": "cell.py", "reaper": "reaper.py"}
"""The files of DAGs that are no campaign's."""
CELL = {"campaign_id": "campaign", "cell_id": "v1-001k-r1"}

pytestmark = [
    pytest.mark.usefixtures("database", "undrawn_reports"),
]


def run(dag_id: str, conf: Mapping[str, Any]) -> DagRun:
    file = DAGS / FILES.get(dag_id, "campaigns.py")
    dag = DagBag(dag_folder=str(file), bundle_path=DAGS, bundle_name="dags-folder").dags[dag_id]
    for task in dag.tasks:
        if isinstance(task, BaseOperator):
            task.retry_delay = timedelta(0)
    ended = dag.test(run_conf=dict(conf))
    assert isinstance(ended, DagRun)
    return ended


def states(ended: DagRun) -> dict[str, str]:
    found = {}
    for ti in ended.get_task_instances():
        found[ti.task_id if ti.map_index < 0 else f"{ti.task_id}[{ti.rendered_map_index}]"] = str(ti.state)
    return found


def verdict_of(installation: Installation, attempt: int = 1) -> Any:
    campaign = CampaignStore(installation.toolkit.store, "campaign")
    return layout.VERDICT.read(campaign.store, campaign.key(CELL["cell_id"], attempt))


@pytest.fixture
def campaign(installation: Installation) -> Installation:
    installation.open_campaign(installation.define(instant_definition(variants=1, loads=2)))
    return installation


@pytest.fixture
def cells_in_process(monkeypatch: pytest.MonkeyPatch, installation: Installation) -> None:
    """Provide the DAG `cell` without Airflow: `dags test` has no scheduler that would run another DAG."""

    def execute(self: RunCell, context: Any) -> None:
        named = self.cell_run
        verdict = run_cell(
            installation.toolkit, named.campaign_id, named.cell_id, CellRun(self.run_id, 0, "here").token, print
        )
        if not verdict.valid:
            raise AirflowFailException("; ".join(verdict.reasons))

    monkeypatch.setattr(RunCell, "execute", execute)


def test_a_cell_is_measured_judged_and_its_cluster_gone(campaign: Installation) -> None:
    ended = run("cell", CELL)

    assert set(states(ended).values()) == {"success"}
    assert str(ended.state) == "success"
    assert verdict_of(campaign).valid
    assert campaign.provider.provided() == 1
    assert campaign.provider.clusters() == []


@pytest.mark.parametrize("phase", ["provision", "deploy", "load"])
def test_a_failing_phase_is_on_record_its_cluster_gone_and_the_run_red(campaign: Installation, phase: str) -> None:
    campaign.faults.plant(CELL["cell_id"], phase)

    ended = run("cell", CELL)

    after = states(ended)
    assert str(ended.state) == "failed"
    assert (after[phase], after["collect"], after["judge"], after["destroy"]) == (
        "failed",
        "success",
        "failed",
        "success",
    )
    manifest = layout.MANIFEST.read(campaign.toolkit.store, verdict_of(campaign).key)
    assert manifest is not None
    assert "was told to fail" in str(manifest.failure)
    assert not verdict_of(campaign).valid
    assert campaign.provider.clusters() == []


def test_a_cluster_that_resists_leaves_its_mark_but_not_on_the_result(campaign: Installation) -> None:
    campaign.faults.plant(CELL["cell_id"], "destroy")

    ended = run("cell", CELL)

    assert states(ended)["destroy"] == "failed"
    assert states(ended)["judge"] == "success"
    assert verdict_of(campaign).valid


def test_a_cell_of_a_campaign_that_does_not_exist_fails_and_provides_nothing(installation: Installation) -> None:
    ended = run("cell", CELL)

    after = states(ended)
    assert str(ended.state) == "failed"
    assert (after["provision"], after["collect"], after["judge"], after["destroy"]) == (
        "failed",
        "failed",
        "upstream_failed",
        "success",
    )
    assert installation.provider.clusters() == []


@pytest.mark.usefixtures("cells_in_process")
def test_a_campaign_runs_its_cells_passes_the_gate_and_publishes(installation: Installation) -> None:
    installation.define(instant_definition(variants=1, loads=2))

    ended = run("instant", {"campaign_id": "campaign"})

    assert states(ended) == {
        "plan": "success",
        "run_cell[v1-001k-r1]": "success",
        "run_cell[v1-002k-r1]": "success",
        "quality_gate": "success",
        "report": "success",
        "reap": "success",
    }
    assert str(ended.state) == "success"
    assert installation.toolkit.store.exists("campaign/report/report.html")


def test_a_run_is_seen_by_others_before_its_first_cell_between_cells_and_not_after_its_end(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.define(instant_definition(variants=1, loads=2))
    seen = []

    def looks(_: RunCell, context: Any) -> None:
        with pytest.raises(Refused, match=r"campaign 'campaign': is being run by Airflow's run manual__.* of instant"):
            require_no_other_run(installation.toolkit, "campaign")
        seen.append(1)

    monkeypatch.setattr(RunCell, "execute", looks)
    run("instant", {"campaign_id": "campaign"})

    assert len(seen) == 2
    require_no_other_run(installation.toolkit, "campaign")


def test_a_run_does_not_begin_where_one_of_another_airflow_works_and_leaves_no_trace(campaign: Installation) -> None:
    theirs = CampaignRunOwner("instant", "manual__1", "elsewhere").token
    begin_run(campaign.toolkit, "campaign", theirs, cells=1)
    before = {key: campaign.toolkit.store.read(key) for key in campaign.toolkit.store.keys("campaign")}

    ended = run("instant", {"campaign_id": "campaign"})

    assert (str(ended.state), states(ended)["plan"]) == ("failed", "failed")
    assert {key: campaign.toolkit.store.read(key) for key in campaign.toolkit.store.keys("campaign")} == before


def test_a_run_does_not_begin_where_a_process_holds_the_campaign(campaign: Installation) -> None:
    with held(campaign.toolkit, "campaign"):
        ended = run("instant", {"campaign_id": "campaign"})

    assert states(ended)["plan"] == "failed"
    require_no_other_run(campaign.toolkit, "campaign")


@pytest.mark.usefixtures("cells_in_process")
@pytest.mark.parametrize("choice", [{"cells": "v1-002k-r1"}, {"loads": ["2000/s"]}], ids=["by id", "by load"])
def test_a_run_of_one_cell_is_green_and_publishes_no_report_of_an_incomplete_campaign(
    installation: Installation, choice: Mapping[str, Any]
) -> None:
    installation.define(instant_definition(variants=1, loads=2))

    ended = run("instant", {"campaign_id": "campaign", **choice})

    after = states(ended)
    assert str(ended.state) == "success"
    assert "run_cell[v1-001k-r1]" not in after
    assert (after["run_cell[v1-002k-r1]"], after["quality_gate"], after["report"]) == ("success", "success", "skipped")
    assert not installation.toolkit.store.exists("campaign/report/report.html")

    ended = run("instant", {"campaign_id": "campaign"})

    assert (str(ended.state), states(ended)["report"]) == ("success", "success")


@pytest.mark.usefixtures("cells_in_process")
def test_a_failed_cell_closes_the_gate_and_the_run_is_red(installation: Installation) -> None:
    installation.define(instant_definition(variants=1, loads=2))
    installation.faults.plant("v1-002k-r1", "load")

    ended = run("instant", {"campaign_id": "campaign"})

    after = states(ended)
    assert str(ended.state) == "failed"
    assert (after["run_cell[v1-001k-r1]"], after["run_cell[v1-002k-r1]"]) == ("success", "failed")
    assert (after["quality_gate"], after["report"], after["reap"]) == ("failed", "upstream_failed", "success")
    assert not installation.toolkit.store.exists("campaign/report/report.html")


@pytest.mark.usefixtures("cells_in_process")
def test_a_search_ends_red_where_a_cell_holds_it_up_and_goes_on_once_that_cell_is_asked_for(
    installation: Installation,
) -> None:
    search = instant_definition("sought", variants=2, loads=2).model_copy(update={"strategy": Search()})
    installation.define(search)
    installation.faults.plant("v1-001k-r1", "load")
    first = states(run("sought", {"campaign_id": "campaign"}))
    assert (first["quality_gate"], first["next_round"], first["reap"]) == ("failed", "success", "success")
    second = states(run("sought", {"campaign_id": "campaign", "cells": "v1-001k-r1"}))  # as a search does by itself
    assert (second["quality_gate"], second["next_round"]) == ("failed", "success")

    last = run("sought", {"campaign_id": "campaign", "cells": "v2-002k-r1"})
    assert (states(last)["quality_gate"], states(last)["report"]) == ("success", "skipped")
    assert (states(last)["next_round"], str(last.state)) == ("failed", "failed")

    installation.faults.heal("v1-001k-r1")
    again = run("sought", {"campaign_id": "campaign", "cells": "v1-001k-r1"})
    assert (states(again)["next_round"], str(again.state)) == ("success", "success")

    last = run("sought", {"campaign_id": "campaign"})
    assert (states(last)["next_round"], states(last)["report"], str(last.state)) == ("skipped", "success", "success")


@pytest.mark.usefixtures("cells_in_process")
def test_a_campaign_ends_with_a_pass_of_the_reaper(installation: Installation) -> None:
    installation.open_campaign(installation.define(instant_definition(variants=1, loads=2)))
    installation.faults.plant("v1-002k-r1", "load")
    actions.provision(begin(installation.toolkit, "campaign", "v1-001k-r1", CellRun("gone", 0, "here").token))

    ended = run("instant", {"campaign_id": "campaign", "cells": "v1-002k-r1"})

    assert (str(ended.state), states(ended)["reap"]) == ("failed", "success")
    assert installation.provider.clusters() == []


@pytest.mark.usefixtures("cells_in_process")
def test_running_a_campaign_again_fills_its_holes_only(installation: Installation) -> None:
    installation.define(instant_definition(variants=1, loads=2))
    installation.faults.plant("v1-002k-r1", "load")
    run("instant", {"campaign_id": "campaign"})
    installation.faults.heal("v1-002k-r1")

    ended = run("instant", {"campaign_id": "campaign", "cells": "failed"})

    assert [name for name in states(ended) if name.startswith("run_cell")] == ["run_cell[v1-002k-r1]"]
    assert str(ended.state) == "success"
    assert installation.provider.provided() == 3


def test_a_complete_campaign_goes_straight_to_gate_and_report(campaign: Installation) -> None:
    run_missing(campaign.toolkit, "campaign", "owner", print)

    ended = run("instant", {"campaign_id": "campaign"})

    after = states(ended)
    assert after.pop("run_cell") == "skipped"
    assert after == dict.fromkeys(("plan", "quality_gate", "report", "reap"), "success")
    assert str(ended.state) == "success"


def test_a_refused_plan_ends_red_and_leaves_no_campaign(installation: Installation) -> None:
    installation.define(instant_definition())

    ended = run("instant", {"cells": "g1-*"})

    after = states(ended)
    assert str(ended.state) == "failed"
    assert (after["plan"], after["run_cell"], after["report"]) == ("failed", "upstream_failed", "upstream_failed")
    assert installation.toolkit.store.folders("") == ()


def test_a_run_of_more_cells_than_airflow_maps_ends_red_and_leaves_no_campaign(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__MAX_MAP_LENGTH", "1")
    installation.define(instant_definition(variants=1, loads=2))

    assert states(run("instant", {"campaign_id": "campaign"}))["plan"] == "failed"

    assert installation.toolkit.store.folders("") == ()


def test_the_reaper_destroys_what_no_run_owns(campaign: Installation) -> None:
    actions.provision(begin(campaign.toolkit, "campaign", "v1-001k-r1", CellRun("gone", 0, "here").token))

    ended = run("reaper", {"dry_run": False})

    assert str(ended.state) == "success"
    assert campaign.provider.clusters() == []


def test_cells_share_kept_hosts_which_end_with_the_campaigns_run(installation: Installation) -> None:
    plain = instant_definition(variants=1, loads=2, parallel=1)
    definition = plain.model_copy(update={"cluster_scope": "campaign"})
    installation.open_campaign(installation.define(definition))

    ended = [run("cell", {"campaign_id": "campaign", "cell_id": cell}) for cell in ("v1-001k-r1", "v1-002k-r1")]
    assert [str(one.state) for one in ended] == ["success", "success"]
    assert [str(one.id) for one in installation.provider.clusters()] == ["campaign/hosts/1"]
    assert installation.provider.provided() == 1

    assert str(run("instant", {"campaign_id": "campaign"}).state) == "success"
    assert installation.provider.clusters() == []


@pytest.mark.usefixtures("campaign")
@pytest.mark.parametrize(("incomplete", "planned"), [(True, True), (False, False)])
def test_while_cells_are_paused_a_report_of_what_is_valid_is_made_and_nothing_else(
    *, incomplete: bool, planned: bool
) -> None:
    def dag(dag_id: str) -> SimpleNamespace:
        return SimpleNamespace(is_paused=dag_id == "cell")

    ti = SimpleNamespace(dag_id="instant", run_id="r1", task_id="plan", xcom_push=lambda *_: None, get_dag=dag)
    context: Any = {
        "ti": ti,
        "params": {"campaign_id": "campaign", "incomplete": incomplete},
        "dag_run": SimpleNamespace(run_after=datetime(2026, 1, 31, 12, tzinfo=UTC)),
        "triggering_asset_events": {},
    }
    with nullcontext() if planned else pytest.raises(AirflowFailException, match="the DAG cell is paused"):
        assert Plan(task_id="plan", definition="instant").execute(context) == []
