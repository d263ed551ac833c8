"""Find the times at which runs are due. Read in Airflow 3.3.2, 3.2.2 and 3.1.8."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll_airflow.internals.moved import CronTriggerTimetable


def due_times(timetable: "CronTriggerTimetable", since: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the times at which runs were due after `since`, up to and including `until`, by the scheduler's rules.

    Uses `coerce_to_core_timetable` and `next_dagrun_info` as the scheduler does: the timetable of `airflow.sdk` has no
    times itself, and no API tells of times past at which no run began.
    """
    from airflow.sdk import timezone
    from airflow.timetables.base import DataInterval, TimeRestriction

    restriction = TimeRestriction(earliest=None, latest=None, catchup=True)
    core, last = core_timetable(timetable), DataInterval.exact(timezone.coerce_datetime(since))
    while info := core.next_dagrun_info(last_automated_data_interval=last, restriction=restriction):
        if info.run_after > until:
            return
        yield info.run_after
        last = DataInterval.exact(info.run_after)


def core_timetable(timetable: Any) -> Any:
    """Return the scheduler's timetable for one of `airflow.sdk`."""
    try:
        from airflow.serialization.encoders import coerce_to_core_timetable
    except ImportError:  # 3.1 has one kind of timetable
        return timetable
    return coerce_to_core_timetable(timetable)
