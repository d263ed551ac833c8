"""What is public since Airflow 3.2, and in 3.1 lies elsewhere or is not; and what else differs.

Read in Airflow 3.3.2, 3.2.2 and 3.1.8.
"""

from datetime import datetime
from typing import Any

from airflow import __version__
from packaging.version import Version

try:
    from airflow.sdk import AssetOrTimeSchedule, CronTriggerTimetable, conf
    from airflow.sdk.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowRescheduleException,
        AirflowSkipException,
        AirflowTaskTimeout,
        ParamValidationError,
        TaskDeferralTimeout,
    )
except ImportError:  # 3.1: `airflow.sdk` has none of them
    from airflow.configuration import conf  # type: ignore[assignment]
    from airflow.exceptions import (  # type: ignore[attr-defined,no-redef]
        AirflowException,
        AirflowFailException,
        AirflowRescheduleException,
        AirflowSkipException,
        AirflowTaskTimeout,
        ParamValidationError,
        TaskDeferralTimeout,
    )
    from airflow.timetables.assets import AssetOrTimeSchedule  # type: ignore[assignment]
    from airflow.timetables.trigger import CronTriggerTimetable  # type: ignore[assignment]

__all__ = [
    "COUNTS_WAITING_TASKS", "MARKS_OF_EVENTS", "AirflowException", "AirflowFailException", "AirflowRescheduleException",
    "AirflowSkipException", "AirflowTaskTimeout", "AssetOrTimeSchedule", "CronTriggerTimetable", "ParamValidationError",
    "TaskDeferralTimeout", "asset_events", "conf", "is_paused",
]  # fmt: skip

COUNTS_WAITING_TASKS = Version(__version__) >= Version("3.2.2")
"""Whether tasks that wait in a triggerer count among those of which a DAG run may have only some at a time."""


MARKS_OF_EVENTS = frozenset({"from_rest_api", "from_trigger"})
"""Keys that Airflow itself puts into the `extra` of an asset's events: how they came."""


def asset_events(context: Any, asset: Any, since: datetime, most: int) -> list[Any]:
    """Return the events of a task's inlet since that time, the newest first, and no more than `most`.

    A task of 3.1 can't ask for some, and gets all of them.
    """
    events = context["inlet_events"][asset]
    if hasattr(events, "after"):
        events = events.after(since.isoformat()).ascending(False).limit(most)
    since_then = (event for event in events if event.timestamp >= since)
    return sorted(since_then, key=lambda event: event.timestamp, reverse=True)[:most]


def is_paused(ti: Any, dag_id: str) -> bool:
    """Tell a task whether that DAG is paused. A task of 3.1 can't ask: False, and runs of a paused DAG wait."""
    return hasattr(ti, "get_dag") and bool(ti.get_dag(dag_id).is_paused)
