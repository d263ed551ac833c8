"""YCSB's console output: a status line every 10 s with percentiles of that time, and a summary of the whole run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from plimsoll.analysis.formats.reading import Asked, Reading, RunFile, Sample, WholeRun
from plimsoll.analysis.formats.ycsb_logs import meaning, remarks
from plimsoll.analysis.operations import Measure
from plimsoll.domain.errors import LogError
from plimsoll.domain.log_remarks import COORDINATED_OMISSION
from plimsoll.domain.query_kinds import KINDS

_LINE = re.compile(
    r"^.*?(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) (?P<second>\d+) sec: \d+ operations;(?P<rest>.*)$", re.MULTILINE
)
_OPERATION = re.compile(r"\[(?P<name>[A-Za-z_-]+): Count=(?P<count>\d+), (?P<figures>[^\]]*)\]")
_FIGURE = re.compile(r"(?P<name>Max|Min|Avg|[\d.]+)=(?P<value>[\d.,]+?)(?=, |$)")
_SUMMARY = re.compile(r"^\[(?P<name>[A-Za-z_-]+)\], (?P<what>[^,\n]+), (?P<value>[\d.]+)\s*$", re.MULTILINE)
_PERCENTILE = re.compile(r"(?P<percentile>[\d.]+?)(st|nd|rd|th)?PercentileLatency\(us\)")
_US_PER_MS = 1000


class _Status(NamedTuple):
    at: datetime
    operations: Mapping[str, tuple[int, Mapping[float, float]]]


class YcsbStatus:
    """Output of `measurementtype=hdrhistogram`, in µs. The other measurement types print only averages."""

    name = "ycsb"
    title = "YCSB console output"

    def recognises(self, file: RunFile) -> bool:
        """By a status line, or by the first line of the summary."""
        return bool(_LINE.search(file.head) or re.search(r"^\[OVERALL\], RunTime\(ms\), ", file.head, re.MULTILINE))

    def read(self, files: Sequence[RunFile], asked: Asked) -> Reading:
        """Samples from the status lines, and the whole run's figures from the summary."""
        if len(files) > 1:
            where = ", ".join(file.name for file in files)
            raise LogError("are several outputs, each of a run of its own", where=where, mend="judge them one by one")
        text, name = files[0].text, files[0].name
        kinds = {**KINDS, **asked.kinds}
        statuses = [_status(line) for line in _LINE.finditer(text)]
        names = list(dict.fromkeys(one for status in statuses for one in status.operations))
        measure: Measure = "response time" if any("Intended-" in one for one in names) else "service time"
        samples = tuple(_samples(statuses, [one for one in names if meaning(one)[0] == measure], kinds))
        summary = _summary(text)
        return Reading(
            title=self.title,
            samples=samples,
            whole_run=tuple(_whole_run(summary, measure, kinds)),
            obstacles=() if samples else (f"{name}: no status line tells percentiles (run YCSB with `-s`)",),
            notes=(*(_omission(measure) if samples else ()), *remarks(names or list(summary))),
            errors=_errors(summary) if summary else _failed(statuses),
        )


def _status(line: re.Match[str]) -> _Status:
    # The time zone is not told; only differences are used.
    at = datetime.strptime(line["at"] + "000", "%Y-%m-%d %H:%M:%S:%f").replace(tzinfo=UTC)
    return _Status(
        at, {one["name"]: (int(one["count"]), _figures(one["figures"])) for one in _operations(line["rest"])}
    )


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
    """One sample per name and status line, for the time since the line before.

    An operation that a line omits had no answers.
    """
    for before, status in pairwise(statuses):
        length_s = (status.at - before.at).total_seconds()
        for name in names:
            operation = meaning(name)[1]
            count, values = status.operations.get(name, (0, {}))
            kind = kinds.get(operation.lower(), operation)
            yield Sample(before.at.timestamp(), length_s, kind, count, values if count else {})


def _summary(text: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in _SUMMARY.finditer(text):
        found.setdefault(line["name"], {})[line["what"]] = float(line["value"])
    return found


def _whole_run(
    summary: Mapping[str, Mapping[str, float]], measure: Measure, kinds: Mapping[str, str]
) -> Iterator[WholeRun]:
    for name, figures in summary.items():
        if "Operations" in figures and meaning(name)[0] == measure:
            operation = meaning(name)[1]
            values = {
                float(one["percentile"]): value / _US_PER_MS
                for what, value in figures.items()
                if (one := _PERCENTILE.fullmatch(what))
            }
            highest = {100.0: figures["MaxLatency(us)"] / _US_PER_MS} if "MaxLatency(us)" in figures else {}
            yield WholeRun(kinds.get(operation.lower(), operation), round(figures["Operations"]), values | highest)


def _errors(summary: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """Failed operations by the result that they returned."""
    found: dict[str, int] = {}
    for figures in summary.values():
        for what, value in figures.items():
            kind = what.removeprefix("Return=")
            if kind not in (what, "OK"):
                found[kind] = found.get(kind, 0) + round(value)
    return found


def _failed(statuses: Sequence[_Status]) -> dict[str, int] | None:
    """The number of failed operations as the status lines count them; None where there are no such lines."""
    found: dict[str, int] = {}
    for status in statuses:
        for name, (count, _) in status.operations.items():
            if meaning(name)[0] == "time of failures" and "Intended-" not in name:
                kind = name.partition("-")[2]
                found[kind] = found.get(kind, 0) + count
    return found if any(status.operations for status in statuses) else None


def _omission(measure: Measure) -> Iterator[str]:
    if measure == "service time":
        yield f"judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
