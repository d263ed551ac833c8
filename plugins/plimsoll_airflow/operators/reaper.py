"""The task of the DAG `reaper`."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from plimsoll.domain.cluster import Cluster
from plimsoll.services.reaping import Reaped, reap
from plimsoll_airflow.ownership import CELL_DAG, LIVE_STATES, CellRun
from plimsoll_airflow.toolkit import toolkit

if TYPE_CHECKING:
    from airflow.sdk import Context
    from airflow.sdk.types import RuntimeTaskInstanceProtocol


class Reap(BaseOperator):
    """Destroy every cluster that no live run of the DAG `cell` owns; with `campaign_id` every one of that campaign."""

    def execute(self, context: "Context") -> dict[str, list[str]]:
        """Keys of the clusters destroyed (with `dry_run`: that would be) and kept. Fails if one resisted."""
        ti, params, now = context["ti"], context["params"], datetime.now(UTC)
        campaign_id, dry_run = params.get("campaign_id"), bool(params["dry_run"])

        def is_kept(cluster: Cluster) -> bool:
            return cluster.key.campaign_id != campaign_id if campaign_id else is_owned(cluster, ti, now)

        reaped = reap(toolkit(), is_kept, dry_run=dry_run)
        self._tell(reaped, dry_run=dry_run)
        if reaped.failed:
            raise AirflowFailException("; ".join(f"{cluster.key}: {why}" for cluster, why in reaped.failed))
        return {"destroyed": _keys(reaped.destroyed), "kept": _keys(reaped.kept)}

    def _tell(self, reaped: Reaped, *, dry_run: bool) -> None:
        for cluster in reaped.kept:
            self.log.info("kept %s, owned by %s", cluster.key, cluster.owner)
        for cluster in reaped.destroyed:
            self.log.info("%s %s, left by %s", "would destroy" if dry_run else "destroyed", cluster.key, cluster.owner)
        for cluster, why in reaped.failed:
            self.log.error("%s resisted: %s", cluster.key, why)
        if not (reaped.kept or reaped.destroyed or reaped.failed):
            self.log.info("no cluster is alive")


def is_owned(cluster: Cluster, ti: "RuntimeTaskInstanceProtocol", now: datetime) -> bool:
    """Whether a run that has not ended holds the cluster; others than Airflow hold theirs until it expires."""
    run = CellRun.parse(cluster.owner)
    if run is None:
        return cluster.expires_at > now
    return bool(ti.get_dr_count(CELL_DAG, run_ids=[run.run_id], states=LIVE_STATES))


def _keys(clusters: Any) -> list[str]:
    return [str(cluster.key) for cluster in clusters]
