"""A comparison of two campaigns for a terminal: what is unlike, then capacity, then maxima by load."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plimsoll.analysis.campaign import Spread
from plimsoll.analysis.side_by_side import LoadPair, LoadSide, VariantPair
from plimsoll.report.answers import headline, rung_outcome
from plimsoll.report.side_by_side import CampaignComparison, CampaignSide
from plimsoll.report.tables import PERCENTILE_NAMES
from plimsoll.report.words import NOTHING, listing, multiple, ops, span, whole_span


def comparison_view(found: CampaignComparison) -> Group:
    """All of it, top to bottom."""
    return Group(*_parts(found))


def _parts(found: CampaignComparison) -> Iterator[RenderableType]:
    yield Text(f"A: {_named(found.a)}\nB: {_named(found.b)}\nRatios are B / A.\n", style="bold")
    yield from _unlike(found)
    yield _capacity(found)
    yield from (_maxima(found, pair.variants) for pair in found.capacity)
    yield from (Text(f"- {answer}") for answer in found.answers)


def _named(side: CampaignSide) -> str:
    return f"{side.campaign_id}, {side.title}"


def _unlike(found: CampaignComparison) -> Iterator[RenderableType]:
    if found.incomparable:
        title = "NOT COMPARABLE, compared by force: what was asked or measured is not the same"
        yield _differences(title, [(one.what, one.a, one.b) for one in found.incomparable], "bold red")
    ran = [
        (f"{one.fact} ({', '.join(one.variants)})" if one.variants else one.fact, one.a, one.b)
        for one in found.environment
    ]
    if ran:
        yield _differences("Environments differ", ran, "bold")
    for name, side in (("A", found.a), ("B", found.b)):
        if side.cells_without_fingerprint:
            cells = listing(side.cells_without_fingerprint)
            yield Text(f"Nothing is known of the environment in {name} of: {cells}\n", style="bold")
    if found.differences:
        title = "Definitions differ"
        yield _differences(title, [(one.what, one.a, one.b) for one in found.differences], "bold")
    for name, others in (("A", found.only_a), ("B", found.only_b)):
        if others:
            yield Text(f"Only in {name}, not compared: {', '.join(others)}\n")


def _differences(title: str, rows: Sequence[tuple[str, str, str]], style: str) -> Table:
    return _table(title, ("What", "A", "B"), rows, style)


def _capacity(found: CampaignComparison) -> Table:
    rows = [
        (_label(found, pair.variants), headline(pair.a), headline(pair.b), multiple(pair.ratio))
        for pair in found.capacity
    ]
    return _table("Capacity", ("Variant", "A", "B", "Ratio"), rows, "bold")


def _maxima(found: CampaignComparison, pair: VariantPair) -> Table:
    headings = ("Load", "", "Repeats", "Achieved", *(f"{name} ms" for name in PERCENTILE_NAMES.values()))
    rows = [row for one in found.loads if one.variants == pair for row in _load_rows(one)]
    title = f"{_label(found, pair)}: highest interval of each percentile, lowest to highest repeat"
    return _table(title, headings, rows, "bold")


def _load_rows(pair: LoadPair) -> Iterator[tuple[str, ...]]:
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


def _label(found: CampaignComparison, pair: VariantPair) -> str:
    a, b = found.a.labels[pair.a], found.b.labels[pair.b]
    return a if a == b else f"{a} / {b}"


def _table(title: str, headings: tuple[str, ...], rows: Sequence[tuple[str, ...]], style: str) -> Table:
    table = Table(title=Text(title, style=style), title_justify="left")
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*(Text(text) for text in row))
    return table
