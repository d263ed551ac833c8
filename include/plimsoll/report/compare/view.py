"""A comparison of two campaigns as tables and sentences. Terminal and page show the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from plimsoll.report.compare.parts import comparisons_of, only_in_one
from plimsoll.report.formatting import NOTHING, listing, multiple, ops, span, whole_span
from plimsoll.report.tables import PERCENTILE_NAMES, PlainTable, for_terminal, plain, terminal_text
from plimsoll.report.words.answers import headline, rung_outcome

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from plimsoll.analysis.campaign.capacity import Capacity
    from plimsoll.analysis.campaign.definition_differences import VariantPair
    from plimsoll.analysis.campaign.side_by_side import LoadSide
    from plimsoll.report.compare.campaigns import CampaignComparison, CampaignSide
    from plimsoll.report.compare.parts import ComparedCampaign, Comparisons

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
    """Yield sentences about everything that is in only one campaign and was not compared."""
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        if side.cells_without_fingerprint:
            yield f"Nothing is known of the environment in {name} of: {listing(side.cells_without_fingerprint)}"
    for name, others in (("A", comparison.only_a), ("B", comparison.only_b)):
        if others:
            yield f"Only in {name}, not compared: {', '.join(others)}"


def capacities_table(comparison: CampaignComparison) -> PlainTable:
    """Return the capacities of each pair of variants; without rows where all loads come from an earlier stage."""
    rows = (
        (label(comparison, pair.variants), _capacity(pair.a), _capacity(pair.b), multiple(pair.ratio))
        for pair in comparison.capacity
    )
    return plain("Capacity", {"Variant": "", "A": "", "B": "", "Ratio": "number"}, rows)


def loads_table(comparison: CampaignComparison, pair: VariantPair) -> PlainTable:
    """Return two rows for each load of a pair: the highest interval of each percentile, lowest to highest repeat."""
    loads = [load for load in comparison.loads if load.variants == pair]
    sides = (row for load in loads for row in ((ops(load.load_ops_s), "A", load.a), ("", "B", load.b)))
    headings = {"Load": "", "Campaign": "", "Repeats": "", "Achieved": "number"}
    headings |= {f"{name} ms": "number" for name in PERCENTILE_NAMES.values()}
    title = f"{label(comparison, pair)}: highest interval of each percentile, lowest to highest repeat"
    return plain(title, headings, ((load, campaign, *_figures(side)) for load, campaign, side in sides))


def _figures(side: LoadSide | None) -> Iterator[str]:
    yield rung_outcome(side.rung) if side else "no such load"
    rate = side.achieved_ops_s if side else None
    yield whole_span(rate.low, rate.high) if rate else NOTHING
    for percentile in PERCENTILE_NAMES:
        spread = side.maxima.get(percentile) if side else None
        yield span(spread.low, spread.high) if spread else NOTHING


def label(comparison: CampaignComparison, pair: VariantPair) -> str:
    """Return the variants' name; both names where they differ."""
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
