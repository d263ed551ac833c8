"""Variants by loads, coloured by how far the worst interval lies from the bound, each square with its figures."""

import json
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import altair as alt

from plimsoll.analysis.campaign.capacity import Rung
from plimsoll.analysis.campaign.cell_results import CellResult, Spread, worst, worst_level
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.theme import TABLE, Figure, specification, tooltips
from plimsoll.report.formatting import at_least, ms, multiple, ops, short_ops
from plimsoll.report.words.answers import kept_but_missed, open_repeats

_ENDS = (16, 256, 4096, 65_536)
"""Ends of the scale of colours, as multiples of the bound. Each has a whole square root, for the ticks between."""
_SQUARE_PX, _FEW_SQUARES_PX = 34, 44
_EDGE: dict[str, Any] = {"fillOpacity": 0, "strokeWidth": 2, "cornerRadius": 3}
_TOLD = {
    "variant:N": "Variant",
    "load_text:N": "Load",
    "range:N": "Worst interval / bound, over repeats",
    "repeats:N": "Repeats",
    "not_achieved:N": "Rate not achieved",
}
_WHY_MISSED = {
    "errors": "too many operations failed",
    "rate": "the rate was not achieved",
    "a stop rule": "a stop rule ended the load",
}
_KEPT_BUT_MISSED, _NO_RESULT = "#b3200e", "#d5dae0"
_INK = "#111820"  # on the squares, whatever the page's own colours are


def heat_map(findings: Findings) -> Figure:
    """Return the whole matrix at a glance, with each variant's capacity as a line atop of its highest carried load."""
    rows = [row for variant in findings.rungs for row in _squares(findings, variant)]
    square_px = _FEW_SQUARES_PX if len(findings.loads) <= 4 else _SQUARE_PX
    chart = alt.layer(*_layers(findings), data=TABLE).properties(height=square_px * len(findings.loads), width=760)
    return Figure(
        name="heat-map",
        title="How far from the bound",
        caption=_caption(findings),
        spec=specification(chart, {"values": rows}),
        narrowest_px=70 + 92 * len(findings.rungs),
    )


def _caption(findings: Findings) -> str:
    sentences = [
        "Each square is a variant at a load: its worst interval over all valid repeats, and how many repeats met the "
        "service level. Blue is below the bound, red beyond it."
    ]
    if any(capacity.at_capacity for capacity in findings.capacities):
        sentences.append(
            "The heavy yellow line is the load line: it lies on top of the highest load that the variant carries."
        )
    if findings.count("invalid", "not run"):
        sentences.append("A dashed edge: repeats are invalid or were not run; grey: no valid repeat at all.")
    if findings.count("not needed"):
        sentences.append(
            f"Not needed, taken for met: a {findings.part.strategy.name} left these repeats out; they are "
            "neither met nor missed."
        )
    if reasons := _other_reasons(findings):
        sentences.append(f"A solid red edge: response times were kept, but {' or '.join(reasons)}.")
    return " ".join(sentences)


def _other_reasons(findings: Findings) -> list[str]:
    """List the reasons why repeats missed although their response times were kept."""
    named = {reason for rungs in findings.rungs.values() for rung in rungs for reason in kept_but_missed(rung)}
    return [words for reason, words in _WHY_MISSED.items() if reason in named]


def _squares(findings: Findings, variant: str) -> list[dict[str, object]]:
    own = findings.of_variant(variant)
    capacities = {capacity.variant: capacity.capacity_ops_s for capacity in findings.capacities}
    spreads = {spread.load_ops_s: spread for spread in worst(own)}
    return [
        {
            "variant": findings.labels[variant],
            **_square(rung, spreads.get(rung.load_ops_s)),
            "capacity": rung.load_ops_s == capacities.get(variant),
            "worst": _worst_ms(own, rung.load_ops_s),
        }
        for rung in findings.rungs[variant]
    ]


def _worst_ms(cells: Sequence[CellResult], load_ops_s: int) -> str:
    level = worst_level(result for result in cells if result.cell.load_ops_s == load_ops_s)
    return at_least(ms(level.worst_ms), level.worst_is_floor) if level else "no result"


def _square(rung: Rung, spread: Spread | None) -> dict[str, object]:
    return {
        "load": short_ops(rung.load_ops_s),
        "load_text": ops(rung.load_ops_s),
        # 0 has no place on a scale of logs, whose colours end there anyway
        "ratio": max(spread.high, 1 / _ENDS[-1]) if spread else None,
        "range": f"{multiple(spread.low)} to {at_least(multiple(spread.high), rung.worst_is_floor)}"
        if spread
        else "none valid",
        "repeats": _repeats(rung),
        "kept_but_missed": bool(kept_but_missed(rung)),
        "whole": rung.invalid + rung.not_run == 0,
        "not_achieved": f"{rung.rate_not_achieved} of {rung.met + rung.missed} valid repeats",
    }


