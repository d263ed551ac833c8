"""The task of the DAG `schedules`, which reports campaigns that did not start when they were due."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from airflow.sdk import BaseOperator

from plimsoll.domain.definition.definition import Definition
from plimsoll.settings import Settings
from plimsoll_airflow.internals.moved import is_paused
from plimsoll_airflow.runs import notices
from plimsoll_airflow.runs.notices import GRACE, due_times
from plimsoll_airflow.runs.ownership import LIVE_STATES
from plimsoll_airflow.wiring.definitions import sound_definitions

if TYPE_CHECKING:
    from airflow.sdk import Context
    from airflow.sdk.types import RuntimeTaskInstanceProtocol

FIRST_LOOK = timedelta(hours=1)
"""The time before now from which on the first run looks."""


class WatchSchedules(BaseOperator):
    """Check every time that was due since the last successful run of this task, and report those without a run."""

    def execute(self, context: "Context") -> list[str]:
        """Return a sentence for each campaign that was missed. A paused DAG misses nothing."""
        until = context["dag_run"].start_date or datetime.now(UTC)
        since = context["prev_start_date_success"] or until - FIRST_LOOK
        missed = [line for one in watched() for line in _missed(one, context["ti"], since - GRACE, until - GRACE)]
        for line in missed:
            self.log.warning(line)
        if missed:
            notices.send(dict(context), "Plimsoll: not every scheduled campaign has started", "\n".join(missed))
        return missed


def watched() -> Iterator[Definition]:
    """Yield the definitions that ask for such reports."""
    for definition in sound_definitions(Settings()):
        if definition.schedule and "missed-schedule" in definition.notify:
            yield definition


def _missed(
    definition: Definition, ti: "RuntimeTaskInstanceProtocol", since: datetime, until: datetime
) -> Iterator[str]:
    due = list(due_times(definition, since, until))
    if not due or is_paused(ti, definition.dag_id):
        return
    busy = ti.get_dr_count(definition.dag_id, states=LIVE_STATES)
    why = "an earlier one is still under way" if busy else "none is under way; was Airflow down, or short of slots?"
    for at in due:
        if not ti.get_dr_count(definition.dag_id, logical_dates=[at]):
            yield f"{definition.name}: the campaign due at {at:%Y-%m-%d %H:%M %Z} has not started: {why}"
