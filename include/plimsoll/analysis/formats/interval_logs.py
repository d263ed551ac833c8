"""HdrHistogram interval logs of any tool: Plimsoll's, tlp-stress' (`--hdr`), and logs that name no tool."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from plimsoll.analysis.formats.reading import Asked, Reading, RunFile
from plimsoll.analysis.formats.self_description import refuse_two_measures, unit_of
from plimsoll.analysis.hdrlog import HistogramLog, Record, read_log
from plimsoll.analysis.histogram_layout import Unit
from plimsoll.analysis.operations import (
    Measure,
    Series,
    Track,
    refuse_service_times_beside_response_times,
    select,
    with_tags,
)
from plimsoll.domain.errors import LogError
from plimsoll.domain.query_kinds import KINDS

Meaning = tuple[Measure, str]
"""What records measure, and of which operation."""

_YEAR_S = 365 * 24 * 3600
_STUB = 0.9
"""A record shorter than this share of the one beside it was not begun, or not ended, by its writer's clock."""
_RECORD = re.compile(r"^(Tag=[^,\n]*,)?[0-9.]+,[0-9.]+,[0-9.]+,HIST", re.MULTILINE)
_MARK = re.compile(r"^#\[(Histogram log format version|StartTime:|BaseTime:)|^\"StartTimestamp\",", re.MULTILINE)
_HDR_FILE = re.compile(r"\.hdr-(?P<intended>intended-)?(?P<operation>[\w-]+?)(\.gz)?$", re.IGNORECASE)
_OF_KNOWN_WRITERS: Unit = "us"
_ERRORS_FILE = re.compile(r"\.hdr\.errors(\.gz)?$")
_STEM = re.compile(r"(?P<operation>[^/\\]+?)(\.(hdr|hlog|log|gz))*$")


class IntervalLogs:
    """The reader for logs of any tool. Subclasses say what tags, comments and file names of their tool mean.

    `unit`: the unit that the tool is known to write; None: each log is examined, see `self_description`.
    """

    name = "hdr"
    title = "HdrHistogram interval log"
    unit: Unit | None = None

    def recognises(self, file: RunFile) -> bool:
        """By a record, or by the head that HistogramLogWriter writes. An empty file counts as a log without records."""
        return not file.head.strip("\0\r\n ") or bool(_RECORD.search(file.head) or _MARK.search(file.head))

    def read(self, files: Sequence[RunFile], asked: Asked) -> Reading:
        """Response times by operation, or service times where there is nothing better."""
        logs = [self._sound(read_log(file.data, file.name)) for file in files]
        kinds = {**KINDS, **asked.kinds}
        series = with_tags([one for log in logs for one in self._series(log, kinds)], asked.tags)
        self._refuse(series)
        tracks, notes = select(series)
        unit = asked.unit or self.unit or _told_unit(tracks)
        if self.unit is None and not asked.tags:
            refuse_two_measures([track for track in tracks if not _is_of_known_writer(track)], kinds)
        return Reading(
            title=self.title,
            tracks=tracks,
            unit=unit,
            notes=(*(note for log in logs for note in log.notes), *notes, *self._remarks(series)),
            started_at=_moment(min(float(track.starts[0]) for track in tracks)),
        )

    def _sound(self, log: HistogramLog) -> HistogramLog:
        """The log without records that are none of the run's intervals, by what is known of the tool; noted in it."""
        return log

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        for tag, records in log.by_tag().items():
            measure, name = self._meaning(log, tag, kinds)
            yield Series(log, measure, kinds.get(name.lower(), name), records)

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning:
        """`X.hdr-intended-selects`: response times of selects; `X.hdr-selects`: service times; `X.hdr.errors`."""
        if _ERRORS_FILE.search(log.name):
            return "time of failures", ""
        if tag:
            return "response time", tag
        match = _HDR_FILE.search(log.name)
        if match:
            return ("response time" if match["intended"] else "service time"), match["operation"]
        stem = _STEM.search(log.name)
        operation = stem["operation"] if stem else ""
        return "response time", operation if operation.lower() in kinds else ""

    def _refuse(self, series: Sequence[Series]) -> None:
        refuse_service_times_beside_response_times(series)

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:  # noqa: ARG002 - for the formats of single tools
        """Further pitfalls of the tool's format that these logs contain."""
        return iter(())


def _told_unit(tracks: Sequence[Track]) -> Unit:
    """The unit of all tracks. Raises LogError where a track does not show its unit, or units differ."""
    units = {track.name: _OF_KNOWN_WRITERS if _is_of_known_writer(track) else unit_of(track) for track in tracks}
    if len(set(units.values())) > 1:
        said = ", ".join(f"{name} in {unit}" for name, unit in units.items())
        raise LogError(f"values are in different units: {said}", mend="give logs of one run and one tool")
    return next(iter(units.values()))


def _is_of_known_writer(track: Track) -> bool:
    """Whether the file's name shows that Plimsoll or tlp-stress wrote it."""
    return bool(_HDR_FILE.search(track.log))


def _moment(start_s: float) -> datetime | None:
    """The time at which a log begins; None where its times have no reference."""
    return datetime.fromtimestamp(start_s, UTC) if start_s > _YEAR_S else None


def without_first_stub(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """The records without a first one that is much shorter than the second.

    Such a record is written when its writer's clock ticked before the run began.
    """
    return records[1:] if len(records) > 1 and is_stub(records[0], records[1]) else records


def is_stub(record: Record, beside: Record) -> bool:
    """Whether a record is much shorter than its neighbour."""
    return record.length_s < _STUB * beside.length_s


def stub_note(log: HistogramLog, records: tuple[Record, ...]) -> str:
    """The remark on a record that `without_first_stub` left out."""
    return (
        f"{log.name}: the first record covers {records[0].length_s:g} s only and is left out; time counts from its end"
    )
