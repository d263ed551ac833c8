"""The measurements of one attempt, as its quality suites see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from plimsoll.analysis.attempt.judgement import MissedInterval
    from plimsoll.domain.attempt.load_summary import LoadStart, LoadSummary
    from plimsoll.domain.attempt.result import OpeningBacklog
    from plimsoll.domain.hosts.fingerprint import Fingerprint
    from plimsoll.domain.keys.process import GeneratorSecond, Process


@dataclass(frozen=True, eq=False)
class MeasuredAttempt:
    """The measurements of one attempt.

    `intervals`: the intervals table of the analysis. `samples`: the hosts' figures, one row per second and host, with
    the columns `host`, `time_s` (since the epoch), `cpu_steal` (share), `memory_available_bytes` and `cpu_others`
    (share; missing in old attempts); empty where no samples were taken. `nodes_down`: a sentence for each node that was
    found down. `processes`: those that the product declares. `stalls_s`: starts of intervals in which nothing was
    answered though operations were under way. `opening_backlog`: the backlog at the start of the judged time, if known.
    `summary`: the report on the whole load. With several load hosts, `summaries` are their reports on their parts, and
    `load_start` is their common start. `missed`: every interval in which the attempt missed, by any service level, the
    rate or failed operations. `seconds`: the load generator's own state. `ahead_ms`: how far hosts' clocks are ahead of
    the load generator's. `histograms`: whether the intervals come from histograms, and not from single percentiles.
    """

    intervals: pd.DataFrame
    summary: LoadSummary
    fingerprint: Fingerprint
    processes: Sequence[Process]
    samples: pd.DataFrame
    summaries: Mapping[str, LoadSummary] = field(default_factory=dict)
    load_start: LoadStart | None = None
    nodes_down: tuple[str, ...] = ()
    stalls_s: tuple[float, ...] = ()
    opening_backlog: OpeningBacklog | None = None
    missed: tuple[MissedInterval, ...] = ()
    seconds: Sequence[GeneratorSecond] = ()
    ahead_ms: Mapping[str, float] = field(default_factory=dict)
    histograms: bool = True


@dataclass(frozen=True, eq=False)
class ImportedAttempt:
    """The known data of an imported run: its intervals, and whether they come from histograms."""

    intervals: pd.DataFrame
    stalls_s: tuple[float, ...] = ()
    histograms: bool = True
