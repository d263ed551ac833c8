"""When: time spans as systemd writes them, times as `shutdown` takes them."""

import re
from datetime import datetime, timedelta

_UNITS = {
    "s": 1, "sec": 1, "second": 1, "seconds": 1, "": 1, "ms": 0.001, "msec": 0.001, "us": 1e-6, "usec": 1e-6,
    "m": 60, "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600,
    "d": 86400, "day": 86400, "days": 86400, "w": 604800, "week": 604800, "weeks": 604800,
}  # fmt: skip
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*")
_CALENDAR = re.compile(r"@(\d+(?:\.\d+)?)$")


def span_seconds(text: str) -> float:
    """`90`, `5min`, `1h 30min` in seconds. ValueError when it is none."""
    total, rest = 0.0, text.strip()
    if not rest:
        raise ValueError("an empty time span")
    while rest:
        part = _PART.match(rest)
        if part is None or part[2] not in _UNITS:
            raise ValueError(f"not a time span: {text!r}")
        total, rest = total + float(part[1]) * _UNITS[part[2]], rest[part.end() :]
    return total


def calendar_seconds(text: str, now: datetime) -> float:
    """Return seconds from `now` (aware) to `@1700000000` or `2026-01-02 03:04:05 UTC`.

    ValueError for recurring moments.
    """
    stamp = _CALENDAR.match(text.strip())
    if stamp is not None:
        return float(stamp[1]) - now.timestamp()
    words = text.strip().removesuffix("UTC").removesuffix("Z").strip()
    moment = datetime.fromisoformat(words.replace(" ", "T"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)).timestamp() - now.timestamp()


def shutdown_seconds(when: str, now: datetime) -> float:
    """`now`, `+minutes`, a number of minutes, `hh:mm`: seconds until then."""
    if when == "now":
        return 0.0
    clock = re.fullmatch(r"(\d{1,2}):(\d{2})", when)
    if clock is None:
        return float(when.removeprefix("+")) * 60
    moment = now.replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
    return ((moment if moment > now else moment + timedelta(days=1)) - now).total_seconds()
