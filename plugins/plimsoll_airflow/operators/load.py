"""The task `load`: start or attach in a worker, wait in the triggerer."""

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from airflow.sdk.exceptions import AirflowFailException

from plimsoll.services import phases
from plimsoll.services.attempts import Work
from plimsoll_airflow.operators.cell import PhaseTask
from plimsoll_airflow.triggers.load import LoadTrigger

if TYPE_CHECKING:
    from airflow.sdk import Context

MARGIN = timedelta(hours=1)
"""What a load may take beyond its defined duration, populating included, before it is given up."""


class Load(PhaseTask):
    """Start the load, or attach to the one that runs, and follow it to its end."""

    phase = "load"

    def execute(self, context: "Context") -> None:
        """Start, and hand over to the trigger."""
        super().execute(context)
        work = self.attempt(context)
        timeout = work.definition.timing.duration + MARGIN
        self.defer(trigger=LoadTrigger(str(work.key), context["run_id"]), method_name="end", timeout=timeout)

    def run_phase(self, work: Work) -> Iterable[str]:
        """The load runs, detached."""
        phases.start_load(work)
        return ["the load is started; what follows is its progress, as the triggerer sees it"]

    def end(self, context: "Context", event: str) -> None:  # noqa: ARG002
        """Fail with the reason that the trigger gives. A load that completed was ended by the trigger itself."""
        if event != "success":
            raise AirflowFailException(event)
