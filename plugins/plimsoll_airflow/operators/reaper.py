"""The task of the DAG `reaper`, which also ends each campaign."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from plimsoll.domain.cluster import Cluster
from plimsoll.services.reaping import Reaped, reap
from plimsoll_airflow import narration, notices
from plimsoll_airflow.ownership import CELL_DAG, LIVE_STATES, CellRun
from plimsoll_airflow.toolkit import toolkit

if TYPE_CHECKING:
    from airflow.sdk import Context
    from airflow.sdk.types import RuntimeTaskInstanceProtocol


class Reap(BaseOperator):
    """Destroy every cluster that no live run of the DAG `cell` owns; with `campaign_id` every one of that campaign."""

    def execute(self, context: "Context") -> dict[str, list[str]]:
        """As the run's Params say: keys of the clusters destroyed (with `dry_run`: that would be) and kept."""
        params = context["params"]
        return self.run_pass(context, params.get("campaign_id") or "", dry_run=bool(params["dry_run"]))

    def run_pass(self, context: "Context", campaign_id: str, *, dry_run: bool) -> dict[str, list[str]]:
        """Do all that can be done, tell of it, and only then fail if anything could not be done."""
        ti, now = context["ti"], datetime.now(UTC)

        def is_kept(cluster: Cluster) -> bool:
            return cluster.key.campaign_id != campaign_id if campaign_id else is_owned(cluster, ti, now)

        reaped = reap(toolkit(), is_kept, dry_run=dry_run)
        for line in narration.reaped(reaped, now, dry_run=dry_run):
            self.log.info(line)
        for trouble in reaped.troubles:
            self.log.error(trouble)
        troubles = (*reaped.troubles, *([] if dry_run else _untold(context, reaped, now)))
        if troubles:
            raise AirflowFailException("; ".join(troubles))
        return {"destroyed": _keys(reaped.destroyed), "kept": _keys(reaped.kept)}


class ReapLeftovers(Reap):
    """The reaper's pass in another DAG, whose Params are not the reaper's: destroys what nobody owns."""

    def execute(self, context: "Context") -> dict[str, list[str]]:
        """Keys of the clusters destroyed and kept."""
        return self.run_pass(context, "", dry_run=False)


def is_owned(cluster: Cluster, ti: "RuntimeTaskInstanceProtocol", now: datetime) -> bool:
    """Whether a run that has not ended holds the cluster. Others than Airflow hold theirs until it expires, or until
    they are known to have ended."""
    run = CellRun.parse(cluster.owner)
    if run is None:
        return cluster.expires_at > now and toolkit().owners.is_alive(cluster.owner) is not False
    return bool(ti.get_dr_count(CELL_DAG, run_ids=[run.run_id], states=LIVE_STATES))


def _untold(context: "Context", reaped: Reaped, now: datetime) -> Iterator[str]:
    """Tell of what was destroyed or could not be; yields why nobody could be told."""
    if not (reaped.destroyed or reaped.troubles):
        return
    lines = (*narration.reaped(reaped, now, dry_run=False), *reaped.troubles)
    title = f"Plimsoll's reaper: destroyed {len(reaped.destroyed)}, in trouble with {len(reaped.troubles)}"
    try:
        notices.send(dict(context), title, "\n".join(lines))
    except notices.NoticeError as error:
        yield str(error)


def _keys(clusters: Any) -> list[str]:
    return [str(cluster.key) for cluster in clusters]
