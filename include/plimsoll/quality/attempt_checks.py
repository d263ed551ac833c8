"""Check whether the measurement of one attempt is sound."""

from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.part import Part
from plimsoll.quality.expectation import CheckedTable, Quality
from plimsoll.quality.measured import ImportedAttempt, MeasuredAttempt


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
