"""The client-experienced maxima: the highest interval of each percentile, by load, with the range over repeats."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import altair as alt

from plimsoll.analysis.campaign.by_load import RepeatsAtLoad
from plimsoll.analysis.campaign.cell_results import Spread, maxima
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.pauses import PauseStatistics, Range
from plimsoll.domain.text.units import four_digits
from plimsoll.report.charts.theme import (
    Figure,
    Panels,
    aside,
    bound_line,
    in_panels,
    load_axis,
    log_y,
    specification,
    tooltips,
    variant_marks,
)
from plimsoll.report.formatting import NOTHING, figure, ops, plural, span
from plimsoll.report.sections import Section
from plimsoll.report.tables import PERCENTILE_NAMES, Column, PlainTable, Sheet, Table, number, plain


def draws_loads(rows: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether the rows have several loads. One point for each variant shows no more than a table does."""
    return len({row["load"] for row in rows}) > 1


def spread_row(findings: Findings, panel: str, of: Spread | PauseStatistics, spread: Spread | Range) -> dict[str, Any]:
    """Make one point of one panel: variant, load and repeats; lowest, median and highest figure, ms.

    `of`: what variant, load and repeats are taken from; `spread`: what the figures are taken from.
    """
    return {
        "panel": panel,
        "variant": findings.labels[of.variant],
        "x": of.load_ops_s + aside(findings, of.variant),
        "load": ops(of.load_ops_s),
        "repeats": of.repeats,
        **{name: four_digits(getattr(spread, name)) for name in ("low", "median", "high")},
    }


def spreads(
    findings: Findings, rows: list[dict[str, Any]], panels: Sequence[str], title: str, bound_ms: float | None
) -> dict[str, Any]:
    """Draw bars, lines and points over rows of `spread_row` on one log scale, and the bound where there is one."""
    loads, marks = findings.loads, variant_marks(findings)
    scale = alt.Scale(domain=[min(loads), max(loads)], zero=False, nice=False, padding=14)
    x = alt.X("x:Q", title="Attempted load (ops/s)", axis=load_axis(findings), scale=scale)
    ends = [row[end] for row in rows for end in ("low", "high")]
    y = log_y("median:Q", ends if bound_ms is None else [*ends, bound_ms], title)
    titles = {
        "variant:N": "Variant",
        "load:N": "Load",
        "median:Q": "Median over repeats (ms)",
        "low:Q": "Lowest repeat (ms)",
        "high:Q": "Highest repeat (ms)",
        "repeats:Q": "Valid repeats",
    }
    base = alt.Chart().encode(x=x, color=marks["color"])
    layers = [
        base.mark_rule(strokeWidth=2, opacity=0.55).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y=y),
        base.mark_point(size=38, filled=True, opacity=1).encode(y=y, shape=marks["shape"], tooltip=tooltips(titles)),
    ]
    if bound_ms is not None:
        bound = bound_line("bound", bound_ms, alt.Y("bound:Q", title=""))
        layers.append(bound.encode(tooltip=tooltips({"bound:Q": "Bound (ms)"})))
    chart = in_panels(layers, "panel:N", panels, (340, 220), 2, labelFontSize=13, labelFontWeight="bold")
    return specification(chart, {"values": rows})


def maxima_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw one panel for each percentile, with the bound, all on one log scale; none for a single load."""
    rows = [
        spread_row(findings, name, spread, spread)
        for percentile, name in PERCENTILE_NAMES.items()
        for spread in maxima(findings.cells, percentile)
        if spread.low > 0
    ]
    if not draws_loads(rows):
        return ()
    names = list(dict.fromkeys(row["panel"] for row in rows))
    drawn = Figure(
        name="maxima",
        title="Highest interval of each percentile, by load",
        caption=(
            "Points are medians over the valid repeats of each repeat's highest judged interval; bars reach from the "
            f"lowest to the highest repeat. The dashed line is the bound, {figure(findings.level.bound_ms)} ms; the "
            f"service level applies it to p{findings.level.percentile:g}. Variants stand side by side at each load."
        ),
        spec=spreads(findings, rows, names, "Response time (ms, log scale)", findings.level.bound_ms),
        panels=Panels(count=len(names), in_row=2, narrowest_px=270),
    )
    return (drawn,)


def table_of_loads(
    findings: Findings, label: str, *columns: Column[RepeatsAtLoad], load: str = "Load"
) -> Table[RepeatsAtLoad]:
    """Return a row for each variant and load, in the definition's order; after these columns of its own the table's."""
    return Table(
        label,
        findings.repeats_by_load,
        Column("Variant", lambda row: findings.labels[row.variant]),
        number(load, lambda row: ops(row.load_ops_s)),
        Column("Valid", lambda row: f"{row.valid} of {plural(row.repeats, 'repeat')}"),
        *columns,
    )


def maxima_table(findings: Findings) -> Table[RepeatsAtLoad]:
    """Return the range over valid repeats of each repeat's highest interval, ms."""
    return table_of_loads(
        findings,
        "Highest interval of each percentile, in ms",
        *(number(name, partial(_maximum, key)) for key, name in PERCENTILE_NAMES.items()),
    )


def _maximum(percentile: str, row: RepeatsAtLoad) -> str:
    spread = row.maxima_ms[percentile]
    return span(spread.low, spread.high) if spread else NOTHING


def maxima_sheet(findings: Findings) -> Sheet:
    """Return one row per variant, load and percentile.

    Its figures are the lowest, median and highest value over repeats of each valid repeat's highest interval, ms.
    """
    return Sheet(
        {"percentile": name, **spread.model_dump()}
        for percentile, name in PERCENTILE_NAMES.items()
        for spread in maxima(findings.cells, percentile)
    )


def rates_below_table(findings: Findings) -> PlainTable:
    """Return the highest load of each variant below each of the definition's further bounds."""
    rows = (
        (rate.bound, findings.labels[rate.variant], ops(rate.load_ops_s) if rate.load_ops_s else "none")
        for rate in findings.rates_below
    )
    return plain("Highest loads below other bounds", {"Bound": "", "Variant": "", "Highest load": ""}, rows, naming=1)


MAXIMA = Section(
    "maxima",
    "Maxima",
    tables={"maxima": maxima_table, "rates_below": rates_below_table},
    charts=maxima_chart,
    sheets={"maxima": maxima_sheet},
)
