"""What was done to the cells' clusters under load, in sentences and tables: how long it took, also beside the control,
the service level around it, and what a condition of the cluster costs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from plimsoll.analysis.campaign.by_load import WHOLE, ActionComparison, compare_actions
from plimsoll.analysis.campaign.cell_results import Spread, action_times
from plimsoll.analysis.campaign.conditions import ConditionAnswer
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.keys.action import ActionResult, LevelAroundAction, PhaseFigures
from plimsoll.report.formatting import (
    NOTHING,
    at_load,
    figure,
    ms,
    multiple,
    ops,
    percent,
    percent_at_least,
    place_of,
    plural,
    span,
)
from plimsoll.report.tables import Column, PlainTable, Sheet, Table, number, plain

_MIB = 1 << 20
_T = TypeVar("_T")
PHASES = ("before", "during", "after")
_COLUMNS = (
    *("cell", "action", "begun_s", "duration_s", "waited_s", "undated_s", "streamed_bytes"),
    *("service_level", "phase", "judged", "missed", "met", "worst_ms", "met_again_s"),
)

_AroundAction = tuple[Cell, ActionResult, LevelAroundAction]


def took_sentences(findings: Findings) -> Iterator[str]:
    """Yield how long the action took each variant, by load, and how much faster that is than the control."""
    action, control = findings.part.action, findings.part.control
    if action is None or action.before_load:
        return
    wholes = [comparison for comparison in compare_actions(findings.cells, control) if comparison.part == WHOLE]
    by_place = {(whole.variant, whole.load_ops_s): whole for whole in wholes}
    workload = findings.part.workload_id
    name = ", ".join(filter(None, (str(action), workload)))
    for times in action_times(findings.cells):
        comparison = by_place.get((times.variant, times.load_ops_s))
        beside = f": {beside_control(comparison, findings.labels[comparison.control])}" if comparison else ""
        took = f"{span(times.low, times.high)} s {at_load(times.load_ops_s)}"
        yield f"{findings.labels[times.variant]}: {name} took {took}{beside}."


def beside_control(comparison: ActionComparison, control: str) -> str:
    """Return the difference in words: `12 % less time than 3.11 (5 to 18 % less, with a chance of 66 %)`."""
    change = _change(comparison.ratio)
    if not comparison.confidence:
        return f"{change} time than {control}, by one repeat each"
    between = f"{_change(comparison.low)} to {_change(comparison.high)}"
    return f"{change} time than {control} ({between}, with a chance of {percent_at_least(comparison.confidence)})"


def _change(ratio: float) -> str:
    return f"{percent(abs(1 - ratio), 0)} {'less' if ratio < 1 else 'more'}"


def phase_text(figures: PhaseFigures) -> str:
    """Return a phase in words: `met, worst 38 ms`, `missed 2 of 5, worst 310 ms`, `left open, worst –`."""
    if not figures.judged:
        return NOTHING
    otherwise = "left open" if figures.met is None else "met"
    outcome = f"missed {figures.missed} of {figures.judged}" if figures.missed else otherwise
    return f"{outcome}, worst {ms(figures.worst_ms)}"


def condition_sentences(answers: Sequence[ConditionAnswer], labels: Mapping[str, str]) -> Iterator[str]:
    """Yield what each condition costs beside the one before it, or that both are not told apart, with what to run."""
    of_several = len({(answer.variant, answer.workload) for answer in answers}) > 1
    for answer in answers:
        if answer.beside:
            named = ", ".join(filter(None, (labels[answer.variant], answer.workload)))
            words = _sentence(answer)
            yield f"{named}: {words}" if of_several else f"{words[0].upper()}{words[1:]}"


def _sentence(answer: ConditionAnswer) -> str:
    both = f"{answer.beside} and {answer.condition}"
    if answer.incomparable:
        counts = " and ".join(map(str, answer.incomparable))
        return f"{both} are not compared: a cell has {counts} judged intervals, and more of them ask for more."
    over = f", both over {answer.intervals} judged intervals" if answer.intervals else ""
    again = f": run {ops(answer.run_ops_s)} again under both" if answer.run_ops_s else ""
    if answer.chance is None:
        what = "contradict each other" if answer.contradicts else "are known from too few cells to be compared"
        return f"{both} {what}{again}."
    if answer.told_apart:
        low, cost, high = (percent(share or 0, 0) for share in (answer.cost_low, answer.cost, answer.cost_high))
        return f"{answer.condition} it carries {cost} less than {answer.beside} ({low} to {high}{over})."
    why = "by themselves their capacities contradict each other; " if answer.contradicts else ""
    chance = f"it carries less with a chance of {percent(answer.chance, 0)}"
    return f"{both} are not told apart ({why}{chance}{over}){again}."


def times_table(findings: Findings) -> Table[Spread]:
    """Return how long the action took of each variant at each load with a valid repeat."""
    return Table(
        "How long the action took",
        action_times(findings.cells),
        Column("Variant", lambda row: findings.labels[row.variant]),
        number("Load", lambda row: _load(row.load_ops_s)),
        Column("Of", lambda row: plural(row.repeats, "valid repeat")),
        number("Median time", lambda row: f"{figure(row.median)} s"),
        number("Lowest to highest repeat", lambda row: f"{span(row.low, row.high)} s"),
    )


def ratios_table(findings: Findings) -> Table[ActionComparison]:
    """Return each variant, part and load that the control has too; empty without a control."""
    return Table(
        "The action's time compared with the control",
        compare_actions(findings.cells, findings.part.control),
        Column("Variant", lambda row: findings.labels[row.variant]),
        Column("Of", lambda row: row.part or "the whole"),
        number("Load", lambda row: _load(row.load_ops_s)),
        number("Time / control's", lambda row: multiple(row.ratio)),
        number("Interval", lambda row: f"{multiple(row.low)} to {multiple(row.high)}"),
        number("Contains it with", lambda row: percent_at_least(row.confidence)),
        Column("So it takes", lambda row: beside_control(row, findings.labels[row.control])),
    )


def levels_table(findings: Findings) -> Table[_AroundAction]:
    """Return a row for each cell with a valid attempt and each of its service levels."""
    return Table(
        "The service level before, during and after the action",
        [(cell, action, level) for cell, action in _acted(findings) for level in action.levels],
        Column("Cell", lambda row: place_of(row[0], findings.labels)),
        Column("Service level", lambda row: row[2].service_level),
        number("Took", lambda row: row[1].took),
        number("Streamed", lambda row: _or_nothing(row[1].streamed_bytes, lambda size: f"{size / _MIB:,.0f} MiB")),
        Column("Before", lambda row: phase_text(row[2].before)),
        Column("During", lambda row: phase_text(row[2].during)),
        Column("After", lambda row: phase_text(row[2].after)),
        Column("Met again", lambda row: _or_nothing(row[2].met_again_s, lambda after: f"{figure(after)} s after")),
        Column(
            "Failed operations before / during / after",
            lambda row: _or_nothing(
                row[1].failed, lambda failed: f"{failed.before:,} / {failed.during:,} / {failed.after:,}"
            ),
        ),
    )


def evidence_table(findings: Findings) -> PlainTable:
    """Return a row for each cell with a valid attempt."""
    rows = (
        (
            place_of(cell, findings.labels),
            "; ".join(action.evidence),
            "; ".join(f"{part.name} {figure(part.seconds)} s" for part in action.parts) or NOTHING,
        )
        for cell, action in _acted(findings)
    )
    headings = {"Cell": "", "Evidence": "prose", "Parts": "prose"}
    return plain("What the database told of the action's end", headings, rows)


def _load(load_ops_s: int) -> str:
    return ops(load_ops_s) if load_ops_s else "none"


def _or_nothing(value: _T | None, words: Callable[[_T], str]) -> str:
    return NOTHING if value is None else words(value)


def actions_sheet(findings: Findings) -> Sheet:
    """Return one row per cell with an action, service level and phase; the worst interval in ms."""
    rows = (
        {
            "cell": cell.id,
            "action": str(action.action),
            **{name: getattr(action, name) for name in _COLUMNS[2:7]},
            "service_level": str(level.service_level),
            "phase": phase,
            **getattr(level, phase).model_dump(),
            "met_again_s": level.met_again_s,
        }
        for cell, action in _acted(findings)
        for level in action.levels
        for phase in PHASES
    )
    return Sheet(rows, _COLUMNS)


def action_sentences(findings: Findings) -> tuple[str, ...]:
    """Say for each variant and load how long the action took, and in how many repeats each level was met around it."""
    return tuple(
        f"{findings.labels[took.variant]} {at_load(took.load_ops_s)}: {findings.part.action} took "
        f"{span(took.low, took.high)} s in {plural(took.repeats, 'valid repeat')}. {' '.join(_around(findings, took))}"
        for took in action_times(findings.cells)
    )


def _around(findings: Findings, of: Spread) -> Iterator[str]:
    """Yield for each service level in how many repeats of that variant and load it was met, by phase."""
    at = of.variant, of.load_ops_s
    results = [action for cell, action in _acted(findings) if (cell.variant, cell.load_ops_s) == at]
    for index, level in enumerate(results[0].levels):
        phases = ((name, [getattr(result.levels[index], name).met for result in results]) for name in PHASES)
        counts = (f"{name} in {met.count(True)} of {len(met) - met.count(None)}" for name, met in phases)
        yield f"{level.service_level} was met {', '.join(counts)}."


def _acted(findings: Findings) -> Iterator[tuple[Cell, ActionResult]]:
    for result in findings.cells:
        if result.verdict and result.verdict.action:
            yield result.cell, result.verdict.action
