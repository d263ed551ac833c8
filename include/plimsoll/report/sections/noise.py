"""Influences beside variant and load: noise, cells that were not steady, and intervals from a bootstrap."""

from dataclasses import asdict, dataclass
from math import exp

import altair as alt

from plimsoll.analysis.attempt.hosts import OTHERS_NOTICED, STEAL_NOTICED
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.noise import FEWEST_CELLS, cell_residuals, in_order
from plimsoll.analysis.campaign.pauses import Steadiness, unsteady
from plimsoll.analysis.campaign.series import BLOCK, DRAWS, Estimate, Typical
from plimsoll.report.charts.theme import SHADE, TABLE, Figure, legend_room, specification, tooltips, variant_marks
from plimsoll.report.formatting import NOTHING, figure, ms, multiple, ops, p_text, percent, plural
from plimsoll.report.sections import Section
from plimsoll.report.tables import Column, PlainTable, Sheet, Table, bad, number, plain


@dataclass(frozen=True)
class NoiseRow:
    """One question, its answer, and whether it needs attention."""

    question: str
    answer: str
    shown: bool


def noise_rows(findings: Findings) -> tuple[NoiseRow, ...]:
    """Return a row for each influence other than variant and load."""
    noise, steal, programs = findings.noise, findings.noise.steal, findings.noise.other_programs
    zones = ", ".join(f"{zone} {multiple(ratio)}" for zone, ratio in noise.zones.zones.items())
    of_zones = f"{zones}{_verdict(noise.zones.p_value, noise.zones.shown)}" if zones else "not known"
    stolen = "no host was sampled"
    if steal:
        stolen = f"mean {percent(steal.mean, 2)}, highest {percent(steal.highest, 2)} ({steal.highest_at})"
    is_stolen = steal is not None and steal.highest > STEAL_NOTICED
    is_taken = programs is not None and programs.highest > OTHERS_NOTICED
    unlike = "Outliers: cells or hosts unlike others of their variant and load"
    return (
        NoiseRow("Order: does the position in the campaign matter?", _order(findings), noise.order.shown),
        NoiseRow("Zones: do they differ?", of_zones, noise.zones.shown),
        NoiseRow(unlike, _outliers(findings), bool(noise.outliers)),
        NoiseRow("Steady after warm-up?", _steady(findings), bool(unsteady(findings.steadiness))),
        NoiseRow("Steal: processor time that other machines took", stolen, is_stolen),
        NoiseRow(
            "Other programs: processor time that they took from a cell's host", _other_programs(findings), is_taken
        ),
        NoiseRow("Clocks: largest offset of a node's from the load generator's", ms(noise.clock_offset_ms), False),
        *_kept_hosts(findings),
    )


def steady_table(findings: Findings) -> PlainTable:
    headings = {"Cell": "", f"p{findings.level.percentile:g} of intervals": "", "p (Holm)": "number"}
    rows = ((cell.cell, _drift(cell), p_text(cell.p_holm)) for cell in unsteady(findings.steadiness))
    return plain("Cells that were not steady", headings, rows)


def typical_table(findings: Findings) -> Table[Typical]:
    """Return typical percentile and share of missed intervals of every variant and load, with 95 % intervals."""
    return Table(
        "Typical intervals",
        findings.typical,
        Column("Variant", lambda row: findings.labels[row.variant]),
        number("Load", lambda row: ops(row.load_ops_s)),
        number("Valid repeats", lambda row: row.repeats),
        number(f"Typical p{findings.level.percentile:g} (ms, 95 %)", lambda row: _estimate(row.typical_ms, 1.0)),
        number("Missed intervals (%, 95 %)", lambda row: _estimate(row.missed_share, 100.0)),
    )


def noise_table(findings: Findings) -> PlainTable:
    rows = ((row.question, bad(row.answer) if row.shown else row.answer) for row in noise_rows(findings))
    return plain("Noise", {"Question": "", "Answer": "prose"}, rows)


def typical_sheet(findings: Findings) -> Sheet:
    """Return one row per variant and load, with its typical figures as numbers."""
    return Sheet(
        {
            "variant": typical.variant,
            "load_ops_s": typical.load_ops_s,
            "repeats": typical.repeats,
            **{f"typical_ms_{name}": value for name, value in typical.typical_ms},
            **{f"missed_share_{name}": value for name, value in typical.missed_share},
        }
        for typical in findings.typical
    )


def steadiness_sheet(findings: Findings) -> Sheet:
    """Return one row per cell with intervals."""
    return Sheet(cell.model_dump() for cell in findings.steadiness)


def noise_sheet(findings: Findings) -> Sheet:
    """Return the questions with their answers, and whether they need attention."""
    return Sheet(map(asdict, noise_rows(findings)))


def _order(findings: Findings) -> str:
    order = findings.noise.order
    if order.p_value is None or order.change is None:
        return f"too few comparable cells to tell ({order.cells})"
    change = f"last cell / first: {multiple(order.change)} over {plural(order.cells, 'cell')}"
    return change + _verdict(order.p_value, order.shown)


