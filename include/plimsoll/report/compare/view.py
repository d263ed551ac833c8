"""A comparison of two campaigns as tables and sentences. Terminal and page show the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.report.compare.parts import comparisons_of, only_in_one
from plimsoll.report.formatting import NOTHING, listing, multiple, ops, span, whole_span
from plimsoll.report.tables import (
    PERCENTILE_NAMES,
    Column,
    PlainTable,
    Table,
    for_terminal,
    number,
    plain,
    terminal_text,
)
from plimsoll.report.words.answers import headline, rung_outcome

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from plimsoll.analysis.campaign.capacity import Capacity
    from plimsoll.analysis.campaign.definition_differences import VariantPair
    from plimsoll.analysis.campaign.side_by_side import CapacityPair, LoadSide
    from plimsoll.report.compare.campaigns import CampaignComparison, CampaignSide
    from plimsoll.report.compare.parts import ComparedCampaign, Comparisons

    _Side = tuple[str, str, LoadSide | None]

FORCED = "compared by force: what was asked or measured is not the same"


def incomparable_table(comparison: CampaignComparison) -> PlainTable:
    return _differences(f"NOT COMPARABLE, {FORCED}", ((fact.what, fact.a, fact.b) for fact in comparison.incomparable))


def environment_table(comparison: CampaignComparison) -> PlainTable:
    """Return facts of hosts and JVMs that differ, with the variants where not all variants are meant."""
    of_some = (
        (unlike, f" ({', '.join(unlike.variants)})" if unlike.variants else "") for unlike in comparison.environment
    )
    return _differences("Environments differ", ((f"{unlike.fact}{of}", unlike.a, unlike.b) for unlike, of in of_some))


def definitions_table(comparison: CampaignComparison) -> PlainTable:
    return _differences("Definitions differ", ((fact.what, fact.a, fact.b) for fact in comparison.differences))


def left_out(comparison: CampaignComparison) -> Iterator[str]:
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        if side.cells_without_fingerprint:
            yield f"Nothing is known of the environment in {name} of: {listing(side.cells_without_fingerprint)}"
    for name, others in (("A", comparison.only_a), ("B", comparison.only_b)):
        if others:
            yield f"Only in {name}, not compared: {', '.join(others)}"


def capacities_table(comparison: CampaignComparison) -> Table[CapacityPair]:
    """Return the capacities of each pair of variants; without rows where all loads come from an earlier stage."""
    return Table(
        "Capacity",
        comparison.capacity,
        Column("Variant", lambda pair: label(comparison, pair.variants)),
        Column("A", lambda pair: _capacity(pair.a)),
        Column("B", lambda pair: _capacity(pair.b)),
        number("Ratio", lambda pair: multiple(pair.ratio)),
    )


def loads_table(comparison: CampaignComparison, pair: VariantPair) -> Table[_Side]:
    """Return two rows for each load of a pair: the highest interval of each percentile, lowest to highest repeat."""
    loads = [load for load in comparison.loads if load.variants == pair]
    rows = [row for load in loads for row in ((ops(load.load_ops_s), "A", load.a), ("", "B", load.b))]
    return Table(
        f"{label(comparison, pair)}: highest interval of each percentile, lowest to highest repeat",
        rows,
        Column("Load", lambda row: row[0]),
        Column("Campaign", lambda row: row[1]),
        Column("Repeats", lambda row: rung_outcome(row[2].rung) if row[2] else "no such load"),
        number("Achieved", _achieved),
        *(number(f"{name} ms", partial(_maximum, key)) for key, name in PERCENTILE_NAMES.items()),
    )


def label(comparison: CampaignComparison, pair: VariantPair) -> str:
    a, b = comparison.a.labels[pair.a], comparison.b.labels[pair.b]
    return a if a == b else f"{a} / {b}"


def comparison_view(comparisons: Comparisons) -> Group:
    from rich.console import Group

    return Group(*_from_top(comparisons))


def _from_top(comparisons: Comparisons) -> Iterator[RenderableType]:
    yield terminal_text(f"A: {_named(comparisons.a)}\nB: {_named(comparisons.b)}\nRatios are B / A.\n", "bold")
    yield from (terminal_text(f"{sentence}\n", "bold") for sentence in only_in_one(comparisons))
    for comparison in comparisons_of(comparisons):
        if comparison.workload:
            yield terminal_text(f"\nWorkload {comparison.workload}\n", "bold underline")
        if comparison.incomparable:
            yield for_terminal(incomparable_table(comparison), "bold red")
        tables = environment_table(comparison), definitions_table(comparison)
        yield from (for_terminal(table) for table in tables if table)
        yield from (terminal_text(f"{sentence}\n", "bold") for sentence in left_out(comparison))
        if comparison.capacity:
            yield for_terminal(capacities_table(comparison))
        yield from (for_terminal(loads_table(comparison, pair)) for pair in comparison.pairs)
        yield from (terminal_text(f"- {answer}") for answer in comparison.answers)


def _named(side: CampaignSide | ComparedCampaign) -> str:
    return f"{side.campaign_id}, {side.title}"


def _differences(title: str, rows: Iterable[Sequence[str]]) -> PlainTable:
    return plain(title, {"What": "", "A": "", "B": ""}, rows)


def _capacity(capacity: Capacity | None) -> str:
    return headline(capacity) if capacity else "none: its load comes from an earlier stage"


def _achieved(row: _Side) -> str:
    rate = row[2].achieved_ops_s if row[2] else None
    return whole_span(rate.low, rate.high) if rate else NOTHING


def _maximum(percentile: str, row: _Side) -> str:
    spread = row[2].maxima.get(percentile) if row[2] else None
    return span(spread.low, spread.high) if spread else NOTHING
