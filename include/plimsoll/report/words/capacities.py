"""The capacity of each variant as a row of texts, and as the table that page and summary show."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.analysis.campaign.capacity import AnswerOverStages, Capacity, nodes_for, reported_capacities
from plimsoll.analysis.campaign.cell_results import CampaignData, cell_results
from plimsoll.analysis.campaign.findings import CampaignCells, Findings, data_of_parts
from plimsoll.domain.keys.action import condition_of
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.text.units import format_rate, show_usd
from plimsoll.report.formatting import NOTHING, listing, multiple, ops, percent, percent_at_least
from plimsoll.report.tables import Column, PlainTable, Table, plain
from plimsoll.report.words.answers import headline, in_this_stage, rung_outcome, threshold_words
from plimsoll.report.words.stages import miss_in_words

_FARTHEST = 2
"""The greatest multiple of the measured capacity for which numbers of nodes are given."""


@dataclass(frozen=True)
class CapacityRow:
    """One variant's line in the capacity table, as text.

    `narrowing` says which loads to run next; it is empty where there are none. `bracketed_ops_s` are these loads with
    the tested loads on either side of them.
    """

    variant: str
    capacity: str
    rests_on: str
    next_load: str
    by_how_much: str
    pass_probability: str
    threshold: str
    to_control: str
    nodes: str
    notes: tuple[str, ...]
    narrowing: str
    chance: float | None
    asks_threshold: bool
    bracketed_ops_s: tuple[int, ...]
    share_of_highest_load: float
    firm: bool


def capacity_rows_of(data: CampaignData) -> tuple[CapacityRow, ...]:
    """Return the capacity of each variant and workload, in the definition's order, with the outcomes that it rests on.

    Stages that take their load from an earlier one have none.
    """
    rows: list[CapacityRow] = []
    for part in data_of_parts(data):
        cells = CampaignCells(part, cell_results(part))
        own = [_row(cells, capacity) for capacity in reported_capacities(part, cells.cells)]
        name = cells.part.id
        rows += [replace(row, variant=f"{row.variant}, {name}") for row in own] if name else own
    return tuple(rows)


def capacity_rows(findings: Findings) -> tuple[CapacityRow, ...]:
    return tuple(_row(findings, capacity) for capacity in findings.capacities)


def capacities_table(rows: Sequence[CapacityRow], of: str = "", nodes_for: int | None = None) -> Table[CapacityRow]:
    """Return the capacities that page and summary show, the label ending with `of`.

    `nodes_for`: the load, ops/s, for which numbers of nodes are shown; None shows none.
    """
    is_asked = bool(rows) and all(row.asks_threshold for row in rows)
    return Table(
        f"Capacity of each variant{of}",
        rows,
        Column("Variant", lambda row: row.variant),
        Column("Capacity", lambda row: row.capacity, "strong"),
        Column("Rests on", lambda row: row.rests_on, shown=not is_asked),
        Column("Next higher load", lambda row: row.next_load, shown=not is_asked),
        Column("Pass probability", lambda row: row.pass_probability, shown=not is_asked),
        Column(_threshold_heading(rows), lambda row: row.threshold, shown=not is_asked),
        Column("To control", lambda row: row.to_control),
        Column(f"Nodes for {ops(nodes_for)}", lambda row: row.nodes, shown=nodes_for is not None),
    )


def conditions_table(answers: Sequence[AnswerOverStages], labels: Mapping[str, str]) -> PlainTable | None:
    """Return each variant's capacities by condition, for each workload and service level.

    None where a campaign looked for capacities under one condition alone.
    """
    conditions = tuple(dict.fromkeys(condition_of(answer.action) for answer in answers))
    if len(conditions) < 2:
        return None
    by_condition: dict[tuple[str, str], dict[str, Capacity]] = {}
    for answer in answers:
        workload, levels = answer.question
        for capacity in answer.capacities:
            named = ", ".join(filter(None, (labels[capacity.variant], workload)))
            by_condition.setdefault((named, " and ".join(map(str, levels))), {})[condition_of(answer.action)] = capacity
    rows = (
        (*named, *(headline(carried[name]) if name in carried else NOTHING for name in conditions))
        for named, carried in by_condition.items()
    )
    headings = {"Variant": "", "Service level": "", **{name.capitalize(): "strong" for name in conditions}}
    return plain("Capacity by the cluster's condition", headings, rows)


def _threshold_heading(rows: Sequence[CapacityRow]) -> str:
    chances = {percent(row.chance, 0) for row in rows if row.chance}
    return f"Met with a chance of {' or '.join(sorted(chances)) or 'so much'}"


def loads_line(capacities: Iterable[Capacity | CapacityRow]) -> str:
    """Return the `loads` line of a definition that would narrow all these capacities; empty where no load would."""
    loads = sorted({load for capacity in capacities for load in capacity.bracketed_ops_s})
    return f"loads: [{', '.join(map(format_rate, loads))}]" if loads else ""


def _row(cells: CampaignCells, capacity: Capacity) -> CapacityRow:
    at, following = capacity.at_capacity, capacity.next_load
    bound = capacity.pass_probability_bound
    asks_threshold = isinstance(cells.part.strategy, Threshold)
    none = NOTHING if asks_threshold else "none was run"  # its answer stands on no load
    return CapacityRow(
        variant=cells.labels[capacity.variant],
        capacity=f"{headline(capacity)}{in_this_stage(capacity)}",
        rests_on=rung_outcome(at) if at else NOTHING,
        next_load=f"{ops(following.load_ops_s)}: {rung_outcome(following)}" if following else none,
        by_how_much=_by_how_much(capacity),
        pass_probability=NOTHING if bound is None else f"≥ {percent_at_least(bound)}",
        threshold=threshold_words(capacity.threshold),
        chance=capacity.threshold.chance if capacity.threshold else None,
        asks_threshold=asks_threshold,
        to_control=_to_control(cells, capacity),
        nodes=_nodes(cells, capacity),
        notes=_notes(capacity),
        narrowing=_narrowing(capacity),
        bracketed_ops_s=capacity.bracketed_ops_s,
        share_of_highest_load=(capacity.capacity_ops_s or 0) / max(cells.part.loads),
        firm=capacity.kind in ("found", "none"),
    )


def _by_how_much(capacity: Capacity) -> str:
    """Tell how far the worst interval lay from the bound on either side of the boundary, as far as it was run."""
    rungs = [rung for rung in (capacity.at_capacity, capacity.next_load) if rung and rung.worst_ratio is not None]
    distances = [
        f"{'at least ' if rung.worst_is_floor else ''}{multiple(rung.worst_ratio)} the bound at {ops(rung.load_ops_s)}"
        for rung in rungs
    ]
    if distances:
        return f"its worst interval was {listing(distances)}"
    # Nothing was answered in a missed interval that has no percentile
    missed = any(rung and rung.missed for rung in (capacity.at_capacity, capacity.next_load))
    return "in its missed intervals nothing was answered" if missed else "no interval was judged"


def _to_control(cells: CampaignCells, capacity: Capacity) -> str:
    if capacity.variant == cells.part.control:
        return "control"
    ratio, estimate = multiple(capacity.ratio_to_control), capacity.threshold_to_control
    if estimate and capacity.asked:
        return f"{multiple(estimate.median)} ({multiple(estimate.low)} to {multiple(estimate.high)})"
    return ratio if capacity.kind == "found" or capacity.ratio_to_control is None else f"≥ {ratio}"


def _nodes(cells: CampaignCells, capacity: Capacity) -> str:
    """Return the number of nodes for the campaign's highest load, with their price per hour where it is known.

    Nothing is extrapolated beyond twice what was measured: for higher loads, more than twice the nodes are needed if
    the capacity was found.
    """
    if not capacity.carried_ops_s:
        return NOTHING
    part, is_found = cells.part, capacity.kind == "found"
    measured, highest = part.system.nodes, cells.loads[-1]
    farthest = _FARTHEST * capacity.carried_ops_s
    if highest > farthest and not is_found:
        return NOTHING
    needed = nodes_for(min(highest, farthest), capacity.carried_ops_s, measured)
    bound = "more than " if highest > farthest else "" if is_found else "≤ "
    spending = cells.data.spending
    if spending is None or spending.node_usd_per_hour is None:
        return f"{bound}{needed}"
    return f"{bound}{needed}, {bound}{show_usd(needed * spending.node_usd_per_hour)} an hour"


def _notes(capacity: Capacity) -> tuple[str, ...]:
    notes = [_firmness(capacity)]
    short = (ops(rung.load_ops_s) for rung in capacity.rungs if rung.rate_not_achieved and rung.outcome == "met")
    if loads := ", ".join(short):
        notes.append(f"met, but the rate was not achieved in every repeat at {loads}")
    notes += [
        f"{miss_in_words(miss)}{', which counts' if miss.counts else ', by other service levels'}"
        for miss in capacity.contradicted_by
    ]
    if loads := ", ".join(map(ops, capacity.met_again_at)):
        notes.append(f"met again at {loads}: not counted, a lower load missed")
    return tuple(note for note in notes if note)


def _narrowing(capacity: Capacity) -> str:
    loads = capacity.narrowing_ops_s
    if not loads:
        return ""
    first, then = ops(loads[0]), " or ".join(f"{load:,}" for load in loads[1:])
    if capacity.at_capacity is None:
        return f"the boundary lies below the lowest load: run {first} next{f', then {then}' if then else ''}"
    if capacity.next_load is None:
        return f"nothing bounds it from above: run {first} next"
    gap = f"the boundary lies between {capacity.at_capacity.load_ops_s:,} and {ops(capacity.next_load.load_ops_s)}"
    return f"{gap}: {first} would halve the gap{f', then {then}' if then else ''}"


def _firmness(capacity: Capacity) -> str:
    missed_at = capacity.lowest_missed_ops_s
    below = f"; below {ops(missed_at)}, where it missed" if missed_at else ""
    if capacity.kind == "at-least":
        return "the capacity may be higher"
    if capacity.asked:  # no load decides, and it may lie above one that missed
        return "provisional" if capacity.asked.stopped == "goes on" else ""
    if capacity.kind == "provisional":
        return f"provisional: repeats of the next load are incomplete{below}"
    return f"repeats of the lowest load are incomplete{below}" if capacity.kind == "unknown" else ""
