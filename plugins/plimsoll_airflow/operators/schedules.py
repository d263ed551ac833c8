"""The task of the DAG `schedules`: campaigns that did not start when they were due, or are about to end too late."""

import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain

from airflow.sdk import BaseOperator, Context
from airflow.sdk.types import RuntimeTaskInstanceProtocol

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaigns_by_definition
from plimsoll.settings import Settings
from plimsoll_airflow.internals.moved import is_paused
from plimsoll_airflow.runs import notices
from plimsoll_airflow.runs.notices import GRACE, due_times
from plimsoll_airflow.runs.ownership import LIVE_STATES
from plimsoll_airflow.wiring.core import toolkit
from plimsoll_airflow.wiring.definitions import sound_definitions

_log = logging.getLogger(__name__)
FIRST_LOOK = timedelta(hours=1)
"""The time before now from which on the first run looks."""


class WatchSchedules(BaseOperator):
    """Check every time that was due since the last successful run of this task, and report those at which no run began.

    It also reports campaigns under way that will end too late.
    """

    def execute(self, context: Context) -> list[str]:
        """Return a sentence for each campaign that was missed. A DAG that is paused now misses nothing."""
        # From the start of the last run that succeeded to that of this one, so that each time counts once
        until = context["dag_run"].start_date or datetime.now(UTC)
        since = context["prev_start_date_success"] or until - FIRST_LOOK
        definitions = list(watched())
        _tell_of_late_ones(list(filter(_may_be_late, definitions)), context)
        since, until = since - GRACE, until - GRACE
        missed = [line for definition in definitions for line in _missed(definition, context["ti"], since, until)]
        for line in missed:
            self.log.warning(line)
        if missed:
            notices.send(dict(context), "Plimsoll: not every scheduled campaign has started", "\n".join(missed))
        return missed


def watched() -> Iterator[Definition]:
    """Yield the definitions that ask for such reports."""
    for definition in sound_definitions(Settings()):
        if (definition.schedule and "missed-schedule" in definition.notify) or _may_be_late(definition):
            yield definition


def _may_be_late(definition: Definition) -> bool:
    return definition.finish_by is not None and "late" in definition.notify


def _tell_of_late_ones(definitions: Sequence[Definition], context: Context) -> None:
    """Tell of their campaigns that run and are late. What was told, or has ended, is not looked at again."""
    store = toolkit().store
    campaigns = campaigns_by_definition(store) if definitions else {}
    for campaign_id in chain.from_iterable(campaigns.get(definition.name, ()) for definition in definitions):
        if layout.LATE.exists(store, campaign_id) or layout.TOTALS.exists(store, campaign_id):
            continue
        try:
            notices.tell_if_late(dict(context), CampaignStore(store, campaign_id), begins=False)
        except (NotFound, DamagedRecord, DefinitionError) as error:  # it says nothing of the other campaigns
            _log.warning("whether campaign %s is late can't be told: %s", campaign_id, error)


def _missed(definition: Definition, ti: RuntimeTaskInstanceProtocol, since: datetime, until: datetime) -> Iterator[str]:
    due = list(due_times(definition, since, until)) if "missed-schedule" in definition.notify else []
    if not due or is_paused(ti, definition.dag_id):
        return
    busy = ti.get_dr_count(definition.dag_id, states=LIVE_STATES)
    # A task can't ask since when the DAG is unpaused
    idle = "none is under way; was Airflow down, short of slots, or the DAG still paused at that time?"
    why = "an earlier one is still under way" if busy else idle
    for at in due:
        if not ti.get_dr_count(definition.dag_id, logical_dates=[at]):
            yield f"{definition.name}: the campaign due at {at:%Y-%m-%d %H:%M %Z} has not started: {why}"
