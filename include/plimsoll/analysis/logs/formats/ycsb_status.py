"""YCSB's console output: a status line every 10 s with percentiles of that time, and a summary of the whole run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from plimsoll.analysis.logs.formats.interval_logs import Meaning
from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile, Sample, only_one
from plimsoll.analysis.logs.formats.selection import JUDGED, LeftOut
from plimsoll.analysis.logs.formats.units import FoundUnit
from plimsoll.analysis.logs.formats.ycsb_logs import (
    failures_by_result,
    meaning,
    omission,
    read_summary,
    remarks,
    whole_run,
)
from plimsoll.domain.keys.log_words import KINDS
from plimsoll.domain.text.errors import LogError

_LINE = re.compile(
    r"^.*?(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) (?P<second>\d+) sec: \d+ operations;(?P<rest>.*)$", re.MULTILINE
)
_OPERATION = re.compile(r"\[(?P<name>[^\[\]:,\n]+): Count=(?P<count>\d+), (?P<figures>[^\[\]]*)\]")
_AVERAGED = re.compile(
    r"\[(Bucket)?(?P<name>[^\[\]:,\n]+?)(: Count=(?!0,)\d+,(?![^\[\]]*\b99=)[^\[\]]*| AverageLatency\(us\)=[^\[\]]*)\]"
)
"""An operation of which a status tells no percentiles."""
_CUT = re.compile(r"\[[^\[\]:,\s]*(:( (C[^\[\]\n]*)?)?)?$", re.MULTILINE)
_FIGURE = re.compile(r"(?P<name>Max|Min|Avg|[\d.]+)=(?P<value>[\d.,]+?)(?=, |$)")
_OF_THE_RUN = re.compile(r"(OVERALL|(TOTAL|MAX|MIN)_\S+)$")
"""Lines of the summary that are about no measurement: the whole run, and collectors of the client's JVM by their own
names, such as `TOTAL_GC_TIME_%_G1_Young_Generation`.
"""


class _Status(NamedTuple):
    """A status: its local time as seconds, and the seconds that the run had taken."""

    at_s: float
    second: int
    line: int
    operations: Mapping[str, tuple[int, Mapping[float, float]]]


class YcsbStatus:
    """Output of `measurementtype=hdrhistogram`, in µs. The other measurement types print only averages."""

    name = "ycsb"
    title = "YCSB console output"

    def recognises(self, file: RunFile) -> bool:
        return bool(_LINE.search(file.head) or re.search(r"^\[OVERALL\], RunTime\(ms\), ", file.head, re.MULTILINE))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return samples from the status lines, and the whole run's figures from the summary."""
        file = only_one(files, "outputs")
        text, name = file.text, file.name
        kinds = {**KINDS, **options.kinds}
        statuses, cut = _statuses(text, name)
        statuses = _by_running_seconds(statuses, name)
        summary = read_summary(text)
        names = list(dict.fromkeys(operation for status in statuses for operation in status.operations))
        if names:
            _refuse_averages(text, names, name)
        _refuse_unknown([*names, *summary], options, name)
        judged, others = _judged(names or list(summary))
        # An operation that always failed has no name among the answers, and would have no samples
        judged += _unanswered(names, judged)
        samples = tuple(_samples(statuses, judged if names else [], kinds))
        left_out = tuple(_left_out(statuses, judged, others))
        errors, failures = failures_by_result(name, list(_failed(statuses)), summary, kinds)
        return Reading(
            title=self.title,
            unit=FoundUnit("us", "YCSB writes us"),
            samples=samples,
            left_out=left_out,
            whole_run=tuple(whole_run(summary, {operation: _kind(operation, kinds) for operation in judged})),
            obstacles=() if samples else (f"{name}: no status line has percentiles (run YCSB with `-s`)",),
            notes=(*cut, *(omission(judged) if samples else ()), *remarks(names or list(summary))),
            errors=errors if summary or names else None,
            failures=failures,
        )


