"""A comparison of two campaigns as rows of text. Terminal and page show the same rows."""

from collections.abc import Iterator, Sequence

from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.analysis.campaign.cell_results import Spread
from plimsoll.analysis.campaign.definition_differences import VariantPair
from plimsoll.analysis.campaign.side_by_side import LoadPair, LoadSide
from plimsoll.report.answers import headline, rung_outcome
from plimsoll.report.formatting import NOTHING, listing, multiple, ops, span, whole_span
from plimsoll.report.side_by_side import CampaignComparison
from plimsoll.report.tables import PERCENTILE_NAMES

DIFFERENCE_HEADINGS = ("What", "A", "B")
CAPACITY_HEADINGS = ("Variant", "A", "B", "Ratio")
LOAD_HEADINGS = ("Load", "Campaign", "Repeats", "Achieved", *(f"{name} ms" for name in PERCENTILE_NAMES.values()))
FORCED = "compared by force: what was asked or measured is not the same"


def incomparable_rows(found: CampaignComparison) -> Sequence[tuple[str, ...]]:
    """Return differences in what the campaigns asked or measured."""
    return [(one.what, one.a, one.b) for one in found.incomparable]


def environment_rows(found: CampaignComparison) -> Sequence[tuple[str, ...]]:
    """Return facts of hosts and JVMs that differ, with the variants where not all variants are meant."""
    return [
        (f"{one.fact} ({', '.join(one.variants)})" if one.variants else one.fact, one.a, one.b)
        for one in found.environment
    ]


def definition_rows(found: CampaignComparison) -> Sequence[tuple[str, ...]]:
    """Return the other differences between the definitions."""
    return [(one.what, one.a, one.b) for one in found.differences]


def left_out(found: CampaignComparison) -> Iterator[str]:
    """Yield sentences about everything that is in only one campaign and was not compared."""
    for name, side in (("A", found.a), ("B", found.b)):
        if side.cells_without_fingerprint:
            yield f"Nothing is known of the environment in {name} of: {listing(side.cells_without_fingerprint)}"
    for name, others in (("A", found.only_a), ("B", found.only_b)):
        if others:
            yield f"Only in {name}, not compared: {', '.join(others)}"


def capacity_rows(found: CampaignComparison) -> Sequence[tuple[str, ...]]:
    """Return the capacities of each pair of variants; empty where all loads come from an earlier stage."""
    return [
        (label(found, pair.variants), _capacity(pair.a), _capacity(pair.b), multiple(pair.ratio))
        for pair in found.capacity
    ]


def load_rows(found: CampaignComparison, pair: VariantPair) -> Sequence[tuple[str, ...]]:
    """Return two rows for each load of a pair: the highest interval of each percentile, from lowest to highest
    repeat.
    """
    return [row for one in found.loads if one.variants == pair for row in _rows(one)]


def label(found: CampaignComparison, pair: VariantPair) -> str:
    """Return the variants' name; both names where they differ."""
    a, b = found.a.labels[pair.a], found.b.labels[pair.b]
    return a if a == b else f"{a} / {b}"


def _capacity(one: Capacity | None) -> str:
    return headline(one) if one else "none: its load comes from an earlier stage"


def _rows(pair: LoadPair) -> Iterator[tuple[str, ...]]:
    for name, side in (("A", pair.a), ("B", pair.b)):
        yield (ops(pair.load_ops_s) if name == "A" else "", name, *_side(side))


def _side(side: LoadSide | None) -> tuple[str, ...]:
    if side is None:
        return ("no such load", NOTHING, *(NOTHING for _ in PERCENTILE_NAMES))
    rate = side.achieved_ops_s
    achieved = whole_span(rate.low, rate.high) if rate else NOTHING
    return (rung_outcome(side.rung), achieved, *(_span(side.maxima.get(name)) for name in PERCENTILE_NAMES))


def _span(spread: Spread | None) -> str:
    return span(spread.low, spread.high) if spread else NOTHING