def _verdict(p_value: float | None, shown: bool) -> str:
    if p_value is None:
        return "; too few cells to compare"
    return f"; p {p_text(p_value)}: {'a difference is shown' if shown else 'no difference shown'}"


def _outliers(findings: Findings) -> str:
    sentences = [
        f"{outlier.cell}{f' {outlier.host}' if outlier.host else ''}: "
        f"{outlier.figure} {multiple(outlier.ratio)} that of its variant and load"
        for outlier in findings.noise.outliers
    ]
    return "; ".join(sentences) or "none beyond what chance allows"


def _steady(findings: Findings) -> str:
    short = sum(cell.finding == "too short to tell" for cell in findings.steadiness)
    odd = unsteady(findings.steadiness)
    tested = len(findings.steadiness) - short
    if not tested:
        return "too short to tell"
    cells = plural(tested, "cell")
    return f"{len(odd)} of {cells} drift or jump" if odd else f"no drift shown in {cells}"


def _other_programs(findings: Findings) -> str:
    programs = findings.noise.other_programs
    if programs is None:
        return "not sampled"
    measured = sum(result.counted is not None for result in findings.cells)
    of_some = f"; sampled in {programs.cells} of {plural(measured, 'cell')}" if programs.cells < measured else ""
    where = f"highest interval {percent(programs.highest, 1)} ({programs.highest_at})"
    return f"mean {percent(programs.mean, 1)}, {where}{of_some}"


def _kept_hosts(findings: Findings) -> tuple[NoiseRow, ...]:
    """Return the row on kept hosts; none where each cell had hosts of its own."""
    kept = findings.noise.kept_hosts
    if not kept:
        return ()
    sentences = [
        f"{hosts.cluster} served {plural(hosts.cells, 'cell')}"
        + (f", from {hosts.first_cell} on, in place of others: {hosts.replaces}" if hosts.replaces else "")
        for hosts in kept
    ]
    return (NoiseRow("Kept hosts: were any replaced?", "; ".join(sentences), any(hosts.replaces for hosts in kept)),)


def _drift(cell: Steadiness) -> str:
    if cell.finding == "jumps" and cell.jump_at_s is not None:
        return f"jumps to {multiple(cell.jump)} at {cell.jump_at_s:,.0f} s"
    return f"drifts: end / start {multiple(cell.change)}"


def _estimate(estimate: Estimate, factor: float) -> str:
    value = figure(estimate.value * factor)
    if estimate.low is None or estimate.high is None:
        return f"{value} ({NOTHING})"
    return f"{value} ({figure(estimate.low * factor)} to {figure(estimate.high * factor)})"


def order_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw one point per cell; none where fewer cells can be compared than a statement needs."""
    residuals = in_order(cell_residuals(findings.cells))
    if len(residuals) < FEWEST_CELLS:
        return ()
    rows = [
        {
            "position": position,
            # A residual is a difference of logarithms
            "ratio": round(exp(residual.value), 4),
            "variant": findings.labels[residual.result.cell.variant],
            "cell": residual.result.cell.id,
        }
        for position, residual in enumerate(residuals, 1)
    ]
    chart = alt.layer(*_layers(findings), data=TABLE).properties(width=760, height=200).add_params(legend_room(700))
    drawn = Figure(
        name="order",
        title="Does the order matter? Each cell against its variant and load",
        caption=(
            "The typical interval of each cell over that of all repeats of the same variant and load, in the order in "
            "which cells ran. Noise scatters around the line; a slope is a drift of the whole campaign, a band of "
            "points away from the line a bad stretch, a single far point an odd cell."
        ),
        spec=specification(chart, {"values": rows}),
    )
    return (drawn,)


def _layers(findings: Findings) -> list[alt.Chart]:
    ratio = "Cell / variant and load (ratio)"
    even = alt.Chart(alt.InlineData(values=[{"ratio": 1}])).mark_rule(strokeDash=[5, 4], strokeWidth=1.2, color=SHADE)
    x = alt.X("position:Q", title="Position in the campaign (cells)", scale=alt.Scale(nice=False, padding=8))
    y = alt.Y("ratio:Q", title=ratio, scale=alt.Scale(zero=False, padding=8))
    tooltip = tooltips({"cell:N": "Cell", "variant:N": "Variant", "position:Q": "Position", "ratio:Q": ratio})
    return [
        even.encode(y=alt.Y("ratio:Q", title="")),
        alt.Chart()
        .mark_point(filled=True, size=36, opacity=0.9)
        .encode(x=x, y=y, tooltip=tooltip, **variant_marks(findings)),
    ]


NOISE = Section(
    "noise",
    "Noise",
    tables={"noise": noise_table, "unsteady": steady_table, "typical": typical_table},
    context=lambda _findings: {"draws": DRAWS, "block": BLOCK},
    charts=order_chart,
    sheets={"noise": noise_sheet, "steadiness": steadiness_sheet, "typical": typical_sheet},
)
