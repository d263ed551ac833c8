"""Notices about campaigns whose definition asks for them: a run ended incomplete, or did not start when it was due."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import NotFound
from plimsoll.services.campaign.progress import campaign_progress
from plimsoll.services.campaign.request import campaign_id_of
from plimsoll_airflow import internals, notices
from plimsoll_airflow.catalogue import timetable
from plimsoll_airflow.toolkit import toolkit

GRACE = timedelta(minutes=15)
"""How long after its time a campaign may start."""


def when_incomplete(definition: Definition) -> Callable[[Mapping[str, Any]], None] | None:
    """The `on_failure_callback` of a DAG, which sends a notice that its run ended without a report.

    None where the definition asks for no notice.
    """
    if "incomplete" not in definition.notify:
        return None

    def tell(context: Mapping[str, Any]) -> None:
        title = f"Plimsoll: a campaign of {definition.name} has ended incomplete"
        notices.send(context, title, "\n".join(_ending(definition, context)))

    return tell


def due_times(definition: Definition, since: datetime, until: datetime) -> Iterator[datetime]:
    """The times at which campaigns of the definition were due after `since`, up to and including `until`."""
    schedule = timetable(definition)
    return iter(()) if schedule is None else internals.due_times(schedule, since, until)


def _ending(definition: Definition, context: Mapping[str, Any]) -> Iterator[str]:
    """What is known about a failed run."""
    run = context.get("dag_run")
    yield f"run {context['run_id']} of the DAG {definition.dag_id} failed: {context.get('reason') or 'no reason given'}"
    if run is None:
        return
    campaign_id = campaign_id_of(definition, run.conf, run.run_after)
    yield f"campaign: {campaign_id}"
    with suppress(NotFound):  # a campaign that was refused has no place in the store
        progress = campaign_progress(toolkit().store, campaign_id, now=datetime.now(UTC))
        yield f"cells with a valid attempt: {progress.count('met', 'missed')} of {len(progress.cells)}"
        for cell in progress.cells:
            if cell.reason:
                yield f"{cell.cell.id}, attempt {cell.attempt}: {cell.reason}"
