"""Cells run again: `run_cell[…]` cleared as the grid does it, failed campaigns of a schedule backfilled."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import pytest
from tests.fakes.gated import LOADING, Gates
from tests.fakes.installation import Installation
from tests.support.airflow.team_stack import Team
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.local import processes
from plimsoll_airflow.local.client import DagRun
from plimsoll_airflow.local.home import ApiError

FAILED, OTHER = "v1-002k-r1", "v1-001k-r1"
CELL = f"cleared~{FAILED}"
"""As gates name it."""
OF_SCHEDULE = "v2-001k-r1"
"""The cell that fails in the schedule's campaigns; no other campaign here has it."""
DAYS = ("2026-01-05", "2026-01-06")
PATIENCE_S = 300.0

pytestmark = long("a failed cell runs again by the page's request, and tests/airflow clears and backfills")


@dataclass(frozen=True)
class Cleared:
    """A campaign whose failed cell was cleared by two people, and once more when it was under load."""

    failed: DagRun
    ended: DagRun
    answers: Sequence[bool]
    """Whether each of the two could clear it."""
    files: Mapping[str, str]
    """What was kept when the run had failed."""
    attempts_of_two: Mapping[str, Sequence[int]]
    """When the cell that the two had cleared was under load."""
    alive: Sequence[str]
    """The clusters when its next load had begun."""


@pytest.fixture(scope="module", autouse=True)
def _begun(team: Team, installation: Installation) -> Iterator[None]:
    """Let campaigns of a schedule fail beside the other tests: even an idle team takes processor time."""
    with installation.faults.planted(OF_SCHEDULE, "deploy"), team.unpaused("nightly"):
        backfill(team)
        yield


@pytest.fixture(scope="module")
def cleared(team: Team, installation: Installation, gates: Gates) -> Cleared:
    with installation.faults.planted(FAILED, "load"):
        failed = team.run_to_end("again", {"campaign_id": "cleared"}, timeout_s=600)
    before = installation.files("cleared")
    for phase in ("deploy", LOADING):
        gates.close(CELL, phase)

    answers = clear_by_two(team, failed, gates)
    await_arrival(gates, CELL, LOADING)
    attempts = installation.attempts("cleared")
    loads = gates.starts().count(CELL)
    clear(team, failed, FAILED)
    until(lambda: gates.starts().count(CELL) == loads + 1, "another load", patience_s=PATIENCE_S)
    alive = installation.clusters_of("cleared")
    gates.open(CELL, LOADING)
    ended = team.wait_for(failed, timeout_s=600)

    return Cleared(failed, ended, answers, before, attempts, alive)


def clear_by_two(team: Team, run: DagRun, gates: Gates) -> Sequence[bool]:
    """Clear the failed cell twice at once, and again when it is deployed. Returns whether each of the two could."""
    with ThreadPoolExecutor() as people:
        answers = list(people.map(lambda _: clear(team, run, FAILED), range(2)))
    await_arrival(gates, CELL, "deploy")
    tries = run_cell_of(team, run, FAILED)["try_number"]
    clear(team, run, FAILED)
    until(lambda: is_waiting_since(team, run, FAILED, tries), "the cleared task", patience_s=PATIENCE_S)
    gates.open(CELL, "deploy")
    return answers


def test_a_failed_cell_cleared_by_two_people_at_once_gets_one_attempt(
    cleared: Cleared, installation: Installation
) -> None:
    assert any(cleared.answers)
    assert (cleared.failed.state, cleared.ended.state) == ("failed", "success")
    assert cleared.attempts_of_two == {FAILED: [1, 2], OTHER: [1]}
    after = installation.files("cleared")
    assert {path: digest for path, digest in after.items() if path in cleared.files} == cleared.files
    assert installation.toolkit.store.exists("cleared/report/report.html")
    assert installation.clusters_of("cleared") == []


def test_a_cell_cleared_under_load_is_given_up_and_measured_on_a_new_cluster(
    cleared: Cleared, installation: Installation
) -> None:
    assert cleared.alive == [f"cleared/{FAILED}/3"]
    campaign = CampaignStore(installation.toolkit.store, "cleared")
    valid = valid_verdict(campaign, FAILED)
    assert valid is not None
    assert valid.key.attempt == 3
    assert installation.attempts("cleared") == {FAILED: [1, 2, 3], OTHER: [1]}
    journal = [line for line in installation.provider.journal() if f"cleared/{FAILED}/" in line]
    assert journal == [f"{sign} cleared/{FAILED}/{attempt}" for attempt in (1, 2, 3) for sign in "+-"]


