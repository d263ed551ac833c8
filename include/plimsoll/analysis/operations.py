"""Select the records of response times to judge from logs, by operation: reads or writes."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.hdrlog import HistogramLog, Record
from plimsoll.domain.errors import LogError
from plimsoll.domain.log_remarks import COORDINATED_OMISSION
from plimsoll.domain.spelling import meant_or_known

Measure = Literal["response time", "service time", "wait time", "cycle time", "time of failures", "other figures"]
Floats = npt.NDArray[np.float64]

_JUDGED: tuple[Measure, ...] = ("response time", "service time", "cycle time")
"""Best first: of what several logs hold, the first found is judged."""


@dataclass(frozen=True)
class Track:
    """The records of one operation in the order written. `operation`: `reads`, `writes`, or the operation's own name.

    `log` is the name of the file that holds the records, where they come from a file.
    """

    name: str
    operation: str
    records: tuple[Record, ...]
    log: str = ""

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
        return _median(self.lengths[:-1] if len(self.lengths) > 1 else self.lengths)


def _median(values: Floats) -> float:
    """The median as NumPy computes it; `numpy.median` itself first imports all of its masked arrays."""
    ordered = np.sort(values)
    return float((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)


class Selection(NamedTuple):
    """The tracks to judge, with remarks on how they were selected."""

    tracks: tuple[Track, ...]
    notes: tuple[str, ...]


class Series(NamedTuple):
    """The records of one tag of a log: what they measure, and of which operation (empty: of all operations)."""

    log: HistogramLog
    measure: Measure
    operation: str
    records: tuple[Record, ...]


def select(series: Sequence[Series]) -> Selection:
    """The response times of one run, by operation; service times only where there are no response times.

    Raises LogError when a log is given twice and when there is nothing to judge.
    """
    _refuse_twins([one.log for one in series])
    measure = _best_measure(series)
    chosen = [one for one in series if one.measure == measure]
    tracks = tuple(Track(_track_name(one), one.operation, one.records, one.log.name) for one in chosen)
    return Selection(tracks, tuple(_notes(measure, series)))


def with_tags(series: Sequence[Series], tags: Collection[str]) -> Sequence[Series]:
    """The series with one of the tags; all series where `tags` is empty. Raises LogError for an unknown tag."""
    there = dict.fromkeys(one.records[0].tag for one in series)
    for tag in tags:
        if tag not in there:
            known = [name for name in there if name]
            mend = meant_or_known(tag, known, lead="there is") or "leave `--tags` out: no record has a tag"
            raise LogError(f"no record has the tag {tag!r}", where=series[0].log.name, mend=mend)
    return [one for one in series if one.records[0].tag in tags] if tags else series


def refuse_service_times_beside_response_times(series: Sequence[Series]) -> None:
    """Raise LogError where a file of service times is given together with one of response times."""
    intended = {one.log.name for one in series if one.measure == "response time"}
    for one in series:
        if one.measure == "service time" and intended and one.log.name not in intended:
            raise LogError(
                f"holds service times (from the send), {min(intended)} response times",
                where=one.log.name,
                mend="give only the `.hdr-intended-` logs: response time, from the intended start, is what is judged",
            )


def _refuse_twins(of_series: Sequence[HistogramLog]) -> None:
    logs = list({id(log): log for log in of_series}.values())
    for place, log in enumerate(logs):
        for other in logs[:place]:
            if log.records == other.records:
                raise LogError(f"holds the same records as {other.name}", where=log.name, mend="give each log once")


def _best_measure(series: Sequence[Series]) -> Measure:
    for measure in _JUDGED:
        if any(one.measure == measure for one in series):
            return measure
    names = ", ".join(sorted({one.log.name for one in series}))
    raise LogError("holds neither response nor service times", where=names, mend="give the log of response times")


def _track_name(series: Series) -> str:
    tag = series.records[0].tag
    return f"{series.log.name} ({tag})" if tag else series.log.name


def _notes(measure: Measure, series: Sequence[Series]) -> Iterator[str]:
    others = sorted({one.measure for one in series if one.measure != measure})
    if others:
        yield f"{measure} is judged; the logs' {' and '.join(others)} left aside"
    if measure in ("service time", "cycle time"):
        yield f"judged on {measure}: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
