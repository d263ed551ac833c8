"""HdrHistogram interval logs of any tool: Plimsoll's, tlp-stress' (`--hdr`), and logs that name no tool."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath

from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile, failures_of
from plimsoll.analysis.logs.formats.refused import refuse_no_operations
from plimsoll.analysis.logs.formats.selection import (
    Measure,
    Series,
    has_values,
    names_measure,
    refuse_two_measures,
    select,
    total,
    with_tags,
)
from plimsoll.analysis.logs.formats.tlp_stress import BY_FILE_NAME, name_of, written_unit
from plimsoll.analysis.logs.formats.units import (
    ASK_FOR_UNIT,
    FoundUnit,
    doubts,
    refuse_another_writer,
    shown_unit,
    unit_of,
)
from plimsoll.analysis.logs.hdr.hdrlog import YEAR_S, HistogramLog, NoRecordsError, read_log
from plimsoll.analysis.logs.hdr.histograms import Unit
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Failures, Track, totals
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION, KINDS
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.wording import plural

Meaning = tuple[Measure, str]
"""The measure of records, and their operation."""

_LAST_S = datetime.max.replace(tzinfo=UTC).timestamp()
_RECORD = re.compile(r"^(Tag=[^,\n]*,)?[0-9.,]+,HIST", re.MULTILINE)
_MARK = re.compile(r"^#\[(Histogram log format version|StartTime:|Base[Tt]ime:)|^\"StartTimestamp\",", re.MULTILINE)
_ERRORS_FILE = re.compile(r"\.hdr\.errors(\.gz)?$")
_STEM = re.compile(r"(?P<operation>[^/\\]+?)(\.(hdr|hlog|log|gz))*$")


class IntervalLogs:
    """The reader for logs of any tool. Subclasses say what tags, comments and file names of their tool mean.

    `tool` and `unit`: the tool, and the unit that its sources show it to write; empty and None: each log is examined.
    """

    name = "hdr"
    title = "HdrHistogram interval log"
    tool = ""
    unit: Unit | None = None

    def recognises(self, file: RunFile) -> bool:
        return not file.head.strip("\0\r\n ") or bool(_RECORD.search(file.head) or _MARK.search(file.head))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return response times by operation, or service times of operations that have nothing better."""
        logs, tells_failures = self._logs(files)
        refuse_no_operations(logs)
        log_notes = tuple(note for log in logs for note in log.notes)
        kinds = {**KINDS, **options.kinds}
        all_series = [tagged for log in logs for tagged in self._series(log, kinds)]
        series = with_tags(all_series, options.tags)
        failures = self._failures(all_series, series)
        if failures is None and tells_failures:
            failures = []
        self._refuse_unknown(series, options)
        self._refuse(series)
        if not self.tool:
            _refuse_service_times_beside_response_times([tagged for tagged in series if name_of(tagged.log)])
        tracks, notes, left_out = select(series)
        by_name = {log.name: log for log in logs}
        named = {track.name for track in tracks if name_of(by_name[track.log])}
        if not self.tool and not options.tags and len(named) < len(tracks):
            refuse_two_measures(tracks, kinds, named)
        try:
            taken = self._unit(series, tracks, by_name, options)
        except LogError as error:  # what is odd about the logs may be why
            raise LogError("; ".join((error.what, *log_notes)), where=error.where, mend=error.mend) from error
        units = [(track, BY_FILE_NAME if track.name in named else None) for track in tracks]
        doubted = [note for track, unit in units for note in doubts(options.unit, track, unit)]
        start_s = min(float(track.starts[0]) for track in tracks)
        return Reading(
            title=self.title,
            tracks=tracks,
            unit=taken,
            left_out=left_out,
            notes=(*log_notes, *notes, *doubted, *self._remarks(series)),
            errors=None if failures is None else totals(failures),
            failures=tuple(failures or ()),
            # Other times than these do not count from the epoch
            started_at=datetime.fromtimestamp(start_s, UTC) if YEAR_S < start_s < _LAST_S else None,
        )

    def _logs(self, files: Sequence[RunFile]) -> tuple[list[HistogramLog], bool]:
        """Return the logs, and whether one tells failures that is without any."""
        logs: list[HistogramLog] = []
        tells_failures = False
        for file in files:
            try:
                logs.append(self._sound(read_log(file.data, file.name)))
            except NoRecordsError:
                if not _ERRORS_FILE.search(file.name) or len(files) == 1:
                    raise
                tells_failures = True
        return logs, tells_failures

    def _sound(self, log: HistogramLog) -> HistogramLog:
        """Return the log without records that are no intervals, according to the tool, and note them in it."""
        return log

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        for tag, records in log.by_tag().items():
            meaning = self._meaning(log, tag, kinds)
            measure, name = meaning or ("response time", self._own_name(log, tag))
            kind = kinds.get(name.lower(), name)
            own_name = name or ("" if self.tool else log.name)
            yield Series(log, measure, kind, records, own_name, is_known=meaning is not None)

    def _own_name(self, log: HistogramLog, tag: str) -> str:  # noqa: ARG002 - for YCSB
        """Return a name for records that the tool is not known to write."""
        return tag or "records without a tag"

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning | None:
        """Return the meaning of the records with a tag; None of a tag that the tool does not write.

        `X.hdr-intended-selects`: response times of selects; `X.hdr-selects`: service times; `X.hdr.errors`: failures.
        """
        if _ERRORS_FILE.search(log.name):
            return "time of failures", ""
        if tag:
            return ("service time" if names_measure(tag, "service time") else "response time"), tag
        if match := name_of(log):
            return ("response time" if match["intended"] else "service time"), match["operation"]
        stem = _STEM.search(log.name)
        operation = stem["operation"] if stem else ""
        measure: Measure = "service time" if names_measure(operation, "service time") else "response time"
        return measure, operation if operation.lower() in kinds else ""

    def _refuse_unknown(self, series: Sequence[Series], options: ReadOptions) -> None:
        """Raise LogError on tags that the tool does not write, unless the user names them, and their unit."""
        named = {*options.tags, *options.kinds}
        unknown = [tagged for tagged in series if not tagged.is_known]
        names = ", ".join(dict.fromkeys(tagged.own_name for tagged in unknown))
        if any(not {tagged.own_name, tagged.own_name.lower()} & named for tagged in unknown):
            known = ", ".join(dict.fromkeys(tagged.tag for tagged in series if tagged.is_known and tagged.tag))
            what = f"{self.tool} is not known to write {names}" + (f" beside {known}" if known else "")
            mend = (
                "name what to judge, `--tags NAME`, or say what it is, `--operation NAME=reads|writes`, or let it be "
                "read as any tool's log, `--format hdr` (of an import: `tags:`, `operations:`, `format:`)"
            )
            raise LogError(what, where=unknown[0].log.name, mend=mend)
        if unknown and options.unit is None:
            what = f"{self.tool} is not known to write {names}, so the unit of its values is not known either"
            raise LogError(what, where=unknown[0].log.name, mend=ASK_FOR_UNIT)

    def _unit(
        self, series: Sequence[Series], tracks: Sequence[Track], logs: Mapping[str, HistogramLog], options: ReadOptions
    ) -> FoundUnit:
        """Return the unit of all tracks, by those that hold values. Raises LogError where unknown or different."""
        is_known = all(tagged.is_known for tagged in series)
        by_tool = FoundUnit(self.unit, f"{self.tool} writes {self.unit}") if self.unit and is_known else None
        for track in tracks if by_tool and options.unit is None else ():
            refuse_another_writer(track, self.tool)
        # A log without values shows no unit: it has that of the logs beside it
        valued = [track for track in tracks if has_values(track.records, track.name)] or tracks
        by_track = {
            track.name: unit_of(options.unit, by_tool or written_unit(logs[track.log]), track.name, self.tool)
            or self._shown(track)
            for track in valued
        }
        if len({unit.unit for unit in by_track.values()}) > 1:
            units = ", ".join(f"{name} in {unit.unit}" for name, unit in by_track.items())
            raise LogError(f"values are in different units: {units}", mend="give logs of one run and one tool")
        return next(iter(by_track.values()))

    def _shown(self, track: Track) -> FoundUnit:
        """Return the unit that a log shows whose writer writes several units. Raises LogError where it shows none."""
        return shown_unit(track)

    def _refuse(self, series: Sequence[Series]) -> None:
        """Refuse nothing: a tool's log, or folder, holds all measures, so no user added one of them by mistake."""

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        """Yield further pitfalls of the tool's format that these logs contain."""
        for tagged in series:
            says_so = name_of(tagged.log) or names_measure(PurePath(tagged.own_name).name, "response time")
            if tagged.measure == "response time" and not says_so:
                doubt = "does not say whether times count from the schedule or from the send"
                yield f"{tagged.name}: {doubt} {COORDINATED_OMISSION}"

    def _failures(self, all_series: Sequence[Series], series: Sequence[Series]) -> list[Failures] | None:
        """Return the failures that the logs tell, from `all_series` or from `series`, which were selected by tags.

        None where logs like these do not tell any. Tags that are not selected are failures where their names say so.
        """
        failed = [
            tagged
            for tagged in all_series
            if tagged.measure == "time of failures"
            or (tagged not in series and names_measure(tagged.tag, "time of failures"))
        ]
        return [failures_of(tagged, tagged.tag or "errors") for tagged in failed] or None


