"""Which records of which logs are the response times to judge, and whose: reads or writes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.hdrlog import HistogramLog, Record
from plimsoll.analysis.layout import Unit
from plimsoll.domain.errors import LogError

Measure = Literal["response time", "service time", "wait time", "cycle time", "time of failures"]
Floats = npt.NDArray[np.float64]

WRITES, READS = "writes", "reads"
KINDS: dict[str, str] = {
    **dict.fromkeys(("mutations", "mutation", "writes", "write", "inserts", "insert", "updates", "update"), WRITES),
    **dict.fromkeys(("deletions", "deletes", "delete", "batches", "batch", "counter_write"), WRITES),
    **dict.fromkeys(("selects", "select", "reads", "read", "scans", "scan", "counter_read"), READS),
}
"""Operation names of load generators, in small letters → the kind of query."""

_CASSANDRA_STRESS: dict[str, Measure] = {"rt": "response time", "st": "service time", "wt": "wait time"}
_LATTE: dict[str, Measure] = {"requests": "service time", "cycles": "cycle time"}
_JUDGED: tuple[Measure, ...] = ("response time", "service time", "cycle time")
"""Best first: of what several logs hold, the first found is judged."""

_HDR_FILE = re.compile(r"\.hdr-(?P<intended>intended-)?(?P<operation>[\w-]+?)(\.gz)?$")
_ERRORS_FILE = re.compile(r"\.hdr\.errors(\.gz)?$")
_STEM = re.compile(r"(?P<operation>[^/\\]+?)(\.(hdr|hlog|log|gz))*$")


@dataclass(frozen=True)
class Track:
    """The records of one operation in the order written. `operation`: `reads`, `writes`, or a name of its own."""

    name: str
    operation: str
    records: tuple[Record, ...]

    @cached_property
    def starts(self) -> Floats:
        """When each record begins, s since the epoch."""
        return np.array([record.start_s for record in self.records])

    @cached_property
    def lengths(self) -> Floats:
        """How long each record is, s."""
        return np.array([record.length_s for record in self.records])

    @cached_property
    def ends(self) -> Floats:
        """When each record ends, s since the epoch."""
        return self.starts + self.lengths

    @cached_property
    def record_s(self) -> float:
        """The usual length of a record; the last may be a stub."""
        return float(np.median(self.lengths[:-1] if len(self.lengths) > 1 else self.lengths))


class Selection(NamedTuple):
    """The tracks to judge and remarks on how they were chosen."""

    tracks: tuple[Track, ...]
    notes: tuple[str, ...]


class _Series(NamedTuple):
    log: HistogramLog
    measure: Measure
    operation: str
    records: tuple[Record, ...]


def default_unit(logs: Sequence[HistogramLog]) -> Unit:
    """Nanoseconds for the logs of cassandra-stress and latte, else microseconds (Plimsoll's own and tlp-stress')."""
    return "ns" if any(_counts_nanoseconds(log) for log in logs) else "us"


def _counts_nanoseconds(log: HistogramLog) -> bool:
    tags = set(log.by_tag())
    return bool(tags & _LATTE.keys()) or any(_stress_suffix(tag) for tag in tags)


def select_tracks(logs: Sequence[HistogramLog], kinds: Mapping[str, str] | None = None) -> Selection:
    """The response times of one run's logs, by operation; service times only where there is nothing better.

    A log that does not say what it holds is taken to hold response times. `kinds` maps further operation names to
    `reads` or `writes`. Raises LogError when a log is given twice, when a file of service times stands beside one of
    response times, and when there is nothing to judge.
    """
    _refuse_twins(logs)
    series = [one for log in logs for one in _series(log, {**KINDS, **(kinds or {})})]
    _refuse_service_times_beside_response_times(series)
    measure = _best_measure(series)
    chosen = [one for one in series if one.measure == measure]
    tracks = tuple(Track(_track_name(one), one.operation, one.records) for one in chosen)
    return Selection(tracks, tuple(_notes(measure, series)))


def _series(log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[_Series]:
    for tag, records in log.by_tag().items():
        by_file = not tag or _ERRORS_FILE.search(log.name)
        measure, name = _named_by_file(log.name, kinds) if by_file else _named_by_tag(tag)
        yield _Series(log, measure, kinds.get(name.lower(), name), records)


def _named_by_tag(tag: str) -> tuple[Measure, str]:
    if tag in _LATTE:
        return _LATTE[tag], ""
    suffix = _stress_suffix(tag)
    return (_CASSANDRA_STRESS[suffix], tag.removesuffix(f"-{suffix}")) if suffix else ("response time", tag)


def _named_by_file(name: str, kinds: Mapping[str, str]) -> tuple[Measure, str]:
    """`X.hdr-intended-selects`: response times of selects; `X.hdr-selects`: service times; `X.hdr.errors`: failures."""
    if _ERRORS_FILE.search(name):
        return "time of failures", ""
    match = _HDR_FILE.search(name)
    if match:
        return ("response time" if match["intended"] else "service time"), match["operation"]
    stem = _STEM.search(name)
    operation = stem["operation"] if stem else ""
    return "response time", operation if operation.lower() in kinds else ""


def _stress_suffix(tag: str) -> str:
    _, dash, suffix = tag.rpartition("-")
    return suffix if dash and suffix in _CASSANDRA_STRESS else ""


def _refuse_twins(logs: Sequence[HistogramLog]) -> None:
    for place, log in enumerate(logs):
        for other in logs[:place]:
            if log.records == other.records:
                raise LogError(f"holds the same records as {other.name}", where=log.name, mend="give each log once")


def _refuse_service_times_beside_response_times(series: Sequence[_Series]) -> None:
    intended = {one.log.name for one in series if one.measure == "response time"}
    for one in series:
        if one.measure == "service time" and intended and one.log.name not in intended:
            raise LogError(
                f"holds service times (from the send), {min(intended)} response times",
                where=one.log.name,
                mend="give only the `.hdr-intended-` logs: response time, from the intended start, is what is judged",
            )


def _best_measure(series: Sequence[_Series]) -> Measure:
    for measure in _JUDGED:
        if any(one.measure == measure for one in series):
            return measure
    names = ", ".join(sorted({one.log.name for one in series}))
    raise LogError("holds neither response nor service times", where=names, mend="give the log of response times")


def _track_name(series: _Series) -> str:
    tag = series.records[0].tag
    return f"{series.log.name} ({tag})" if tag else series.log.name


def _notes(measure: Measure, series: Sequence[_Series]) -> Iterator[str]:
    others = sorted({one.measure for one in series if one.measure != measure})
    if others:
        yield f"{measure} is judged; the logs' {' and '.join(others)} left aside"
    if measure in ("service time", "cycle time"):
        yield f"judged on {measure}: a stall hides the operations that were due in it (coordinated omission)"
