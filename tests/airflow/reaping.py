"""The reaper as a task, and cells' runs that live or have ended."""

from typing import Any

from tests.fakes.installation import Installation

from plimsoll_airflow.operators.regular import Reap
from plimsoll_airflow.runs.ownership import CellRun

HERE = "here"
LIVE, DEAD, ELSEWHERE = CellRun("live", 0, HERE), CellRun("dead", 0, HERE), CellRun("dead", 0, "elsewhere")


class LiveRuns:
    """Answers as a task's context does: of the DAG `cell`, the run `live` is queued or running, no other is.

    Of the campaign's DAG the run `of_campaign` lives.
    """

    def __init__(self, of_campaign: str = "") -> None:
        self._live = {("cell", "live"), ("instant", of_campaign)}

    def get_dr_count(self, dag_id: str, run_ids: list[str], states: list[str]) -> int:
        assert states == ["queued", "running"]
        return sum((dag_id, run_id) in self._live for run_id in run_ids)


def reap(*, dry_run: bool = False, campaign_id: str = "") -> dict[str, list[str]]:
    """Return what the reaper destroyed and kept, by cluster."""
    context: Any = {"ti": LiveRuns(), "params": {"dry_run": dry_run, "campaign_id": campaign_id}}
    return Reap(task_id="reap").execute(context)


def alive(installation: Installation) -> list[str]:
    """Return the clusters that there are."""
    return [str(cluster.id) for cluster in installation.provider.clusters()]
