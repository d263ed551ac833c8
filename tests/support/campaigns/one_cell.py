"""Run one cell of a campaign in this process, without Airflow."""

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.text.errors import PlimsollError
from plimsoll.ports.controller import Log
from plimsoll.services.steps.running import run_cells
from plimsoll.services.toolkit import Toolkit


def run_cell(toolkit: Toolkit, campaign_id: str, cell_id: str, owner: str, log: Log) -> Verdict:
    """Run a cell from provisioning to verdict, as `run_cells` does. The verdict is that of its newest attempt.

    In every case its cluster is destroyed and its logs are kept. Raises PlimsollError where the attempt could not be
    judged, or something of its cluster remains.
    """
    ran = run_cells(toolkit, campaign_id, [cell_id], owner, log)[-1]
    if ran.verdict is None or ran.remains:
        raise PlimsollError("; ".join(ran.troubles), where=str(ran.work.key))
    return ran.verdict
