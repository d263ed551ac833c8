"""The client-experienced maxima: the highest interval of each percentile, by load, with the range over repeats."""

from plimsoll.analysis.campaign.cell_results import maxima
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.points import draws_loads, spread_row, spreads
from plimsoll.report.charts.theme import Figure, Panels
from plimsoll.report.formatting import figure, ops
from plimsoll.report.sections.section import Section
from plimsoll.report.tables import PERCENTILE_NAMES, PlainTable, Sheet, maxima_table, plain


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