def _refuse_unknown(names: Sequence[str], options: ReadOptions, where: str) -> None:
    """Raise LogError on measurements that YCSB does not make, unless the user says what they are."""
    unknown = [name for name in dict.fromkeys(names) if meaning(name) is None and not _OF_THE_RUN.match(name)]
    unnamed = [name for name in unknown if name.lower() not in options.kinds]
    if unnamed:
        what = f"YCSB is not known to measure {', '.join(unnamed)}"
        raise LogError(what, where=where, mend="say what it is: `--operation NAME=reads` or `--operation NAME=writes`")


def _refuse_averages(text: str, names: Sequence[str], where: str) -> None:
    """Raise LogError on operations that have only averages, beside others with percentiles."""
    # `hdrhistogram+histogram` writes READ twice, as HdrREAD with percentiles and as BucketREAD with averages
    known = {name.removeprefix("Hdr") for name in names}
    matches = (match for line in _LINE.finditer(text) for match in _AVERAGED.finditer(line["rest"]))
    averaged = dict.fromkeys(match["name"] for match in matches)
    lost = [name for name in averaged if name not in known and _meaning(name)[0] in JUDGED]
    if lost:
        what = f"has averages alone of {', '.join(lost)}, but percentiles of {', '.join(names)}"
        raise LogError(what, where=where, mend="run YCSB with `measurementtype=hdrhistogram` for every operation")


def _meaning(name: str) -> Meaning:
    """Return what a measurement covers. One that YCSB does not make, and the user named, is an operation."""
    return meaning(name) or ("service time", name)


