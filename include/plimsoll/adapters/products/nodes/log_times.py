"""The times that nodes write at their lines: to the millisecond, after a comma, without a zone. Pure."""

import re
from collections.abc import Sequence
from datetime import datetime, tzinfo

from plimsoll.domain.log_events import LogLine


def time_of(line: re.Match[str], zone: tzinfo) -> datetime:
    """Parse the group `time` of a matched line."""
    return datetime.strptime(line["time"], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=zone)


def timed_lines(pattern: re.Pattern[str], text: str, zone: tzinfo) -> Sequence[LogLine]:
    """Return the lines that begin as the pattern says."""
    matches = filter(None, map(pattern.match, text.splitlines()))
    return tuple(LogLine(time_of(match, zone), match[0]) for match in matches)
