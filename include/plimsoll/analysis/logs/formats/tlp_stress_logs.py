"""Interval logs of Plimsoll's load generator, and of tlp-stress as Azul modified it: their names and first comments."""

import re

from plimsoll.analysis.logs.formats.units import FoundUnit
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog

LOGGING_FOR = re.compile(r"\[Logging for: (?P<name>[^\]]+)\]")
"""A comment of YCSB, and of tlp-stress, which took it over with its log writer."""
_NAME = re.compile(r"\.hdr-(?P<intended>intended-)?(?P<operation>[\w-]+?)(\.gz)?$", re.IGNORECASE)
_PLIMSOLL = re.compile(r"\[plimsoll\.stress: .*, microseconds;")


def logged_name(comment: str) -> re.Match[str] | None:
    """Return the name of a log of tlp-stress, `X.hdr-INTENDED-READS`, in a comment of the log.

    None where there is none.
    """
    found = LOGGING_FOR.search(comment)
    return _NAME.search(found["name"]) if found else None


def name_of(log: HistogramLog) -> re.Match[str] | None:
    """Return the name that Plimsoll or tlp-stress gave to a log: `X.hdr-intended-<operation>` or
    `X.hdr-<operation>`.
    """
    return next((found for comment in log.comments if (found := logged_name(comment))), _NAME.search(log.name))


def written_unit(log: HistogramLog) -> FoundUnit | None:
    """Return the unit of a log whose comments show that Plimsoll or tlp-stress wrote it."""
    if any(_PLIMSOLL.search(comment) for comment in log.comments):
        return FoundUnit("us", "Plimsoll's load generator wrote the log, and says so in it")
    if any(logged_name(comment) for comment in log.comments):
        return FoundUnit("us", "the log says that tlp-stress wrote it, which writes us")
    return None


def unit_by_file_name(log: HistogramLog) -> FoundUnit | None:
    """Return the unit of a log that has a name as the two give it.

    Without a comment that says who wrote it, this is a reason for doubt, not for a unit: anybody may give such a name.
    """
    return FoundUnit("us", "Plimsoll and tlp-stress write us into files of such names") if name_of(log) else None
