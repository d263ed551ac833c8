"""Find out whether owners of attempts are alive, by Airflow's own database of runs."""

from dataclasses import replace

from plimsoll.ports.owners import Owners
from plimsoll.services.toolkit import Toolkit
from plimsoll_airflow.installation import find_installation
from plimsoll_airflow.internals.api_server import find_run
from plimsoll_airflow.ownership import CELL_DAG, CampaignRunOwner, CellRun
from plimsoll_airflow.wiring import toolkit


class RunsAndProcesses:
    """An implementation of the Owners port: Airflow's database answers for runs, another port for processes."""

    def __init__(self, processes: Owners) -> None:
        self._processes = processes

    def me(self) -> str:
        """Return the token of this process."""
        return self._processes.me()

    def is_alive(self, owner: str) -> bool | None:
        """Tell whether that run (for a cell's run: that pass) continues. None for runs that are not in the database."""
        run = CampaignRunOwner.parse(owner) or CellRun.parse(owner)
        if run is None:
            return self._processes.is_alive(owner)
        if run.installation != find_installation():
            return None
        if isinstance(run, CampaignRunOwner):
            found = find_run(run.dag_id, run.run_id)
            return None if found is None else found.is_live
        found = find_run(CELL_DAG, run.run_id)
        return None if found is None else found.is_live and found.clear_number == run.clear_number


def watching_toolkit() -> Toolkit:
    """Return the toolkit with the owners known to Airflow."""
    tools = toolkit()
    return replace(tools, owners=RunsAndProcesses(tools.owners))
