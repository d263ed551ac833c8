"""A comparison of two campaigns for a terminal: differences, then capacities, then maxima by load."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plimsoll.report import side_by_side_rows as rows
from plimsoll.report.side_by_side import CampaignComparison, CampaignSide
from plimsoll.report.side_by_side_parts import ComparedCampaign, Comparisons, comparisons_of, only_in_one


def comparison_view(found: Comparisons) -> Group:
    """Return the whole comparison, top to bottom, one workload after another."""
    return Group(*_from_top(found))


def _from_top(found: Comparisons) -> Iterator[RenderableType]:
    yield Text(f"A: {_named(found.a)}\nB: {_named(found.b)}\nRatios are B / A.\n", style="bold")
    yield from (Text(f"{sentence}\n", style="bold") for sentence in only_in_one(found))
    for one in comparisons_of(found):
        if one.workload:
            yield Text(f"\nWorkload {one.workload}\n", style="bold underline")
        yield from _of_workload(one)


def _of_workload(found: CampaignComparison) -> Iterator[RenderableType]:
    yield from _unlike(found)
    if found.capacity:
        yield _table("Capacity", rows.CAPACITY_HEADINGS, rows.capacity_rows(found))
    for pair in found.pairs:
        title = f"{rows.label(found, pair)}: highest interval of each percentile, lowest to highest repeat"
        yield _table(title, rows.LOAD_HEADINGS, rows.load_rows(found, pair))
    yield from (Text(f"- {answer}") for answer in found.answers)


def _named(side: CampaignSide | ComparedCampaign) -> str:
    return f"{side.campaign_id}, {side.title}"


def _unlike(found: CampaignComparison) -> Iterator[RenderableType]:
    for title, unlike, style in (
        (f"NOT COMPARABLE, {rows.FORCED}", rows.incomparable_rows(found), "bold red"),
        ("Environments differ", rows.environment_rows(found), "bold"),
        ("Definitions differ", rows.definition_rows(found), "bold"),
    ):
        if unlike:
            yield _table(title, rows.DIFFERENCE_HEADINGS, unlike, style)
    yield from (Text(f"{sentence}\n", style="bold") for sentence in rows.left_out(found))


def _table(title: str, headings: Sequence[str], lines: Sequence[tuple[str, ...]], style: str = "bold") -> Table:
    table = Table(title=Text(title, style=style), title_justify="left")
    for heading in headings:
        table.add_column(heading)
    for line in lines:
        table.add_row(*(Text(text) for text in line))
    return table
