"""YCSB's console output: a status line every 10 s with percentiles of that time, and a summary of the whole run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from plimsoll.analysis.logs.formats.interval_logs import Meaning
from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile, Sample, WholeRun
from plimsoll.analysis.logs.formats.selection import JUDGED, LeftOut
from plimsoll.analysis.logs.formats.ycsb_logs import meaning, remarks
from plimsoll.domain.errors import LogError
from plimsoll.domain.log_remarks import COORDINATED_OMISSION
from plimsoll.domain.query_kinds import KINDS

_LINE = re.compile(
    r"^.*?(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) (?P<second>\d+) sec: \d+ operations;(?P<rest>.*)$", re.MULTILINE
)
_OPERATION = re.compile(r"\[(?P<name>[^\[\]:,\n]+): Count=(?P<count>\d+), (?P<figures>[^\]]*)\]")
_AVERAGED = re.compile(
    r"\[(Bucket)?(?P<name>[^\[\]:,\n]+?)(: Count=(?!0,)\d+,(?![^\]]*\b99=)[^\]]*| AverageLatency\(us\)=[^\]]*)\]"
)
"""An operation of which a status tells no percentiles."""
_CUT = re.compile(r"\[[^\[\]:,\s]*(:( (C[^\]\n]*)?)?)?$", re.MULTILINE)
_FIGURE = re.compile(r"(?P<name>Max|Min|Avg|[\d.]+)=(?P<value>[\d.,]+?)(?=, |$)")
_SUMMARY = re.compile(r"^\[(?P<name>[^\[\],\n]+)\], (?P<what>[^,\n]+), (?P<value>[\d.]+)\s*$", re.MULTILINE)
_PERCENTILE = re.compile(r"(?P<percentile>[\d.]+?)(st|nd|rd|th)?PercentileLatency\(us\)")
_OF_THE_RUN = re.compile(r"(OVERALL|(TOTAL|MAX|MIN)_[A-Z_a-z]+)$")
"""Lines of the summary that are about no measurement: the whole run, and collectors of the client's JVM."""
_US_PER_MS = 1000
_MEND = "give YCSB's whole output"


class _Status(NamedTuple):
    at: datetime
    operations: Mapping[str, tuple[int, Mapping[float, float]]]


