"""Check whether the measurement of one attempt is sound: its measurements, and the suites that see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.part import Part
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


def check_imported(part: Part, cell: Cell, imported: ImportedAttempt) -> Quality:
    """Return the checks of an attempt that need only its intervals. Hosts, nodes and load generator are not checked."""
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables
    from plimsoll.quality.engine import validate

    timeline = CheckedTable("Judged intervals", tables.timeline(part, imported), suites.timeline(part), ("start_s",))
    percentiles = CheckedTable(
        "Percentiles", tables.percentiles(imported), suites.percentiles(), ("start_s", "operation")
    )
    parts = (timeline, percentiles) if imported.histograms else (timeline,)
    return validate(f"{cell.id}: is the imported measurement sound?", parts)


def check_attempt(part: Part, cell: Cell, measured: MeasuredAttempt) -> Quality:
    """Return every check of the attempt, with its Data Docs. A check of something that is not known fails."""
    from plimsoll.quality.engine import validate

    return validate(f"{cell.id}: is the measurement sound?", attempt_suite(part, cell, measured))


def attempt_suite(part: Part, cell: Cell, measured: MeasuredAttempt) -> tuple[CheckedTable, ...]:
    """Return the tables of an attempt, each with its expectations."""
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables

    several = part.load_generator.hosts > 1
    percentiles = CheckedTable(
        "Percentiles", tables.percentiles(measured), suites.percentiles(), ("start_s", "operation")
    )
    return (
        CheckedTable("Judged intervals", tables.timeline(part, measured), suites.timeline(part), ("start_s",)),
        *([percentiles] if measured.histograms else []),
        CheckedTable("Run", tables.run(part, cell, measured), suites.run(part, cell)),
        *(_load_hosts(part, measured) if several else ()),
        _nodes(part, cell, measured),
        CheckedTable("Hosts", tables.hosts(part, measured), suites.hosts(part), ("host",)),
    )


def _nodes(part: Part, cell: Cell, measured: MeasuredAttempt) -> CheckedTable:
    """Return the table of the nodes: what really runs there, or the little that an external cluster tells."""
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables

    if "nodes" not in part.knows:
        return CheckedTable("Nodes", tables.reported_nodes(measured), suites.reported_nodes(part, cell), ("host",))
    expected = suites.nodes(part, cell, measured.processes, len(measured.fingerprint.nodes))
    return CheckedTable("Nodes", tables.nodes(measured), expected, ("host",))


def _load_hosts(part: Part, measured: MeasuredAttempt) -> tuple[CheckedTable, ...]:
    """Return the tables of several load hosts that share one load: of each host, and of their common start."""
    from plimsoll.quality import load_hosts

    return (
        CheckedTable("Load hosts", load_hosts.table(measured), load_hosts.suite(part), ("host",)),
        CheckedTable("Common start", load_hosts.start_table(measured), load_hosts.start_suite(part)),
    )
