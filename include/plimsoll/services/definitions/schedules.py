"""Check a definition's schedule with croniter, which Airflow uses too."""

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, available_timezones

from croniter import CroniterError, croniter

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.spelling import meant

_FIELDS = 5
_MEND = (
    "write five fields: minute, hour, day of month, month, day of week; `30 6 * * 1` is every Monday at half past six. "
    "Or one of @hourly, @daily, @weekly, @monthly, @quarterly, @yearly"
)
_QUARTERLY = "@quarterly"
"""Airflow's own, beside those that croniter knows."""


def schedule_problems(definition: Definition) -> Iterator[Problem]:
    """Yield the faults of the schedule and its time zone; empty for a definition without a schedule."""
    if definition.schedule is None:
        return
    if (fault := _fault(definition.schedule)) is not None:
        yield Problem("schedule", f"{definition.schedule!r} {fault}", _MEND)
    if not _is_zone(definition.timezone):
        guess = meant(definition.timezone, available_timezones())
        what = f"{definition.timezone!r} is no time zone"
        yield Problem("timezone", what, f"{guess} write its name in the IANA database, such as Europe/Berlin".strip())


def _fault(schedule: str) -> str | None:
    if schedule == _QUARTERLY:
        return None
    if not schedule.startswith("@") and len(schedule.split()) != _FIELDS:
        return f"has {len(schedule.split())} fields, not {_FIELDS}"
    try:
        times = croniter(schedule, datetime(2024, 1, 1, tzinfo=UTC))
    except (CroniterError, ValueError, KeyError):
        return "is no cron expression"
    try:
        times.get_next()
    except CroniterError:
        return "names a day that never comes"
    return None


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo("UTC" if name == "utc" else name)  # Airflow knows that one in small letters, too
    except (OSError, ValueError, KeyError):  # an unknown one is a KeyError, a folder or a path the others
        return False
    return True
