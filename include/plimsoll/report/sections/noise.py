"""Influences beside variant and load: noise, cells that were not steady, and intervals from a bootstrap."""

from dataclasses import asdict, dataclass

from plimsoll.analysis.attempt.hosts import OTHERS_NOTICED, STEAL_NOTICED
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.pauses import Steadiness, unsteady
from plimsoll.analysis.campaign.series import BLOCK, DRAWS, Estimate, Typical
from plimsoll.report.charts.points import order_chart
from plimsoll.report.formatting import NOTHING, figure, ms, multiple, ops, p_text, percent, plural
from plimsoll.report.sections.section import Section
from plimsoll.report.tables import Column, PlainTable, Sheet, Table, bad, number, plain


@dataclass(frozen=True)
class NoiseRow:
    """One question, its answer, and whether it needs attention."""

    question: str
    answer: str
    shown: bool


def noise_rows(findings: Findings) -> tuple[NoiseRow, ...]:
    """Return a row for each influence other than variant and load."""
    found = findings.noise
    zones = ", ".join(f"{zone} {multiple(ratio)}" for zone, ratio in found.zones.zones.items())
    offset = found.clock_offset_ms
    steal = found.steal
    return (
        NoiseRow("Order: does the position in the campaign matter?", _order(findings), found.order.shown),
        NoiseRow(
            "Zones: do they differ?",
            f"{zones or 'not known'}{_verdict(found.zones.p_value, found.zones.shown) if zones else ''}",
            found.zones.shown,
        ),
        NoiseRow(
            "Outliers: cells or hosts unlike others of their variant and load",
            _outliers(findings),
            bool(found.outliers),
        ),
        NoiseRow("Steady after warm-up?", _steady(findings), bool(unsteady(findings.steadiness))),
        NoiseRow(
            "Steal: processor time that other machines took",
            f"mean {percent(steal.mean, 2)}, highest {percent(steal.highest, 2)} ({steal.highest_at})"
            if steal
            else "no host was sampled",
            steal is not None and steal.highest > STEAL_NOTICED,
        ),
        NoiseRow(
            "Other programs: processor time that they took from a cell's host",
            _other_programs(findings),
            found.other_programs is not None and found.other_programs.highest > OTHERS_NOTICED,
        ),
        NoiseRow("Clocks: largest offset of a node's from the load generator's", ms(offset), False),
        *_kept_hosts(findings),
    )


def steady_table(findings: Findings) -> PlainTable:
    """Return the cells with a drift or a jump."""
    headings = {"Cell": "", f"p{findings.level.percentile:g} of intervals": "", "p (Holm)": "number"}
    rows = ((one.cell, _drift(one), p_text(one.p_holm)) for one in unsteady(findings.steadiness))
    return plain("Cells that were not steady", headings, rows)


def typical_table(findings: Findings) -> Table[Typical]:
    """Return typical percentile and share of missed intervals of every variant and load, with 95 % intervals."""
    return Table(
        "Typical intervals",
        findings.typical,
        [
            Column("Variant", lambda one: findings.labels[one.variant]),
            number("Load", lambda one: ops(one.load_ops_s)),
            number("Valid repeats", lambda one: one.repeats),
            number(f"Typical p{findings.level.percentile:g} (ms, 95 %)", lambda one: _estimate(one.typical_ms, 1.0)),
            number("Missed intervals (%, 95 %)", lambda one: _estimate(one.missed_share, 100.0)),
        ],
    )


def noise_table(findings: Findings) -> PlainTable:
    """Return the questions with their answers."""
    rows = ((row.question, bad(row.answer) if row.shown else row.answer) for row in noise_rows(findings))
    return plain("Noise", {"Question": "", "Answer": "prose"}, rows)


def typical_sheet(findings: Findings) -> Sheet:
    """Return the typical figures of every variant and load as numbers."""
    return Sheet(
        {
            "variant": one.variant,
            "load_ops_s": one.load_ops_s,
            "repeats": one.repeats,
            **{f"typical_ms_{name}": value for name, value in one.typical_ms},
            **{f"missed_share_{name}": value for name, value in one.missed_share},
        }
        for one in findings.typical
    )


def steadiness_sheet(findings: Findings) -> Sheet:
    """Return one row per cell with intervals."""
    return Sheet(one.model_dump() for one in findings.steadiness)


def noise_sheet(findings: Findings) -> Sheet:
    """Return the questions with their answers, and whether they need attention."""
    return Sheet(map(asdict, noise_rows(findings)))


def _order(findings: Findings) -> str:
    found = findings.noise.order
    if found.p_value is None or found.change is None:
        return f"too few comparable cells to tell ({found.cells})"
    change = f"last cell / first: {multiple(found.change)} over {plural(found.cells, 'cell')}"
    return change + _verdict(found.p_value, found.shown)


def _verdict(p_value: float | None, shown: bool) -> str:
    if p_value is None:
        return "; too few cells to compare"
    return f"; p {p_text(p_value)}: {'a difference is shown' if shown else 'no difference shown'}"


def _outliers(findings: Findings) -> str:
    found = findings.noise.outliers
    sentences = [
        f"{one.cell}{f' {one.host}' if one.host else ''}: "
        f"{one.figure} {multiple(one.ratio)} that of its variant and load"
        for one in found
    ]
    return "; ".join(sentences) or "none beyond what chance allows"


def _steady(findings: Findings) -> str:
    short = sum(one.finding == "too short to tell" for one in findings.steadiness)
    odd = unsteady(findings.steadiness)
    tested = len(findings.steadiness) - short
    if not tested:
        return "too short to tell"
    return (
        f"{len(odd)} of {plural(tested, 'cell')} drift or jump"
        if odd
        else f"no drift shown in {plural(tested, 'cell')}"
    )


def _other_programs(findings: Findings) -> str:
    found = findings.noise.other_programs
    if found is None:
        return "not sampled"
    measured = sum(result.counted is not None for result in findings.cells)
    of_some = f"; sampled in {found.cells} of {plural(measured, 'cell')}" if found.cells < measured else ""
    where = f"highest interval {percent(found.highest, 1)} ({found.highest_at})"
    return f"mean {percent(found.mean, 1)}, {where}{of_some}"


def _kept_hosts(findings: Findings) -> tuple[NoiseRow, ...]:
    """Return the row on kept hosts; none where each cell had hosts of its own."""
    found = findings.noise.kept_hosts
    if not found:
        return ()
    sentences = [
        f"{one.cluster} served {plural(one.cells, 'cell')}"
        + (f", from {one.first_cell} on, in place of others: {one.replaces}" if one.replaces else "")
        for one in found
    ]
    return (NoiseRow("Kept hosts: were any replaced?", "; ".join(sentences), any(one.replaces for one in found)),)


def _drift(one: Steadiness) -> str:
    if one.finding == "jumps" and one.jump_at_s is not None:
        return f"jumps to {multiple(one.jump)} at {one.jump_at_s:,.0f} s"
    return f"drifts: end / start {multiple(one.change)}"


def _estimate(found: Estimate, factor: float) -> str:
    value = figure(found.value * factor)
    if found.low is None or found.high is None:
        return f"{value} ({NOTHING})"
    return f"{value} ({figure(found.low * factor)} to {figure(found.high * factor)})"


NOISE = Section(
    "noise",
    "Noise",
    tables={"noise": noise_table, "unsteady": steady_table, "typical": typical_table},
    context=lambda _findings: {"draws": DRAWS, "block": BLOCK},
    charts=order_chart,
    sheets={"noise": noise_sheet, "steadiness": steadiness_sheet, "typical": typical_sheet},
)
