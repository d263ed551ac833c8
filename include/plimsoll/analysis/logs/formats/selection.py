"""Select what is judged of a run's logs: each operation by its best measure. What is left out is named.

Tracks of unknown tools that may be no operations of their own are asked about, since tracks are added up.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.histograms import Decoder
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
    def tag(self) -> str:
        """Return the tag of the records; empty where they have none."""
        return self.records[0].tag

    @property
    def name(self) -> str:
        return f"{self.log.name} ({self.tag})" if self.tag else self.log.name

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
        counted = "values of unknown number" if self.count is None else plural(self.count, "value")
        return f"left out: {self.name}, {self.measure}, {counted}"


def select(series: Sequence[Series]) -> tuple[tuple[Track, ...], tuple[str, ...], tuple[LeftOut, ...]]:
    """Return each operation of one run by its best measure, remarks on how it was selected, and what was left out.

    Raises LogError when a log is given twice, when there is nothing to judge, and where operations would be dropped:
    an operation with wait times alone, with more service times than response times, or with service times alone in one
    of its logs.
    """
    _refuse_twins([tagged.log for tagged in series])
    best: dict[str, Measure] = {}
    for measure in reversed(JUDGED):
        best |= {tagged.own_name: measure for tagged in series if tagged.measure == measure}
    chosen = [tagged for tagged in series if best.get(tagged.own_name) == tagged.measure]
    _refuse_waits(series, chosen)
    if not chosen:
        names = ", ".join(sorted({tagged.log.name for tagged in series}))
        mend = "give the log of response times; where nothing was answered there is none, and the load was not carried"
        raise LogError("holds neither response nor service times", where=names, mend=mend)
    others = [tagged for tagged in series if not any(tagged is other for other in chosen)]
    left_out = tuple(
        LeftOut(tagged.name, tagged.measure, tagged.operation, total(tagged.records, tagged.name)) for tagged in others
    )
    _refuse_to_drop(chosen, others, left_out)
    tracks = tuple(Track(tagged.name, tagged.operation, tagged.records, tagged.log.name) for tagged in chosen)
    return tracks, tuple(_notes(chosen, left_out)), left_out


def with_tags(series: Sequence[Series], tags: Collection[str]) -> Sequence[Series]:
    """Return the series with one of the tags; all series where `tags` is empty. Raises LogError for an unknown tag."""
    refuse_unknown_tags(tags, dict.fromkeys(tagged.tag for tagged in series), series[0].log.name)
    return [tagged for tagged in series if tagged.tag in tags] if tags else series


def refuse_unknown_tags(
    tags: Collection[str], there: Collection[str], where: str, row: str = "record", name: str = "tag"
) -> None:
    """Raise LogError on the first tag that is not there. `row`: what has a name in that log; `name`: what that is."""
    for tag in tags:
        if tag not in there:
            known = [other for other in there if other]
            mend = meant_or_known(tag, known, lead="there is") or f"leave `--tags` out: no {row} has any {name}"
            raise LogError(f"no {row} has the {name} {tag!r}", where=where, mend=mend)


def total(records: Sequence[Record], name: str) -> int | None:
    """Return the number of values in the records; None where one of them can't be decoded."""
    try:
        return int(Decoder("ns").merge_used(records, name).sum())  # the finest unit, so that the widest values fit
    except LogError:
        return None


def has_values(records: Sequence[Record], name: str) -> bool:
    """Tell whether any of the records holds a value, or can't be decoded. Decodes none beyond the first that does."""
    decoder = Decoder("ns")
    try:
        return any(decoder.merge_used([record], name).any() for record in records)
    except LogError:
        return True


def _refuse_twins(of_series: Sequence[HistogramLog]) -> None:
    logs = list({id(log): log for log in of_series}.values())
    for index, log in enumerate(logs):
        for other in logs[:index]:
            shortest = min(len(log.records), len(other.records))
            same = log.comments == other.comments and log.records[:shortest] == other.records[:shortest]
            # Logs of nothing begin alike for as long as both last.
            if same and (
                len(log.records) == len(other.records) or len({record.payload for record in log.records[:shortest]}) > 1
            ):
                raise LogError(f"holds the same records as {other.name}", where=log.name, mend="give each log once")


def _refuse_waits(series: Sequence[Series], chosen: Sequence[Series]) -> None:
    """Raise LogError where only the wait times of an operation are there, which do not show how long it took."""
    judged = {tagged.own_name for tagged in chosen}
    for tagged in series:
        if tagged.measure == "wait time" and tagged.own_name not in judged:
            mend = "give the whole log, with response or service times of every operation"
            raise LogError("holds wait times alone of its operation", where=tagged.name, mend=mend)


