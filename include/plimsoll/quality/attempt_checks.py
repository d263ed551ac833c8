"""Check whether the measurement of one attempt is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.quality.expectation import Part, Quality

if TYPE_CHECKING:
    from plimsoll.domain.cell import Cell
    from plimsoll.domain.definition import Definition
    from plimsoll.quality.measured import ImportedAttempt, MeasuredAttempt


def check_imported(definition: Definition, cell: Cell, imported: ImportedAttempt) -> Quality:
    """Return the checks of an attempt that need only its intervals. Hosts, nodes and load generator are not checked."""
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables
    from plimsoll.quality.engine import validate

    timeline = Part(
        "Judged intervals", tables.timeline(definition, imported), suites.timeline(definition), ("start_s",)
    )
    percentiles = Part("Percentiles", tables.percentiles(imported), suites.percentiles(), ("start_s", "operation"))
    parts = (timeline, percentiles) if imported.histograms else (timeline,)
    return validate(f"{cell.id}: is the imported measurement sound?", parts)


def check_attempt(definition: Definition, cell: Cell, measured: MeasuredAttempt) -> Quality:
    """Return every check of the attempt, with its Data Docs. A check of something that is not known fails."""
    from plimsoll.quality.engine import validate

    return validate(f"{cell.id}: is the measurement sound?", attempt_suite(definition, cell, measured))


def attempt_suite(definition: Definition, cell: Cell, measured: MeasuredAttempt) -> tuple[Part, ...]:
    """Return the tables of an attempt, each with its expectations."""
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables

    several = definition.load_generator.hosts > 1
    percentiles = Part("Percentiles", tables.percentiles(measured), suites.percentiles(), ("start_s", "operation"))
    return (
        Part("Judged intervals", tables.timeline(definition, measured), suites.timeline(definition), ("start_s",)),
        *([percentiles] if measured.histograms else []),
        Part("Run", tables.run(definition, cell, measured), suites.run(definition, cell)),
        *(_load_hosts(definition, measured) if several else ()),
        _nodes(definition, cell, measured),
        Part("Hosts", tables.hosts(definition, measured), suites.hosts(definition), ("host",)),
    )


def _nodes(definition: Definition, cell: Cell, measured: MeasuredAttempt) -> Part:
    """Return the table of the nodes: what really runs there, or the little that an external cluster tells."""
    from plimsoll.quality import attempt_suites as suites
    from plimsoll.quality import attempt_tables as tables

    if definition.provider.is_external:
        return Part("Nodes", tables.reported_nodes(measured), suites.reported_nodes(definition, cell), ("host",))
    expected = suites.nodes(definition, cell, measured.processes, len(measured.fingerprint.nodes))
    return Part("Nodes", tables.nodes(measured), expected, ("host",))


def _load_hosts(definition: Definition, measured: MeasuredAttempt) -> tuple[Part, ...]:
    """Return the tables of several load hosts that share one load: of each host, and of their common start."""
    from plimsoll.quality import load_hosts

    return (
        Part("Load hosts", load_hosts.table(measured), load_hosts.suite(definition), ("host",)),
        Part("Common start", load_hosts.start_table(measured), load_hosts.start_suite(definition)),
    )