def test_backfilling_failed_campaigns_of_a_schedule_runs_their_failed_cells_alone(
    team: Team, installation: Installation
) -> None:
    failed = await_ended(team, "failed")
    # The scheduler looks now and then whether a backfill is over; a DAG has one at a time.
    until(lambda: not open_backfills(team), "the backfill's own end", patience_s=PATIENCE_S)
    ids = [run.run_id for run in failed]
    campaigns = [name for name in installation.toolkit.store.folders("") if name.startswith("nightly-202601")]
    before = {name: installation.files(name) for name in campaigns}
    installation.faults.heal(OF_SCHEDULE)

    backfill_failed(team)
    again = await_ended(team, "success")

    assert sorted(run.run_id for run in again) == sorted(ids)
    assert len(campaigns) == len(DAYS)
    for name in campaigns:
        assert installation.attempts(name) == {OTHER: [1], OF_SCHEDULE: [1, 2]}
        after = installation.files(name)
        assert {path: digest for path, digest in after.items() if path in before[name]} == before[name]
        assert installation.toolkit.store.exists(f"{name}/report/report.html")
        assert installation.clusters_of(name) == []


def clear(team: Team, run: DagRun, cell_id: str) -> bool:
    """Clear the cell's `run_cell` with what follows it, as a click in the grid does.

    False where Airflow refuses, because somebody else does the same in this moment.
    """
    index = run_cell_of(team, run, cell_id)["map_index"]
    body = {
        "dry_run": False,
        "dag_run_id": run.run_id,
        "task_ids": [["run_cell", index]],
        "include_downstream": True,
        "only_failed": False,
    }
    try:
        team.client.call("POST", f"/dags/{run.dag_id}/clearTaskInstances", json=body)
    except ApiError as error:
        if error.status != HTTPStatus.CONFLICT:
            raise
        return False
    return True


def run_cell_of(team: Team, run: DagRun, cell_id: str) -> Mapping[str, Any]:
    """Return the cell's instance of `run_cell`."""
    mapped = team.client.call("GET", f"/dags/{run.dag_id}/dagRuns/{run.run_id}/taskInstances/run_cell/listMapped")
    (found,) = [one for one in mapped["task_instances"] if one["rendered_map_index"] == cell_id]
    return found


def is_waiting_since(team: Team, run: DagRun, cell_id: str, tries: int) -> bool:
    """Tell whether the cell's `run_cell` was tried again since, and waits for the cell."""
    task = run_cell_of(team, run, cell_id)
    return bool(task["try_number"] > tries and task["state"] == "deferred")


def backfill(team: Team) -> None:
    """Have Airflow run what the schedule missed on these days, as its command does, which takes seconds to start."""
    days = {"from_date": f"{DAYS[0]}T00:00:00Z", "to_date": f"{DAYS[-1]}T12:00:00Z"}
    team.client.call("POST", "/backfills", json={"dag_id": "nightly", **days, "max_active_runs": 2})


def backfill_failed(team: Team) -> None:
    """Run `airflow backfill create` over the days, for the runs that failed."""
    words = ["backfill", "create", "--dag-id", "nightly", "--from-date", DAYS[0], "--to-date", f"{DAYS[-1]}T12:00:00"]
    command = processes.airflow_command([*words, "--max-active-runs", "2", "--reprocess-behavior", "failed"])
    environment = team.stack.environment(team.running.port)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr


def await_ended(team: Team, state: str) -> list[DagRun]:
    """Return the backfill's runs, once all have ended in that state. The schedule itself goes on beside them."""

    def ended() -> list[DagRun]:
        runs = [run for run in team.client.dag_runs("nightly") if run.run_id.startswith("backfill__")]
        return runs if [run.state for run in runs] == [state] * len(DAYS) else []

    return until(ended, f"{len(DAYS)} runs that are {state}", patience_s=600)


def open_backfills(team: Team) -> list[Mapping[str, Any]]:
    """Return those that Airflow takes for running."""
    listed = team.client.call("GET", "/backfills", params={"dag_id": "nightly"})["backfills"]
    return [one for one in listed if one["completed_at"] is None]


def await_arrival(gates: Gates, cell: str, phase: str) -> None:
    """Wait until the cell is at its gate."""

    def arrived() -> bool:
        return any((one.cell, one.phase) == (cell, phase) for one in gates.arrivals())

    until(arrived, f"{cell} in {phase}", patience_s=PATIENCE_S)
