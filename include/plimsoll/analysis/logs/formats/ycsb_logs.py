"""YCSB, `hdrhistogram.fileoutput=true`: one file per operation, `READ.hdr`, and `Intended-READ.hdr` if asked for; and
the summary of its console output: figures of the whole run, and how operations ended.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath

from plimsoll.analysis import grouped
from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs, Meaning, is_stub, stub_note, without_first_stub
from plimsoll.analysis.logs.formats.reading import RunFile, WholeRun, failures_at, failures_of
from plimsoll.analysis.logs.formats.selection import Measure, Series, total
from plimsoll.analysis.logs.formats.tlp_stress import LOGGING_FOR, logged_name
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Failures
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.wording import plural

MADE_OF_OTHERS = "READ-MODIFY-WRITE"
_OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "DELETE")
_CHECK = "VERIFY"
INTENDED = "Intended-"
_NO_OPERATIONS = (MADE_OF_OTHERS, _CHECK, "CLEANUP", "SCAN-LATENCY-PER-RECORD")
# With `measurement.trackjvm=true` YCSB measures its own JVM among the operations
_OF_THE_JVM = ("THREAD_COUNT", "USED_MEM_MB", "SYS_LOAD_AVG", "GCS", "GCS_TIME")


class YcsbLogs(IntervalLogs):
    """Times in µs, in histograms that resize themselves; one record per status line, every 10 s by default."""

    name = "ycsb-hdr"
    title = "YCSB HDR log"
    tool = "YCSB"
    unit = "us"

    def recognises(self, file: RunFile) -> bool:
        first = file.head[:200]
        # tlp-stress writes the same comment, with a name of its own form in it
        return super().recognises(file) and bool(LOGGING_FOR.search(first)) and logged_name(first) is None

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        for tagged in super()._series(log, kinds):
            yield tagged._replace(records=_whole(tagged.records), folder=str(PurePath(log.name).parent))

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning | None:  # noqa: ARG002 - by name
        return meaning(_name(log))

    def _own_name(self, log: HistogramLog, tag: str) -> str:  # noqa: ARG002 - YCSB writes no tags
        return _name(log)

    def _failures(self, all_series: Sequence[Series], series: Sequence[Series]) -> list[Failures] | None:  # noqa: ARG002 - no tags
        """Return the counts of `READ-FAILED`, or of `Intended-READ-FAILED` where that is alone: both count the same."""
        failed = [tagged for tagged in all_series if tagged.measure == "time of failures"]
        names = grouped((tagged.place, _name(tagged.log)) for tagged in failed)
        return [
            # Stubs count here: YCSB opens this file at the first failure, amid the time between two status lines
            failures_of(tagged._replace(records=tagged.log.records), failed_kind(_name(tagged.log)))
            for tagged in failed
            if not _is_second_measure(_name(tagged.log), names[tagged.place])
        ] or None

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        for log in {id(tagged.log): tagged.log for tagged in series}.values():
            begun = without_first_stub(log.records)
            if len(begun) < len(log.records):
                yield stub_note(log, log.records)
            if len(_whole(log.records)) < len(begun):
                counted = plural(total(log.records[-1:], log.name) or 0, "value")
                yield f"{log.name}: ends with two stubs; the last, written after the run, is left out, {counted}"
        yield from remarks([_name(tagged.log) for tagged in series])


def meaning(name: str) -> Meaning | None:
    """Return what a measurement of YCSB covers; None of a measurement that YCSB does not make.

    `READ-FAILED`, or `READ-` with another result, holds the times of failures, which `READ` does not contain.
    """
    bare = name.removeprefix("Hdr").removeprefix(INTENDED)
    if bare in _NO_OPERATIONS or bare in _OF_THE_JVM:
        return "other figures", bare
    operation, dash, _ = bare.partition("-")
    if operation not in _OPERATIONS:
        return None
    measure: Measure = "response time" if INTENDED in name else "service time"
    return ("time of failures" if dash else measure), operation


def failed_kind(name: str) -> str:
    """Return the kind of the failures that a measurement such as `READ-FAILED` or `READ-NOT_FOUND` holds."""
    return name.removeprefix("Hdr").removeprefix(INTENDED).partition("-")[2]


def _is_second_measure(name: str, names: Collection[str]) -> bool:
    """Tell whether `Intended-READ-FAILED` stands beside `READ-FAILED`, or the same of a two-in-one measurement."""
    plain = name.removeprefix("Hdr")
    return plain.startswith(INTENDED) and any(
        other.removeprefix("Hdr") == plain.removeprefix(INTENDED) for other in names
    )


def remarks(names: Sequence[str]) -> Iterator[str]:
    """Yield remarks on the pitfalls of measurements with those names."""
    intended = {covered[1] for name in names if INTENDED in name and (covered := meaning(name))}
    if intended:
        yield (
            "YCSB's intended times count from a schedule only where it ran with a `-target`; without one they are "
            "service times"
        )
    if any(covered[0] == "service time" and covered[1] not in intended for name in names if (covered := meaning(name))):
        yield (
            "YCSB's times are taken for service times, as `measurement.interval=op` (its default) makes them; run "
            "with `measurement.interval=both` it writes `Intended-` ones, which hold response times"
        )
    if any(name.endswith(MADE_OF_OTHERS) for name in names):
        yield "READ-MODIFY-WRITE is left out: its READ and its UPDATE are counted by themselves"
    if any(name.endswith(_CHECK) for name in names):
        yield "VERIFY is left out: the client's own check of what it read, and no operation of the database"


def omission(judged: Sequence[str]) -> Iterator[str]:
    """Yield the remark on those of the judged measurements whose times count from the send."""
    by_send = [name for name in judged if INTENDED not in name]
    if by_send:
        whose = f"{', '.join(by_send)}: " if len(by_send) < len(judged) else ""
        yield f"{whose}judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"


def _whole(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """Leave out a first stub, and of two stubs at the end the last: YCSB adds one after its last status line."""
    records = without_first_stub(records)
    return records[:-1] if len(records) > 3 and is_stub(records[-2], records[-3]) else records


def _name(log: HistogramLog) -> str:
    matches = (LOGGING_FOR.search(comment) for comment in log.comments)
    return next((match["name"] for match in matches if match), log.name)


Summary = Mapping[str, Mapping[str, float]]
"""Figures by name, by measurement."""

_SUMMARY = re.compile(r"^\[(?P<name>[^\[\],\n]+)\], (?P<what>[^,\n]+), (?P<value>[\d.]+)\s*$", re.MULTILINE)
_PERCENTILE = re.compile(r"(?P<percentile>[\d.]+?)(st|nd|rd|th)?PercentileLatency\(us\)")
_RETURN = "Return="
_ANSWERED = ("OK", "BATCHED_OK", "0")
"""Results of operations that did not fail; releases of before 2015 write numbers."""
_ANY = "FAILED"
"""The measurement of all failures whose results are not measured apart."""
_US_PER_MS = 1000


def read_summary(text: str) -> dict[str, dict[str, float]]:
    """Return the figures of each measurement."""
    summary: dict[str, dict[str, float]] = {}
    for line in _SUMMARY.finditer(text):
        with suppress(ValueError):
            summary.setdefault(line["name"], {})[line["what"]] = float(line["value"])
    return summary


def whole_run(summary: Summary, operations: Mapping[str, str]) -> Iterator[WholeRun]:
    for name, figures in summary.items():
        if "Operations" in figures and name in operations:
            matches = ((_PERCENTILE.fullmatch(figure), value) for figure, value in figures.items())
            values = {float(match["percentile"]): value / _US_PER_MS for match, value in matches if match}
            highest = {100.0: figures["MaxLatency(us)"] / _US_PER_MS} if "MaxLatency(us)" in figures else {}
            yield WholeRun(operations[name], round(figures["Operations"]), values | highest)


def failures_by_result(
    file: str, failed: Sequence[tuple[str, float, int]], summary: Summary, kinds: Mapping[str, str]
) -> tuple[dict[str, int], tuple[Failures, ...]]:
    """Return the whole run's failures by result, and those whose times are known.

    `failed`: measurements with the times and numbers of failures. They are among those that the summary counts by their
    results, and both measures of an operation count the same.
    """
    times: dict[str, dict[str, list[tuple[float, int]]]] = {}
    names = {name for name, _, _ in failed}
    for name, at_s, count in failed:
        if not _is_second_measure(name, names):
            times.setdefault(_operation(name), {}).setdefault(failed_kind(name), []).append((at_s, count))
    errors: dict[str, int] = {}
    failures: list[Failures] = []
    for operation in dict.fromkeys([*times, *map(_operation, summary)]):
        timed, returned = times.get(operation, {}), _returned(summary, operation)
        others = {kind: count for kind, count in returned.items() if kind not in timed}
        # Status lines time the failures of all results together, and only the summary tells results apart. Where it has
        # one, all these failures are of that kind; where it has several, nobody knows which is whose.
        if _ANY in timed and others:
            only = next(iter(others)) if len(others) == 1 else _ANY
            timed = {only if kind == _ANY else kind: figures for kind, figures in timed.items()}
            returned = {kind: returned[kind] for kind in timed if kind in returned} | {only: sum(others.values())}
        for kind in dict.fromkeys([*timed, *returned]):
            counted = sum(count for _, count in timed.get(kind, ()))
            # Both count the same failures, but a killed run has no summary, and one without `-s` no status lines
            if most := max(counted, returned.get(kind, 0)):
                errors[kind] = errors.get(kind, 0) + most
        judged_as = kinds.get(operation.lower(), operation)
        for kind, figures in timed.items():
            failures += failures_at(f"{file}, {operation}-{kind}", kind, figures, judged_as)
    return errors, tuple(failures)


def _operation(name: str) -> str:
    known = meaning(name)
    return known[1] if known else name


def _returned(summary: Summary, operation: str) -> dict[str, int]:
    """Return how often an operation failed, by result; where the summary has no results, by measurement."""
    counts: dict[str, int] = {}
    has_results = False
    for name, figures in summary.items():
        for figure, value in figures.items():
            if _operation(name) == operation and figure.startswith(_RETURN):
                has_results = True
                kind = figure.removeprefix(_RETURN)
                if kind not in _ANSWERED:
                    counts[kind] = max(counts.get(kind, 0), round(value))
    if not has_results:
        for name, figures in summary.items():
            if meaning(name) == ("time of failures", operation) and "Operations" in figures:
                kind = failed_kind(name)
                counts[kind] = max(counts.get(kind, 0), round(figures["Operations"]))
    return counts