def _refuse_service_times_beside_response_times(series: Sequence[Series]) -> None:
    """Raise LogError where a file of service times is given together with one of response times."""
    intended = {tagged.log.name for tagged in series if tagged.measure == "response time"}
    for tagged in series:
        if tagged.measure == "service time" and intended and tagged.log.name not in intended:
            raise LogError(
                f"holds service times (from the send), {min(intended)} response times",
                where=tagged.log.name,
                mend="give only the `.hdr-intended-` logs: response time, from the intended start, is what is judged",
            )


def without_first_stub(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """Return the records without a first one that is much shorter than the second.

    Such a record is written when its writer's clock ticked before the run began.
    """
    return records[1:] if len(records) > 1 and is_stub(records[0], records[1]) else records


def is_stub(record: Record, beside: Record) -> bool:
    """Tell whether a record was not begun, or not ended, by its writer's clock: it is shorter than its neighbour."""
    return record.length_s < 0.9 * beside.length_s


def stub_note(log: HistogramLog, records: tuple[Record, ...]) -> str:
    """Return the remark on a record that `without_first_stub` left out."""
    counted = plural(total(records[:1], log.name) or 0, "value")
    length = f"{records[0].length_s:g} s only"
    return f"{log.name}: the first record covers {length} and is left out, {counted}; time counts from its end"
