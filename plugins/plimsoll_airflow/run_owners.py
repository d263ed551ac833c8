"""Whether runs of the DAG `cell` are alive, for tasks that look for the owner of an attempt."""

from typing import TYPE_CHECKING

from plimsoll.ports.owners import Owners
from plimsoll_airflow.ownership import CELL_DAG, LIVE_STATES, CellRun

if TYPE_CHECKING:
    from airflow.sdk.types import RuntimeTaskInstanceProtocol


class RunOwners:
    """Implements the Owners port in a task of the run `run_id`. `others` answers for owners that are no runs."""

    def __init__(self, others: Owners, ti: "RuntimeTaskInstanceProtocol", run_id: str) -> None:
        self._others, self._ti, self._run_id = others, ti, run_id

    def me(self) -> str:
        """The token of this process."""
        return self._others.me()

    def is_alive(self, owner: str) -> bool | None:
        """Whether that run has not ended. An earlier pass of the task's own run has."""
        run = CellRun.parse(owner)
        if run is None:
            return self._others.is_alive(owner)
        if run.run_id == self._run_id:
            return False
        return bool(self._ti.get_dr_count(CELL_DAG, run_ids=[run.run_id], states=LIVE_STATES))
