"""Check a definition's schedule with croniter, which Airflow uses too."""

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, available_timezones

from croniter import CroniterError, croniter

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.wording import nearest

_FIELDS = 5
_MEND = (
    "write five fields: minute, hour, day of month, month, day of week; `30 6 * * 1` is every Monday at half past six. "
    "Or one of @hourly, @daily, @weekly, @monthly, @quarterly, @yearly"
)
_ANY_PLACE = "the name of a place in the IANA database, such as Europe/Berlin, whose summer time is followed"
_QUARTERLY = "@quarterly"
"""Airflow's own, beside those that croniter knows."""


def schedule_problems(definition: Definition) -> Iterator[Problem]:
    """Yield the faults of the schedule and its time zone; empty for a definition without a schedule."""
    if definition.schedule is None:
        return
    if (fault := _fault(definition.schedule)) is not None:
        yield Problem("schedule", f"{definition.schedule!r} {fault}", _MEND)
    if not _is_zone(definition.timezone):
        place = _zone_meant(definition.timezone) or _ANY_PLACE
        yield Problem("timezone", f"{definition.timezone!r} is no time zone", f"write {place}")


def _fault(schedule: str) -> str | None:
    if schedule == _QUARTERLY:
        return None
    # Croniter also takes six and seven fields, with seconds and years
    if not schedule.startswith("@") and len(schedule.split()) != _FIELDS:
        return f"has {len(schedule.split())} fields, not {_FIELDS}"
    try:
        times = croniter(schedule, datetime(2024, 1, 1, tzinfo=UTC))
    except (CroniterError, ValueError, KeyError):
        return "is no cron expression"
    try:
        # Croniter takes 30 February, and fails only when it looks for that day
        times.get_next()
    except CroniterError:
        return "names a day that never comes"
    return None


def _zone_meant(name: str) -> str | None:
    """Return the zone of the place that is named, perhaps misspelt; None for abbreviations and offsets.

    These resemble others that mean another time: `CEST` and `EST`, `GMT+2` and `Etc/GMT+2`, which is west of Greenwich.
    """
    zones = {zone.lower(): zone for zone in available_timezones() if "/" in zone and not zone.startswith("Etc/")}
    written = name.strip().lower().replace(" ", "_")
    cities = {zone.rpartition("/")[2]: zones[zone] for zone in sorted(zones, reverse=True)}
    if city := cities.get(written.rpartition("/")[2]):
        return city
    return nearest(written, zones.values(), least=0.85) if "/" in written else None


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo("UTC" if name == "utc" else name)  # Airflow knows that one in small letters, too
    except (OSError, ValueError, KeyError):  # an unknown one is a KeyError, a folder or a path the others
        return False
    return True
