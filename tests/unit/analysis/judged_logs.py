"""Logs with a record for each second, and their judgement."""

from datetime import timedelta
from typing import Any

from tests.support.campaigns.interval_logs import every_second, log

from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.domain.keys.service_level import ServiceLevel

FAST, SLOW = 1_000, 250_000
"""Of an operation that meets `LEVEL`, and of one that misses it, µs."""
WRITES, READS = "r.hdr-intended-mutations", "r.hdr-intended-selects"
LEVEL = ServiceLevel()


def run(warmup_s: float = 10, duration_s: float | None = None, **facts: Any) -> Run:
    """Return ten seconds of warm-up unless told otherwise."""
    duration = None if duration_s is None else timedelta(seconds=duration_s)
    return Run(warmup=timedelta(seconds=warmup_s), duration=duration, **facts)


def seconds(count: int, values: list[int], **special: list[int]) -> bytes:
    """Write `count` records with the same values, but those of `at_<second>`."""
    return log(every_second([special.get(f"at_{second}", values) for second in range(count)]))


def judge(files: dict[str, bytes], what: Run | None = None, *levels: ServiceLevel, **options: Any) -> Any:
    """Return the judgement of these logs, by file name."""
    return judge_logs(files, what or run(), levels or (LEVEL,), **options)
