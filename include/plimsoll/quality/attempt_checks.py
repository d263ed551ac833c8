"""Check whether the measurement of one attempt is sound: its measurements, and the suites that see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.part import Part
from plimsoll.quality.engine import validate
from plimsoll.quality.expectation import CheckedTable, Quality

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from plimsoll.analysis.attempt.judgement import MissedInterval
    from plimsoll.domain.attempt.load_summary import LoadStart, LoadSummary
    from plimsoll.domain.attempt.result import OpeningBacklog
    from plimsoll.domain.hosts.fingerprint import Fingerprint
    from plimsoll.domain.keys.process import GeneratorSecond, Process


@dataclass(frozen=True, eq=False)
class TimedAttempt:
    """What is known of every attempt, and all that is known of an imported run.

    `intervals`: the intervals table of the analysis. `stalls_s`: starts of intervals in which nothing was answered
    though operations were under way. `histograms`: whether the intervals come from histograms, and not from single
    percentiles.
    """

    intervals: pd.DataFrame
    stalls_s: tuple[float, ...] = ()
    histograms: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredAttempt(TimedAttempt):
    """The measurements of one attempt.

    `samples`: the hosts' figures, one row per second and host, with the columns `host`, `time_s` (since the epoch),
    `cpu_steal` (share), `memory_available_bytes` and `cpu_others` (share; missing in old attempts); empty where no
    samples were taken. `nodes_down`: a sentence for each node that was found down. `processes`: those that the product
    declares. `opening_backlog`: the backlog at the start of the judged time, if known. `summary`: the report on the
    whole load. With several load hosts, `summaries` are their reports on their parts, and `load_start` is their common
    start. `missed`: every interval in which the attempt missed, by any service level, the rate or failed operations.
    `seconds`: the load generator's own state. `ahead_ms`: how far hosts' clocks are ahead of the load generator's.
    """

    summary: LoadSummary
    fingerprint: Fingerprint
    processes: Sequence[Process]
    samples: pd.DataFrame
    summaries: Mapping[str, LoadSummary] = field(default_factory=dict)
    load_start: LoadStart | None = None
    nodes_down: tuple[str, ...] = ()
    opening_backlog: OpeningBacklog | None = None
    missed: tuple[MissedInterval, ...] = ()
    seconds: Sequence[GeneratorSecond] = ()
    ahead_ms: Mapping[str, float] = field(default_factory=dict)


def check_imported(part: Part, cell: Cell, imported: TimedAttempt) -> Quality:
    """Return the checks of an attempt that need only its intervals. Hosts, nodes and load generator are not checked."""
    return validate(f"{cell.id}: is the imported measurement sound?", _of_intervals(part, imported))


def check_attempt(part: Part, cell: Cell, measured: MeasuredAttempt) -> Quality:
    """Return every check of the attempt, with its Data Docs. A check of something that is not known fails."""
    return validate(f"{cell.id}: is the measurement sound?", attempt_suite(part, cell, measured))


def attempt_suite(part: Part, cell: Cell, measured: MeasuredAttempt) -> tuple[CheckedTable, ...]:
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables
    from plimsoll.quality import load_hosts

    if "nodes" in part.knows:
        expected = suites.nodes(part, cell, measured.processes, len(measured.fingerprint.nodes))
        nodes = CheckedTable("Nodes", tables.nodes(measured), expected, ("host",))
    else:  # an external cluster tells little
        reported = tables.reported_nodes(measured)
        nodes = CheckedTable("Nodes", reported, suites.reported_nodes(part, cell, tables.not_told(measured)), ("host",))
    of_load_hosts: tuple[CheckedTable, ...] = ()
    if part.load_generator.hosts > 1:
        of_load_hosts = (
            CheckedTable("Load hosts", load_hosts.table(measured), load_hosts.suite(part), ("host",)),
            CheckedTable("Common start", load_hosts.start_table(measured), load_hosts.start_suite(part)),
        )
    return (
        *_of_intervals(part, measured),
        CheckedTable("Run", tables.run(part, cell, measured), suites.run(part, cell)),
        *of_load_hosts,
        nodes,
        CheckedTable("Hosts", tables.hosts(part, measured), suites.hosts(part), ("host",)),
    )


def _of_intervals(part: Part, measured: TimedAttempt) -> tuple[CheckedTable, ...]:
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables

    timeline = CheckedTable("Judged intervals", tables.timeline(part, measured), suites.timeline(part), ("start_s",))
    if not measured.histograms:
        return (timeline,)
    rows_by = ("start_s", "operation")
    return timeline, CheckedTable("Percentiles", tables.percentiles(measured), suites.percentiles(), rows_by)
