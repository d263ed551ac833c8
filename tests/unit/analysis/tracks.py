"""Records of one log, given by their times."""

from tests.support.campaigns.interval_logs import line, log, payload

from plimsoll.analysis.logs.hdr.hdrlog import read_log
from plimsoll.analysis.logs.operations import Track

ONE = payload([1])


def track(*times: tuple[float, float], name: str = "x") -> Track:
    """Return records given as (start, length)."""
    return Track(name, "reads", read_log(log(line(start, length, ONE) for start, length in times), name).records)


def steady(count: int, length: float = 1.0, start: float = 0.0, name: str = "x") -> Track:
    """Make so many records of one length without a gap."""
    return track(*((start + place * length, length) for place in range(count)), name=name)
