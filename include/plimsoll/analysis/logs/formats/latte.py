"""latte: its own report, a JSON file with a histogram for every sample and function, and `latte hdr`, a log with the
tags `requests` and `cycles`, to which ScyllaDB's latte adds one for each function.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from math import isfinite
from statistics import median
from typing import Any

from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs, Meaning
from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile, failures_at, only_one
from plimsoll.analysis.logs.formats.selection import Measure, Series, select
from plimsoll.analysis.logs.formats.units import FoundUnit, unit_of
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import ODD_LENGTH, totals
from plimsoll.domain.keys.log_words import KINDS
from plimsoll.domain.text.errors import LogError

_UNIT = FoundUnit("ns", "latte writes ns")
_MEND = "give the JSON file that `latte run` wrote"
SKIPS = "latte skips operations that were due in a stall instead of sending them late: fewer were sent than asked for"
_TAG = re.compile(r"(?P<prefix>.*\.)?(?P<kind>requests|cycles)|fn--(?P<function>.+)")
"""`--tag` puts a prefix before them."""


class LatteJson:
    """Times in ns. The functions of a workload are its operations, where one call of a function is one request.

    Otherwise all requests are judged together.
    """

    name = "latte"
    title = "latte report (JSON)"

    def recognises(self, file: RunFile) -> bool:
        head = file.head.lstrip()
        return head.startswith("{") and '"conf"' in head and ('"sampling_interval"' in head or '"cycle_count"' in head)

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return service times by function, from the samples' histograms."""
        file = only_one(files, "reports")
        try:
            content = json.loads(file.text)
        except (ValueError, RecursionError) as error:
            raise LogError(f"is not whole JSON ({error})", where=file.name, mend=_MEND) from error
        try:
            return self._reading(file, content, options)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise LogError(f"is not a report as latte writes it ({error!r})", where=file.name, mend=_MEND) from error

    def _reading(self, file: RunFile, content: Any, options: ReadOptions) -> Reading:
        result, rate = content["result"], content["conf"]["rate"]
        # ScyllaDB's latte has the rate's form beside it (a sine around it)
        rate = rate["rate"] if isinstance(rate, Mapping) else rate
        rate = None if rate is None else _finite(float(rate))
        started_at = datetime.fromisoformat(result["start_time"])
        start_s, samples = started_at.timestamp(), result["log"]
        # A sample tells the failed cycles of its last function alone: latte overwrites the number, where it should add
        counts = (max(sample["cycle_error_count"], sample.get("req_error_count", 0)) for sample in samples)
        middles = (start_s + sample["time_s"] + sample["duration_s"] / 2 for sample in samples)
        failures = tuple(failures_at(file.name, "failed cycles", zip(middles, counts, strict=True), among_times=True))
        samples, late = _without_long_last_one(file.name, samples)
        by_function = _series(file.name, {**result, "log": samples}, start_s, {**KINDS, **options.kinds})
        series = [tagged for tagged in by_function if tagged.records]
        if not series:
            what = "holds no samples with histograms"
            raise LogError(what, where=file.name, mend="run latte without `--drop-sampling-log`")
        tracks, notes, _ = select(series)
        unit_of(options.unit, _UNIT, file.name)
        return Reading(
            title=self.title,
            tracks=tracks,
            unit=_UNIT,
            notes=(*late, *notes, *_remarks(file.name, result, rate, sum(failure.total for failure in failures))),
            errors=totals(failures),
            failures=failures,
            attempted_ops_s=rate,
            started_at=started_at,
        )


def _series(name: str, result: Mapping[str, Any], start_s: float, kinds: Mapping[str, str]) -> Iterator[Series]:
    """Yield the histograms of each function if one call is one request, else of all requests together."""
    log, samples = HistogramLog(name, (), start_s), result["log"]
    functions = dict.fromkeys(function for sample in samples for function in sample["cycle_latency_by_fn"])
    if result["requests_per_cycle"] != 1:
        functions = {}
    for function in functions or [""]:
        records = []
        for number, sample in enumerate(samples, 1):
            histogram = sample["cycle_latency_by_fn"].get(function) if functions else sample.get("request_latency")
            if histogram is not None:
                start, length_s = _finite(start_s + sample["time_s"]), _finite(sample["duration_s"])
                records.append(Record(function, start, length_s, memoryview(histogram["histogram"].encode()), number))
        yield Series(log, "service time", kinds.get(function.lower(), function), tuple(records), function)


def _finite(seconds: float) -> float:
    if not isfinite(seconds):
        raise ValueError("times must be finite")
    return seconds


def _without_long_last_one(
    name: str, samples: Sequence[Mapping[str, Any]]
) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
    """Return the samples without a last one that is too long, and the remark on it.

    When the run ends, latte makes one last sample of all that is not in one yet. On a busy host that sample is of
    seconds, which can't be told apart, so they are no interval.
    """
    lengths = [sample["duration_s"] for sample in samples]
    if len(lengths) < 2 or lengths[-1] <= median(lengths) * (1 + ODD_LENGTH):
        return samples, ()
    return samples[:-1], (f"{name}: the last sample covers {lengths[-1]:.3f} s of a run that ended: it is left out",)


def _remarks(name: str, result: Mapping[str, Any], rate: float | None, errors: int) -> Iterator[str]:
    yield SKIPS
    if rate:
        achieved = result["cycle_count"] / result["elapsed_time_s"]
        yield f"{name}: {achieved:.1f} of {rate:g} ops/s asked for were reached ({achieved / rate:.1%})"
    if errors:
        yield f"{name}: {errors} failed calls are among the times: errors are counted as latencies"


class LatteLog(IntervalLogs):
    """Service times in ns, reads and writes together; `latte.json` has them separately."""

    name = "latte-hdr"
    title = "latte HDR log"
    tool = "latte"
    unit = "ns"

    def recognises(self, file: RunFile) -> bool:
        return super().recognises(file) and "#[Logged with Latte" in file.head

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        """Yield the series of a log; those of one prefix are measures of the same operations."""
        for tagged in super()._series(log, kinds):
            match = _TAG.fullmatch(tagged.tag)
            yield tagged._replace(own_name=match["prefix"]) if match and match["prefix"] else tagged

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning | None:  # noqa: ARG002 - by tag
        match = _TAG.fullmatch(tag)
        if match is None:
            return None
        measure: Measure = "service time" if match["kind"] == "requests" else "cycle time"
        prefix = (match["prefix"] or "").rstrip(".")
        return measure, match["function"] or (prefix if prefix.lower() in kinds else "")

    def _refuse(self, series: Sequence[Series]) -> None:
        """Raise LogError where times of single functions stand beside those of all functions, as of two files."""
        functions = [tagged for tagged in series if tagged.tag.startswith("fn--")]
        others = [tagged for tagged in series if tagged.is_known and tagged not in functions]
        if functions and others:
            what = f"holds times of a function, and {others[0].name} those of all functions"
            raise LogError(what, where=functions[0].name, mend="give one of them, or name the tags, `--tags NAME`")

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:  # noqa: ARG002 - whatever is in the log
        yield SKIPS
        yield "latte times calls that failed like others: errors count as latencies, and only its report counts them"