def _judged(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names to judge, which are each operation's response times if there are any, and the other names."""
    meanings = {name: _meaning(name) for name in names}
    intended = {operation for measure, operation in meanings.values() if measure == "response time"}
    judged = [
        name
        for name, (measure, operation) in meanings.items()
        if measure == "response time" or (measure == "service time" and operation not in intended)
    ]
    return judged, [name for name in names if name not in judged]


def _unanswered(names: Sequence[str], judged: Sequence[str]) -> list[str]:
    """Return the operations of which every one failed, by the names that their answers would have had."""
    answered = {_meaning(name)[1] for name in judged}
    failed = dict.fromkeys(_meaning(name)[1] for name in names if _meaning(name)[0] == "time of failures")
    return [operation for operation in failed if operation not in answered]


def _left_out(statuses: Sequence[_Status], judged: Sequence[str], others: Sequence[str]) -> Iterator[LeftOut]:
    """Yield what is not judged: other figures, and the first status line, which does not give the start of its time."""
    for name in others:
        yield LeftOut(name, *_meaning(name), sum(_count(status, name) for status in statuses))
    for name in judged if statuses else ():
        if first := _count(statuses[0], name):
            yield LeftOut(f"{name} of the first status line, before which none begins its time", *_meaning(name), first)


def _count(status: _Status, name: str) -> int:
    return status.operations.get(name, (0, {}))[0]


def _statuses(text: str, name: str) -> tuple[list[_Status], tuple[str, ...]]:
    """Return the statuses, each a line with what follows it: `hdrhistogram+histogram` breaks them into several lines.

    A last one that is cut short is left out, and a remark says so. Raises LogError where another one is damaged.
    """
    lines = list(_LINE.finditer(text))
    ends = [line.start() for line in lines[1:]] + [len(text)] * bool(lines)
    statuses: list[_Status] = []
    before = ""
    for line, end in zip(lines, ends, strict=True):
        rest = text[line.start("rest") : end]
        if (whole := text[line.start() : end].strip()) == before:
            continue  # YCSB's `standardstatus` writes each status to both outputs
        before, number = whole, text.count("\n", 0, line.start()) + 1
        where = f"{name}, line {number}"
        if end == len(text) and (_CUT.search(rest) or _lacks_its_end(rest, statuses)):
            return statuses, (f"{where}: the last status is cut short (was YCSB killed?); those before it count",)
        try:
            statuses.append(_status(line, number, rest))
        except ValueError as error:
            raise LogError("is a damaged status line", where=where, mend="give YCSB's whole output") from error
    return statuses, ()


def _lacks_its_end(rest: str, before: Sequence[_Status]) -> bool:
    """Tell whether a last status without its line's end names fewer operations than the one before it."""
    if rest.endswith("\n") or not before:
        return False
    return {operation["name"] for operation in _operations(rest)} < set(before[-1].operations)


def _by_running_seconds(statuses: Sequence[_Status], name: str) -> list[_Status]:
    """Return the statuses at times by which the run's own seconds pass, whatever the clock on the wall says.

    A status has whole seconds, and a local time with the fractions. Where the two pass differently, the local time was
    set or its zone's summer ended. Raises LogError where the run's seconds go back.
    """
    timed = list(statuses[:1])
    for before, status in pairwise(statuses):
        step_s = status.second - before.second
        if step_s < 0:
            what = f"its seconds go back from {before.second} to {status.second}: the output of several runs"
            raise LogError(what, where=f"{name}, line {status.line}", mend="give the output of one run")
        local_s = status.at_s - before.at_s
        # Running seconds are rounded down, and told of a moment shortly before the local time is
        length_s = local_s if abs(local_s - step_s) <= 1.5 else step_s
        timed.append(status._replace(at_s=timed[-1].at_s + length_s))
    return timed


def _status(line: re.Match[str], number: int, rest: str) -> _Status:
    """Return the status of a line. Raises ValueError where it is damaged."""
    if _CUT.search(rest):
        raise ValueError("has a bracket that is not closed")
    # The output does not give the time zone; only differences are used.
    at = datetime.strptime(line["at"] + "000", "%Y-%m-%d %H:%M:%S:%f").replace(tzinfo=UTC)
    matches = list(_operations(rest))
    operations = {match["name"]: (int(match["count"]), _figures(match["figures"])) for match in matches}
    if len(operations) < len(matches):
        raise ValueError("has an operation twice")
    return _Status(at.timestamp(), int(line["second"]), number, operations)


def _operations(rest: str) -> Iterator[re.Match[str]]:
    return (match for match in _OPERATION.finditer(rest) if "99=" in match["figures"])


def _figures(text: str) -> dict[float, float]:
    texts = {match["name"]: match["value"] for match in _FIGURE.finditer(text) if match["name"] not in ("Min", "Avg")}
    values = {100.0 if name == "Max" else float(name): value for name, value in texts.items()}
    # YCSB writes figures as the locale of its host has them, such as `Avg=231,21`
    return {percentile: float(value.replace(",", ".")) / 1000 for percentile, value in values.items()}


def _samples(statuses: Sequence[_Status], names: Sequence[str], kinds: Mapping[str, str]) -> Iterator[Sample]:
    """Yield one sample per name and status line, since the line before. An omitted operation had no answers."""
    for before, status in pairwise(statuses):
        length_s = round(status.at_s - before.at_s, 3)
        for name in names:
            count, values = status.operations.get(name, (0, {}))
            yield Sample(before.at_s, length_s, _kind(name, kinds), count, values if count else {}, name)


def _failed(statuses: Sequence[_Status]) -> Iterator[tuple[str, float, int]]:
    """Yield what failed: the measurement, when it did (in the middle of a status' time), and how often."""
    # No line says when the time of the first status began, so it is taken to be as long as the second's
    usual_s = statuses[1].at_s - statuses[0].at_s if len(statuses) > 1 else 0.0
    before_s = [statuses[0].at_s - usual_s, *(status.at_s for status in statuses)] if statuses else []
    for from_s, status in zip(before_s, statuses, strict=False):
        for name, (count, _) in status.operations.items():
            if count and _meaning(name)[0] == "time of failures":
                yield name, (from_s + status.at_s) / 2, count


def _kind(name: str, kinds: Mapping[str, str]) -> str:
    operation = _meaning(name)[1]
    return kinds.get(operation.lower(), operation)
