"""Who of those that work at attempts is alive, as Airflow's own database knows of its runs."""

from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from sqlalchemy import select

from plimsoll.ports.owners import Owners
from plimsoll_airflow.ownership import CELL_DAG, LIVE_STATES, CellRun


class RunsAndProcesses:
    """Implements the Owners port: runs of the DAG `cell` by Airflow's database, processes by another port."""

    def __init__(self, processes: Owners) -> None:
        self._processes = processes

    def me(self) -> str:
        """The token of this process."""
        return self._processes.me()

    def is_alive(self, owner: str) -> bool | None:
        """Whether that pass of the run goes on. None for a run that this Airflow does not know."""
        run = CellRun.parse(owner)
        if run is None:
            return self._processes.is_alive(owner)
        wanted = select(DagRun.state, DagRun.clear_number).where(DagRun.dag_id == CELL_DAG, DagRun.run_id == run.run_id)
        with create_session() as session:
            found = session.execute(wanted).first()
        if found is None:
            return None
        state, clear_number = found
        return state in LIVE_STATES and clear_number == run.clear_number