class YcsbStatus:
    """Output of `measurementtype=hdrhistogram`, in µs. The other measurement types print only averages."""

    name = "ycsb"
    title = "YCSB console output"

    def recognises(self, file: RunFile) -> bool:
        """Recognise the output by a status line, or by the first line of the summary."""
        return bool(_LINE.search(file.head) or re.search(r"^\[OVERALL\], RunTime\(ms\), ", file.head, re.MULTILINE))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return samples from the status lines, and the whole run's figures from the summary."""
        if len(files) > 1:
            where = ", ".join(file.name for file in files)
            raise LogError("are several outputs, each of a run of its own", where=where, mend="judge them one by one")
        text, name = files[0].text, files[0].name
        kinds = {**KINDS, **options.kinds}
        statuses, cut = _statuses(text, name)
        summary = _summary(text)
        names = list(dict.fromkeys(one for status in statuses for one in status.operations))
        if names:
            _refuse_averages(text, names, name)
        _refuse_unknown([*names, *summary], options, name)
        judged, others = _judged(names or list(summary))
        samples = tuple(_samples(statuses, judged if names else [], kinds))
        left_out = tuple(_left_out(statuses, judged, others))
        return Reading(
            title=self.title,
            unit="us",
            unit_why="YCSB writes us",
            samples=samples,
            left_out=left_out,
            whole_run=tuple(_whole_run(summary, judged, kinds)),
            obstacles=() if samples else (f"{name}: no status line has percentiles (run YCSB with `-s`)",),
            notes=(*cut, *(_omission(judged) if samples else ()), *remarks(names or list(summary))),
            errors=_errors(summary) if summary else _failed(statuses),
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
    known = {name.removeprefix("Hdr") for name in names}
    averaged = dict.fromkeys(one["name"] for line in _LINE.finditer(text) for one in _AVERAGED.finditer(line["rest"]))
    lost = [name for name in averaged if name not in known and _meaning(name)[0] in JUDGED]
    if lost:
        what = f"has averages alone of {', '.join(lost)}, but percentiles of {', '.join(names)}"
        raise LogError(what, where=where, mend="run YCSB with `measurementtype=hdrhistogram` for every operation")


def _meaning(name: str) -> Meaning:
    """Return what a measurement covers. A measurement that YCSB does not make, and that the user has named, is an
    operation.
    """
    return meaning(name) or ("service time", name)


def _judged(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names to judge, which are each operation's response times if there are any, and the other names."""
    intended = {_meaning(name)[1] for name in names if _meaning(name)[0] == "response time"}
    judged = [
        name
        for name in names
        if (found := _meaning(name))[0] == "response time" or (found[0] == "service time" and found[1] not in intended)
    ]
    return judged, [name for name in names if name not in judged]


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
    found: list[_Status] = []
    for line, end in zip(lines, ends, strict=True):
        rest = text[line.start("rest") : end]
        if end == len(text) and (_CUT.search(rest) or _lacks_its_end(rest, found)):
            what = "the last status is cut short (was YCSB killed?); those before it count"
            return found, (f"{_where(name, text, line)}: {what}",)
        try:
            found.append(_status(line["at"], rest))
        except ValueError as error:
            raise LogError("is a damaged status line", where=_where(name, text, line), mend=_MEND) from error
    return found, ()


def _lacks_its_end(rest: str, before: Sequence[_Status]) -> bool:
    """Tell whether a last status without its line's end names fewer operations than the one before it."""
    if rest.endswith("\n") or not before:
        return False
    return {one["name"] for one in _operations(rest)} < set(before[-1].operations)


def _where(name: str, text: str, line: re.Match[str]) -> str:
    number = text.count("\n", 0, line.start()) + 1
    return f"{name}, line {number}"


def _status(time: str, rest: str) -> _Status:
    """Return the status at a time. Raises ValueError where it is damaged."""
    if _CUT.search(rest):
        raise ValueError("has a bracket that is not closed")
    # The output does not give the time zone; only differences are used.
    at = datetime.strptime(time + "000", "%Y-%m-%d %H:%M:%S:%f").replace(tzinfo=UTC)
    found = list(_operations(rest))
    operations = {one["name"]: (int(one["count"]), _figures(one["figures"])) for one in found}
    if len(operations) < len(found):
        raise ValueError("has an operation twice")
    return _Status(at, operations)


def _operations(rest: str) -> Iterator[re.Match[str]]:
    return (one for one in _OPERATION.finditer(rest) if "99=" in one["figures"])


def _figures(text: str) -> dict[float, float]:
    found = {one["name"]: one["value"] for one in _FIGURE.finditer(text)}
    values = {
        100.0 if name == "Max" else float(name): value
        for name, value in found.items()
        if name[0] not in "AM" or name == "Max"
    }
    return {percentile: float(value.replace(",", ".")) / _US_PER_MS for percentile, value in values.items()}


def _samples(statuses: Sequence[_Status], names: Sequence[str], kinds: Mapping[str, str]) -> Iterator[Sample]:
    """Yield one sample per name and status line, for the time since the line before.

    An operation that a line omits had no answers.
    """
    for before, status in pairwise(statuses):
        length_s = (status.at - before.at).total_seconds()
        for name in names:
            count, values = status.operations.get(name, (0, {}))
            yield Sample(before.at.timestamp(), length_s, _kind(name, kinds), count, values if count else {}, name)


def _kind(name: str, kinds: Mapping[str, str]) -> str:
    operation = _meaning(name)[1]
    return kinds.get(operation.lower(), operation)


def _summary(text: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in _SUMMARY.finditer(text):
        with suppress(ValueError):
            found.setdefault(line["name"], {})[line["what"]] = float(line["value"])
    return found


def _whole_run(
    summary: Mapping[str, Mapping[str, float]], judged: Sequence[str], kinds: Mapping[str, str]
) -> Iterator[WholeRun]:
    for name, figures in summary.items():
        if "Operations" in figures and name in judged:
            values = {
                float(one["percentile"]): value / _US_PER_MS
                for what, value in figures.items()
                if (one := _PERCENTILE.fullmatch(what))
            }
            highest = {100.0: figures["MaxLatency(us)"] / _US_PER_MS} if "MaxLatency(us)" in figures else {}
            yield WholeRun(_kind(name, kinds), round(figures["Operations"]), values | highest)


def _errors(summary: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """Count failed operations by the result that they returned."""
    found: dict[str, int] = {}
    for figures in summary.values():
        for what, value in figures.items():
            kind = what.removeprefix("Return=")
            if kind not in (what, "OK"):
                found[kind] = found.get(kind, 0) + round(value)
    return found


def _failed(statuses: Sequence[_Status]) -> dict[str, int] | None:
    """Return the number of failed operations as the status lines count them; None where there are no such lines."""
    found: dict[str, int] = {}
    for status in statuses:
        for name, (count, _) in status.operations.items():
            if _meaning(name)[0] == "time of failures" and "Intended-" not in name:
                kind = name.partition("-")[2]
                found[kind] = found.get(kind, 0) + count
    return found if any(status.operations for status in statuses) else None


def _omission(judged: Sequence[str]) -> Iterator[str]:
    by_send = [name for name in judged if "Intended-" not in name]
    if by_send:
        whose = f"{', '.join(by_send)}: " if len(by_send) < len(judged) else ""
        yield f"{whose}judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
