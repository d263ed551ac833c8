"""A scheduled campaign, from its paused DAG to what people are told of it."""

from collections.abc import Mapping
from pathlib import Path

from tests.fakes.installation import Installation
from tests.support.airflow.team_stack import Team
from tests.support.processes import until

from plimsoll_airflow.local.client import DagRun

PATIENCE_S = 300.0


def test_a_scheduled_definitions_dag_is_paused_and_says_what_it_is(team: Team) -> None:
    dag = team.client.call("GET", "/dags/minutely/details")

    assert dag["is_paused"]
    assert "# An instant campaign" in dag["doc_md"]
    assert {tag["name"] for tag in dag["tags"]} == {"campaign", "instant"}
    assert dag["timetable_summary"] == "* * * * *"
    assert dag["max_active_runs"] == 1
    assert dag["params"].keys() == {"campaign_id", "cells", "variants", "loads", "repeats", "parallel", "incomplete"}
    loads: Mapping[str, object] = dag["params"]["loads"]["schema"]
    assert loads["values_display"] == {"1000/s": "1,000 ops/s"}


def test_unpausing_schedules_it_and_what_goes_wrong_is_told(
    team: Team, installation: Installation, notices: Path
) -> None:
    with installation.faults.planted("v1-001k-r1", "load"), team.unpaused("minutely"):
        run = until(lambda: _first_run(team), "a scheduled campaign", patience_s=PATIENCE_S)
        watched = team.run_to_end("schedules", {})
        # Not paused before: what runs of a paused DAG stalls.
        until(lambda: "has ended incomplete" in _text(notices), "word of the campaign's end", patience_s=PATIENCE_S)

    assert run.run_id.startswith("scheduled__")
    assert watched.state == "success"
    text = _text(notices)
    assert "Plimsoll: not every scheduled campaign has started\nminutely: the campaign due at " in text
    assert f"run {run.run_id} of the DAG minutely failed" in text
    assert "cells with a valid attempt: 0 of 1" in text


def _first_run(team: Team) -> DagRun | None:
    runs = team.client.dag_runs("minutely")
    return runs[-1] if runs else None


def _text(notices: Path) -> str:
    return notices.read_text() if notices.exists() else ""