def _refuse_to_drop(chosen: Sequence[Series], others: Sequence[Series], left_out: Sequence[LeftOut]) -> None:
    """Raise LogError where a worse measure of an operation may hold operations that the judged one does not.

    That is so where it has more values than the judged measure, or comes from a log without that measure.
    """
    dropped: dict[str, int] = {}
    for tagged, counted in zip(others, left_out, strict=True):
        if tagged.measure == "service time":
            dropped[tagged.own_name] = dropped.get(tagged.own_name, 0) + (counted.count or 0)
    for name, count in dropped.items():
        best = [tagged for tagged in chosen if tagged.own_name == name]
        judged = sum(total(tagged.records, tagged.name) or 0 for tagged in best)
        if count > judged * (1 + IN_FLIGHT):
            what = f"holds {plural(judged, 'operation')} with {best[0].measure}, but {count:,} with service time"
            raise LogError(what, where=best[0].name, mend=_MEASURED_ALIKE)
    for tagged in others:
        best = [other for other in chosen if other.own_name == tagged.own_name]
        if tagged.measure in (*JUDGED, "wait time") and not any(other.place == tagged.place for other in best):
            what = f"holds {tagged.measure} alone, and {best[0].name} {best[0].measure}: are they of two clients?"
            raise LogError(what, where=tagged.name, mend=_MEASURED_ALIKE)


def _notes(chosen: Sequence[Series], left_out: Sequence[LeftOut]) -> Iterator[str]:
    measures = list(dict.fromkeys(tagged.measure for tagged in chosen))
    for measure in measures:
        names = ", ".join(tagged.name for tagged in chosen if tagged.measure == measure)
        whose = f"{names}: " if len(measures) > 1 else ""
        if measure != "response time":
            yield f"{whose}judged on {measure}: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
        elif whose or left_out:
            yield f"{whose}judged on response time"


_SERVICE = r"service([-_ ]?times?)?|raw|uncorrected|st|requests?"
_RESPONSE = r"response([-_ ]?times?)?|intended|co[-_ ]?fixed|corrected|rt"
_OTHERS = rf"{_RESPONSE}|actual|wait([-_ ]?times?)?|wt|queued?|cycles?|plain|total|all"
_WORD = re.compile(rf"(?<![a-z])({_SERVICE}|{_OTHERS})(?![a-z])", re.IGNORECASE)
_FAILURES = r"err(or)?s?|exceptions?|fail(s|ed|ures?|ing)?|time[sd]?[-_ ]?outs?|unavailables?|rejected|aborted"
_WORDS_OF: Mapping[Measure, re.Pattern[str]] = {
    "service time": re.compile(rf"(?<![a-z])({_SERVICE})(?![a-z])", re.IGNORECASE),
    "response time": re.compile(rf"(?<![a-z])({_RESPONSE})(?![a-z])", re.IGNORECASE),
    "time of failures": re.compile(rf"(?<![a-z])({_FAILURES})(?![a-z])"),
}
_WHICH = (
    "name the tags to judge, `--tags NAME` (of an import, `tags: [NAME]`), both if they are two operations; or give "
    "the files of one measure alone; or say what they are, `--operation NAME=reads|writes`"
)


def names_measure(name: str, measure: Measure) -> bool:
    """Tell whether the name of a tag or file says that it holds that measure: response or service times, failures."""
    return bool(_WORDS_OF[measure].search(_in_words(name)))


def refuse_two_measures(tracks: Sequence[Track], kinds: Mapping[str, str], named: Collection[str] = ()) -> None:
    """Raise LogError where two tracks look like two measures of the same operations, or one like all the others.

    They do so by their names, as `g1.response` and `g1.service`, or because they hold equally many values, give or take
    what was in flight when the run ended. Counts tell nothing of tracks whose operations are known. Tracks of failures,
    by their names, are asked about too. `named`: the tracks from files whose names say operation and measure.
    """
    for track in tracks:
        if names_measure(track.operation, "time of failures"):
            what = "is named like failures: are these answered operations?"
            mend = f"{_WHICH}. Failures with a tag are counted as such where `--tags` does not name them"
            raise LogError(what, where=track.name, mend=mend)
    for first, second in combinations(tracks, 2):
        if _bare(first.name) == _bare(second.name):
            _refuse(first, second.name, "differ by the name of a measure alone")
    known = {*kinds, *kinds.values(), *(track.operation.lower() for track in tracks if track.name in named)}
    if len(tracks) < 2 or {track.operation.lower() for track in tracks} <= known:
        return
    counts = [total(track.records, track.name) or 0 for track in tracks]
    for (first, count), (second, other_count) in combinations(zip(tracks, counts, strict=True), 2):
        if not {first.operation.lower(), second.operation.lower()} <= known and _alike(count, other_count):
            _refuse(first, second.name, f"hold equally many values ({count:,} and {other_count:,})")
    for track, count in zip(tracks, counts, strict=True):
        if track.operation.lower() not in known and _alike(count, sum(counts) - count):
            _refuse(track, "the others together", f"hold equally many values ({count:,} and {sum(counts) - count:,})")


def _alike(count: int, other: int) -> bool:
    return max(count, other) > 0 and abs(count - other) <= IN_FLIGHT * max(count, other)


def _bare(name: str) -> str:
    """Return the name without the words for a measure."""
    return re.sub(r"[^a-z0-9]+", " ", _WORD.sub(" ", _in_words(name))).strip()


def _in_words(name: str) -> str:
    """Return the name in small letters, with a space where `camelCase` begins a word."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _refuse(track: Track, other: str, why: str) -> None:
    raise LogError(f"and {other} {why}: are they two measures of the same operations?", where=track.name, mend=_WHICH)
