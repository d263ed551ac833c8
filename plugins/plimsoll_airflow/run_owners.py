"""Whether runs of the DAG `cell` are alive, for tasks that look for the owner of an attempt."""

from typing import TYPE_CHECKING

from plimsoll.ports.owners import Owners
from plimsoll_airflow.ownership import CELL_DAG, LIVE_STATES, CellRun

if TYPE_CHECKING:
    from airflow.sdk.types import RuntimeTaskInstanceProtocol


class RunOwners:
    """An implementation of the Owners port in a task of the run `own`. `others` answers for owners that are no runs."""

    def __init__(self, others: Owners, ti: "RuntimeTaskInstanceProtocol", own: CellRun) -> None:
        self._others, self._ti, self._own = others, ti, own

    def me(self) -> str:
        """Return the token of this process."""
        return self._others.me()

    def is_alive(self, owner: str) -> bool | None:
        """Tell whether that run has not ended; None for runs of another Airflow. An earlier pass of the own run has."""
        run = CellRun.parse(owner)
        if run is None:
            return self._others.is_alive(owner)
        if run.installation != self._own.installation:
            return None
        if run.run_id == self._own.run_id:
            return False
        return bool(self._ti.get_dr_count(CELL_DAG, run_ids=[run.run_id], states=LIVE_STATES))
