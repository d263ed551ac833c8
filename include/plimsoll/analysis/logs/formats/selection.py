"""Select what is judged of a run's logs: each operation by its best measure. What is left out is named."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from plimsoll.analysis.logs.hdr.decode import Decoder
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.wording import meant_or_known, plural

Measure = Literal["response time", "service time", "wait time", "cycle time", "time of failures", "other figures"]

JUDGED: tuple[Measure, ...] = ("response time", "service time", "cycle time")
"""The measures, best first: of several measures of one operation, the first found is judged."""

IN_FLIGHT = 0.05
"""Share by which the totals of two measures of the same operations may differ: one of them counts operations in flight
at an interval's edge, or at the end of the run, earlier than the other.
"""


_MEASURED_ALIKE = "give the logs of one run that measured every operation in the same way"


class Series(NamedTuple):
    """The records of one tag of a log: what they measure, and of which operation (empty: of all operations).

    `own_name`: the operation by the tool's own name; `operation`: that, or `reads` or `writes`. `is_known`: whether the
    tool whose format was recognised is known to write this tag. `folder`: where the files of this run's other measures
    are; None where a log holds all measures.
    """

    log: HistogramLog
    measure: Measure
    operation: str
    records: tuple[Record, ...]
    own_name: str = ""
    is_known: bool = True
    folder: str | None = None

    @property
    def name(self) -> str:
        """Return the file's name, with the tag where there is one."""
        tag = self.records[0].tag
        return f"{self.log.name} ({tag})" if tag else self.log.name

    @property
    def place(self) -> str:
        """Return the place where other measures of the same operations are: a log, or a folder of logs."""
        return self.log.name if self.folder is None else self.folder


@dataclass(frozen=True)
class LeftOut:
    """Records that are not judged. `count`: how many values they hold; None where they can't be counted."""

    name: str
    measure: Measure
    operation: str
    count: int | None

    @property
    def sentence(self) -> str:
        """Say for people what is left out."""
        counted = "values of unknown number" if self.count is None else plural(self.count, "value")
        return f"left out: {self.name}, {self.measure}, {counted}"


class Selection(NamedTuple):
    """The tracks to judge, with remarks on how they were selected, and what was left out."""

    tracks: tuple[Track, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def select(series: Sequence[Series]) -> Selection:
    """Return each operation of one run by its best measure.

    Raises LogError when a log is given twice, when there is nothing to judge, and where operations would be dropped:
    an operation with wait times alone, with more service times than response times, or with service times alone in one
    of its logs.
    """
    _refuse_twins([one.log for one in series])
    chosen = _best(series)
    _refuse_waits(series, chosen)
    if not chosen:
        names = ", ".join(sorted({one.log.name for one in series}))
        mend = "give the log of response times; where nothing was answered there is none, and the load was not carried"
        raise LogError("holds neither response nor service times", where=names, mend=mend)
    others = [one for one in series if not any(one is best for best in chosen)]
    left_out = tuple(LeftOut(one.name, one.measure, one.operation, total(one.records, one.name)) for one in others)
    _refuse_to_drop(chosen, others, left_out)
    tracks = tuple(Track(one.name, one.operation, one.records, one.log.name) for one in chosen)
    return Selection(tracks, tuple(_notes(chosen, left_out)), left_out)


def with_tags(series: Sequence[Series], tags: Collection[str]) -> Sequence[Series]:
    """Return the series with one of the tags; all series where `tags` is empty. Raises LogError for an unknown tag."""
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


def total(records: Sequence[Record], name: str) -> int | None:
    """Return the number of values in the records; None where one of them can't be decoded."""
    try:
        return int(Decoder("ns").merge_used(records, name).sum())  # the finest unit, so that the widest values fit
    except LogError:
        return None


def _refuse_twins(of_series: Sequence[HistogramLog]) -> None:
    logs = list({id(log): log for log in of_series}.values())
    for place, log in enumerate(logs):
        for other in logs[:place]:
            both = min(len(log.records), len(other.records))
            same = log.comments == other.comments and log.records[:both] == other.records[:both]
            # Logs of nothing begin alike for as long as both last.
            if same and (
                len(log.records) == len(other.records) or len({record.payload for record in log.records[:both]}) > 1
            ):
                raise LogError(f"holds the same records as {other.name}", where=log.name, mend="give each log once")


def _best(series: Sequence[Series]) -> list[Series]:
    best: dict[str, int] = {}
    for one in series:
        if one.measure in JUDGED:
            rank = JUDGED.index(one.measure)
            best[one.own_name] = min(rank, best.get(one.own_name, rank))
    return [one for one in series if one.own_name in best and one.measure == JUDGED[best[one.own_name]]]


def _refuse_waits(series: Sequence[Series], chosen: Sequence[Series]) -> None:
    """Raise LogError where only the wait times of an operation are there, which do not show how long it took."""
    judged = {one.own_name for one in chosen}
    for one in series:
        if one.measure == "wait time" and one.own_name not in judged:
            mend = "give the whole log, with response or service times of every operation"
            raise LogError("holds wait times alone of its operation", where=one.name, mend=mend)


def _refuse_to_drop(chosen: Sequence[Series], others: Sequence[Series], left_out: Sequence[LeftOut]) -> None:
    """Raise LogError where a worse measure of an operation may hold operations that the judged one does not.

    That is so where it has more values than the judged measure, or comes from a log without that measure.
    """
    dropped: dict[str, int] = {}
    for one, counted in zip(others, left_out, strict=True):
        if one.measure == "service time":
            dropped[one.own_name] = dropped.get(one.own_name, 0) + (counted.count or 0)
    for name, count in dropped.items():
        best = [one for one in chosen if one.own_name == name]
        judged = sum(total(one.records, one.name) or 0 for one in best)
        if count > judged * (1 + IN_FLIGHT):
            what = f"holds {plural(judged, 'operation')} with {best[0].measure}, but {count:,} with service time"
            raise LogError(what, where=best[0].name, mend=_MEASURED_ALIKE)
    for one in others:
        best = [other for other in chosen if other.own_name == one.own_name]
        if one.measure in (*JUDGED, "wait time") and not any(other.place == one.place for other in best):
            what = f"holds {one.measure} alone, and {best[0].name} {best[0].measure}: are they of two clients?"
            raise LogError(what, where=one.name, mend=_MEASURED_ALIKE)


def _notes(chosen: Sequence[Series], left_out: Sequence[LeftOut]) -> Iterator[str]:
    measures = list(dict.fromkeys(one.measure for one in chosen))
    for measure in measures:
        whose = ", ".join(one.name for one in chosen if one.measure == measure) + ": " if len(measures) > 1 else ""
        if measure != "response time":
            yield f"{whose}judged on {measure}: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
        elif whose or left_out:
            yield f"{whose}judged on response time"
