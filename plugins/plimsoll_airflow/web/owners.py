"""Whether owners of attempts are alive, by Airflow's own database of runs."""

from dataclasses import replace

from plimsoll.ports.owners import Owners
from plimsoll.services.toolkit import Toolkit
from plimsoll_airflow.internals.api_server import find_run
from plimsoll_airflow.ownership import CELL_DAG, CampaignRun, CellRun
from plimsoll_airflow.toolkit import toolkit


class RunsAndProcesses:
    """Implements the Owners port: Airflow's database answers for runs, another port for processes."""

    def __init__(self, processes: Owners) -> None:
        self._processes = processes

    def me(self) -> str:
        """The token of this process."""
        return self._processes.me()

    def is_alive(self, owner: str) -> bool | None:
        """Whether that run (for a cell's run: that pass) continues. None for a run that this Airflow does not know."""
        if of_campaign := CampaignRun.parse(owner):
            found = find_run(of_campaign.dag_id, of_campaign.run_id)
            return None if found is None else found.is_live
        pass_ = CellRun.parse(owner)
        if pass_ is None:
            return self._processes.is_alive(owner)
        run = find_run(CELL_DAG, pass_.run_id)
        return None if run is None else run.is_live and run.clear_number == pass_.clear_number


def watching_toolkit() -> Toolkit:
    """The toolkit with the owners known to Airflow."""
    tools = toolkit()
    return replace(tools, owners=RunsAndProcesses(tools.owners))
