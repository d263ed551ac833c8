"""Check whether the measurement of one attempt is sound."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.quality.blame import ERROR_LIMIT, error_share
from plimsoll.quality.expectation import Part, Quality

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from plimsoll.domain.cell import Cell
    from plimsoll.domain.clocks import LoadStart
    from plimsoll.domain.definition import Definition
    from plimsoll.domain.fingerprint import Fingerprint
    from plimsoll.domain.load_summary import LoadSummary
    from plimsoll.domain.result import OpeningBacklog

__all__ = ["ERROR_LIMIT", "Imported", "Measured", "attempt_suite", "check_attempt", "check_imported", "error_share"]


@dataclass(frozen=True, eq=False)
class Measured:
    """The measurements of one attempt.

    `intervals`: the intervals table of the analysis. `samples`: the hosts' figures, one row per second and host, with
    the columns `host`, `time_s` (since the epoch), `cpu_steal` (share), `memory_available_bytes` and `cpu_others`
    (share; missing in old attempts); empty where no samples were taken. `nodes_down`: a sentence for each node that was
    found down. `stalls_s`: starts of intervals in which nothing was answered though operations were under way.
    `opening_backlog`: the backlog at the start of the judged time, if known. `summary`: the report on the whole load.
    With several load hosts, `summaries` are their reports on their parts, and `load_start` is their common start.
    """

    intervals: pd.DataFrame
    summary: LoadSummary
    fingerprint: Fingerprint
    samples: pd.DataFrame
    summaries: Mapping[str, LoadSummary] = field(default_factory=dict)
    load_start: LoadStart | None = None
    nodes_down: tuple[str, ...] = ()
    stalls_s: tuple[float, ...] = ()
    opening_backlog: OpeningBacklog | None = None


@dataclass(frozen=True, eq=False)
class Imported:
    """The known data of an imported run: its intervals, and whether they come from histograms."""

    intervals: pd.DataFrame
    stalls_s: tuple[float, ...] = ()
    histograms: bool = True


def check_imported(definition: Definition, cell: Cell, imported: Imported) -> Quality:
    """The checks of an attempt that need only its intervals. Hosts, nodes and load generator are not checked."""
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables
    from plimsoll.quality.engine import validate

    timeline = Part(
        "Judged intervals", tables.timeline(definition, imported), suites.timeline(definition), ("start_s",)
    )
    percentiles = Part("Percentiles", tables.percentiles(imported), suites.percentiles(), ("start_s", "operation"))
    parts = (timeline, percentiles) if imported.histograms else (timeline,)
    return validate(f"{cell.id}: is the imported measurement sound?", parts)


def check_attempt(definition: Definition, cell: Cell, measured: Measured) -> Quality:
    """Every check of the attempt, with its Data Docs. A check of something that is not known fails."""
    from plimsoll.quality.engine import validate

    return validate(f"{cell.id}: is the measurement sound?", attempt_suite(definition, cell, measured))


def attempt_suite(definition: Definition, cell: Cell, measured: Measured) -> tuple[Part, ...]:
    """The tables of an attempt, each with its expectations."""
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables

    several = definition.load_generator.hosts > 1
    return (
        Part("Judged intervals", tables.timeline(definition, measured), suites.timeline(definition), ("start_s",)),
        Part("Percentiles", tables.percentiles(measured), suites.percentiles(), ("start_s", "operation")),
        Part("Run", tables.run(definition, cell, measured), suites.run(definition)),
        *(_load_hosts(definition, measured) if several else ()),
        Part("Nodes", tables.nodes(definition, cell, measured), suites.nodes(definition, cell), ("host",)),
        Part("Hosts", tables.hosts(definition, measured), suites.hosts(definition), ("host",)),
    )


def _load_hosts(definition: Definition, measured: Measured) -> tuple[Part, ...]:
    """The tables of several load hosts that share one load: of each host, and of their common start."""
    from plimsoll.quality import load_hosts

    return (
        Part("Load hosts", load_hosts.table(measured), load_hosts.suite(definition), ("host",)),
        Part("Common start", load_hosts.start_table(measured), load_hosts.start_suite(definition)),
    )