def _repeats(rung: Rung) -> str:
    if rung.outcome in ("not needed", "taken for met") and not rung.met:
        return rung.outcome
    missed = (f"{count} by {reason}" for reason, count in kept_but_missed(rung).items())
    return ", ".join([f"{rung.met}/{rung.repeats} met", *missed, *open_repeats(rung)])


def _layers(findings: Findings) -> list[alt.Chart]:
    """Return the layers, optional ones only where they have rows: Vega warns of empty ones."""
    base = alt.Chart().encode(x=_variants(findings), y=_loads(findings), tooltip=tooltips(_TOLD))
    open_ones = base.transform_filter("!datum.whole").mark_rect(**_EDGE, stroke=_INK, strokeDash=[5, 3])
    solid_edges = base.transform_filter("datum.kept_but_missed").mark_rect(**_EDGE, stroke=_KEPT_BUT_MISSED)
    return [
        *_rectangles(base, *_ends(findings)),
        *([open_ones] if findings.count("invalid", "not run") else []),
        *([solid_edges] if _other_reasons(findings) else []),
        base.mark_text(dy=-5, fontSize=12, fontWeight="bold", color=_INK).encode(text="worst:N"),
        base.mark_text(dy=9, fontSize=10, color=_INK).encode(text="repeats:N"),
        *(_load_line(findings) if any(capacity.at_capacity for capacity in findings.capacities) else []),
    ]


def _variants(findings: Findings, *, left: bool = False) -> alt.X:
    lines = {label: wrap(label, 13, break_long_words=False) for label in findings.labels.values()}
    axis = alt.Axis(
        orient="top",
        labelAngle=0,
        labelExpr=f"{json.dumps(lines)}[datum.label]",
        labelPadding=13 * max(map(len, lines.values())) - 7,
        ticks=False,
        domain=False,
    )
    scale = alt.Scale(paddingInner=0.03, paddingOuter=0)
    order = list(findings.labels.values())
    return alt.X("variant:N", sort=order, title=None, axis=axis, scale=scale, bandPosition=0 if left else 0.5)


def _loads(findings: Findings, *, top: bool = False) -> alt.Y:
    loads = [short_ops(load) for load in reversed(findings.loads)]
    axis = alt.Axis(ticks=False, domain=False)
    scale = alt.Scale(paddingInner=0.08, paddingOuter=0.05)
    title, position = "Attempted load (ops/s)", 0 if top else 0.5
    return alt.Y("load:N", sort=loads, title=title, axis=axis, scale=scale, bandPosition=position)


def _ends(findings: Findings) -> tuple[int, int]:
    """Return how far the colours reach below and beyond the bound, as multiples of it, at most the last of `_ENDS`."""
    ratios = [ratio for spread in worst(findings.cells) if (ratio := spread.high) > 0]
    furthest = max([1.0, *(1 / ratio for ratio in ratios)]), max([1.0, *ratios])
    below, beyond = (next((end for end in _ENDS if end >= most), _ENDS[-1]) for most in furthest)
    return below, beyond


def _rectangles(base: alt.Chart, below: int, beyond: int) -> list[alt.Chart]:
    domain, inks = [1 / below, 1, beyond], ["#4393c3", "#f7f7f7", "#e5674f"]
    scale = alt.Scale(type="log", domain=domain, range=inks, clamp=True, interpolate="lab")
    legend = alt.Legend(
        orient="bottom",
        title="Worst interval / bound (log scale)",
        titleLimit=400,
        gradientLength=240,
        gradientThickness=10,
        values=[1 / below, 1 / round(below**0.5), 1, round(beyond**0.5), beyond],
        labelExpr="datum.value < 1 ? '1/' + round(1 / datum.value) + '×' : datum.value + '×'",
    )
    results = base.transform_filter(alt.datum.ratio > 0).mark_rect(cornerRadius=3)
    return [
        results.encode(color=alt.Color("ratio:Q", scale=scale, legend=legend)),
        base.transform_filter("!(datum.ratio > 0)").mark_rect(cornerRadius=3, color=_NO_RESULT),
    ]


def _load_line(findings: Findings) -> list[alt.Chart]:
    """Draw the line light with a dark edge, to be seen on the squares and on any page."""
    x, top = _variants(findings, left=True), _loads(findings, top=True)
    carried = alt.Chart().transform_filter(alt.datum.capacity)
    return [
        carried.mark_rule(strokeWidth=width, yOffset=2, color=colour).encode(
            x=x, x2=alt.X2("variant:N", bandPosition=1), y=top
        )
        for width, colour in ((7, _INK), (3.5, "#ffc933"))
    ]
