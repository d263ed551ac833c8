"""One look for all charts, each a figure with its name, caption and layout: colours that colour-blind readers tell
apart, on white and on dark, and shapes too; and a font shipped with Plimsoll, so that the machine's change no picture.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import unescape
from importlib.resources import as_file, files
from itertools import pairwise
from math import log10
from typing import Any

import altair as alt
import pandas as pd

from plimsoll.analysis.campaign.findings import Findings

FAMILY = "Plimsoll Sans"
_FOLDER = files("plimsoll.report").joinpath("fonts")
_FILES = ("PlimsollSans-Regular.ttf", "PlimsollSans-Bold.ttf")


@cache
def register() -> None:
    """Let vl-convert draw with the font; it does not look into Plimsoll's folders by itself."""
    import vl_convert

    with as_file(_FOLDER) as folder:
        vl_convert.register_font_directory(str(folder))


@cache
def version() -> str:
    """Return the family and a digest of its files: what a bundle records of the font."""
    digest = sha256(b"".join(_FOLDER.joinpath(name).read_bytes() for name in _FILES)).hexdigest()
    return f"{FAMILY} {digest[:12]}"


def lacking(svg: str) -> str:
    """Return the characters of its texts that the font does not have, sorted: the machine's own fonts draw them."""
    written = {character for text in re.findall(r">([^<]+)<", svg) for character in unescape(text)}
    absent = (sign for sign in written if not any(first <= ord(sign) <= last for first, last in _ranges()))
    return "".join(sorted(sign for sign in absent if not sign.isspace()))


@cache
def _ranges() -> tuple[tuple[int, int], ...]:
    lines = _FOLDER.joinpath("characters.txt").read_text(encoding="ascii").split()
    return tuple((int(first, 16), int(last, 16)) for first, last in (line.split("-") for line in lines))


# Variants' colours. Each has a contrast of 3:1 or more on white and on dark, and any two of them and MISSED lie 0.09 or
# more apart in OKLab (Ottosson, 2020) to red-green-blind readers too (Machado, Oliveira and Fernandes, 2009).
PALETTE = ("#1a7fbd", "#1e965a", "#e10fa5", "#5a3cff", "#964b69", "#a578ff")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

# What is no variant has none of their colours.
MISSED = "#d55e00"
MET = "#6f7f8d"
PAUSE = "#8a7f66"
SHADE = "#7f8b99"
BOUND = "bound"
"""Style of marks at the bound: in the ink of text, dashed."""
LEGEND_ROOM = "legendRoom"

PAGE_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"
PICTURE_FONT = f"{FAMILY}, Liberation Sans, Arial, sans-serif"

PICTURE_INK, PICTURE_PAPER = "#1b2733", "#ffffff"

HOVER = "hover"
"""Name prefix of layers that only react to a pointer (tooltips, links). Pictures leave them out."""

LINK = "to"
"""Column of a chart's table: the link of what a row shows; empty for none."""

TABLE = alt.NamedData("table")
"""The placeholder of a chart's table until `specification` puts the table in: Altair copies inline rows many times."""


@dataclass(frozen=True)
class Panels:
    """Small multiples: `in_row` of them stand in a row, fewer where each would be narrower than `narrowest_px`."""

    count: int
    in_row: int
    narrowest_px: int
    own_axes: bool = False

    @property
    def last_row_has_gaps(self) -> bool:
        """Tell whether panels don't fill the last row: a shared x axis would be below gaps, far from its panels."""
        return self.count > self.in_row and self.count % self.in_row > 0


@dataclass(frozen=True)
class Figure:
    """One chart. `spec` is Vega-Lite without theme; `narrowest_px` is the width below which it scrolls sideways."""

    name: str
    title: str
    caption: str
    spec: Mapping[str, Any]
    narrowest_px: int = 300
    panels: Panels | None = None


def page_config() -> dict[str, Any]:
    """Return the theme for the page: inks follow the text's colour, so one drawing serves light, dark and print."""
    return _config(ink="currentColor", font=PAGE_FONT, background="transparent")


def picture_config() -> dict[str, Any]:
    """Return the theme for PNG and SVG files: dark ink on white."""
    return _config(ink=PICTURE_INK, font=PICTURE_FONT, background=PICTURE_PAPER)


def variant_marks(findings: Findings) -> dict[str, Any]:
    """Return the channels of a variant's colour and shape, in the definition's order: never colour alone.

    Their legend stands above the chart, in as many columns as fit into LEGEND_ROOM.
    """
    labels = list(findings.labels.values())
    column_px = 30 + round(6.4 * max(map(len, labels)))
    columns: Any = alt.expr(f"max(1, floor({LEGEND_ROOM} / {column_px}))")
    legend = alt.Legend(orient="top", title=None, columns=columns, labelLimit=400)
    return {
        "color": alt.Color("variant:N", scale=cycled(labels, PALETTE), legend=legend),
        "shape": alt.Shape("variant:N", scale=cycled(labels, SHAPES), legend=legend),
    }


def cycled(names: Sequence[str], values: Sequence[Any]) -> alt.Scale:
    """Return a scale that gives each name a value, and begins again with the first where there are more names."""
    return alt.Scale(domain=list(names), range=[values[index % len(values)] for index in range(len(names))])


def legend_room(width_px: int) -> alt.Parameter:
    """Return the width that a legend above the chart may take; the page sets it to its own."""
    return alt.param(name=LEGEND_ROOM, value=width_px)


def in_panels(
    layers: Sequence[alt.Chart], field: str, names: Sequence[str], size_px: tuple[int, int], columns: int, **header: Any
) -> alt.FacetChart:
    """Return the layers in a panel of that width and height for each of these names, which stand above them."""
    panels = alt.layer(*layers).properties(width=size_px[0], height=size_px[1])
    facet = alt.Facet(field, sort=list(names), header=alt.Header(**{"labelFontSize": 12, "title": None, **header}))
    chart: alt.FacetChart = panels.facet(facet=facet, columns=columns, data=TABLE).add_params(legend_room(700))
    return chart


def tooltips(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    return [alt.Tooltip(field, title=title) for field, title in titles.items()]


def bound_line(field: str, value: float, y: alt.Y) -> alt.Chart:
    line: alt.Chart = alt.Chart(alt.InlineData(values=[{field: value}])).mark_rule(style=BOUND).encode(y=y)
    return line


def warm_up_shade(end: float, x: alt.X, **mark: Any) -> alt.Chart:
    """Return the shaded time until warm-up's end, in the unit of `x`, whose field is `t`."""
    data = alt.InlineData(values=[{"t": 0, "end": end}])
    shade: alt.Chart = alt.Chart(data).mark_rect(color=SHADE, opacity=0.16, **mark).encode(x=x, x2="end:Q")
    return shade


def aside(findings: Findings, variant: str) -> float:
    """Return the ops/s to add to a load so that variants stand beside one another, near enough to be one load."""
    loads, count = findings.loads, len(findings.labels)
    gap = min((high - low for low, high in pairwise(loads)), default=loads[0])
    width = min(gap / 3, 0.03 * loads[-1])
    return round((list(findings.labels).index(variant) - (count - 1) / 2) / count * width, 3)


def load_axis(findings: Findings) -> alt.Axis:
    """Return ticks at the loads themselves, `40k` for 40,000 ops/s; those that would collide give way."""
    loads = findings.loads
    return alt.Axis(values=loads, labelExpr="format(datum.value, '~s')", labelOverlap="greedy", labelSeparation=4)


def log_axis(lowest: float, highest: float, most_ticks: int = 9) -> tuple[list[float], list[float]]:
    """Choose domain and ticks of a log scale around figures > 0: ends on 1, 2 or 5, ticks there or at decades."""
    steps = [factor * 10.0**power for power in range(-6, 9) for factor in (1, 2, 5)]
    low = max((step for step in steps if step <= lowest), default=steps[0])
    high = min((step for step in steps if step >= highest and step > low), default=steps[-1])
    ticks = [step for step in steps if low <= step <= high]
    decades = [tick for tick in ticks if round(log10(tick), 9).is_integer()]
    return [low, high], ticks if len(ticks) <= most_ticks or len(decades) < 2 else decades


def log_y(field: str, values: Sequence[float], title: str, most_ticks: int = 9, extent_px: int = 0) -> alt.Y:
    """Return a y channel in ms on a log scale that encloses the values; its labels take `extent_px` or more."""
    domain, ticks = log_axis(min(values), max(values), most_ticks)
    scale = alt.Scale(type="log", domain=domain, nice=False)
    return alt.Y(field, title=title, scale=scale, axis=alt.Axis(values=ticks, format=",~f", minExtent=extent_px))


def _config(*, ink: str, font: str, background: str) -> dict[str, Any]:
    faint: Mapping[str, Any] = {"gridColor": ink, "gridOpacity": 0.12, "domainColor": ink, "domainOpacity": 0.35}
    return {
        # A chart is one picture to those who can't see it, with one name: marks are no things of their own.
        "aria": False,
        "mark": {"aria": False},
        "font": font,
        "background": background,
        "padding": {"left": 4, "right": 12, "top": 4, "bottom": 4},
        "view": {"stroke": ink, "strokeOpacity": 0.2},
        "title": {"color": ink, "subtitleColor": ink, "anchor": "start", "fontSize": 15, "subtitleFontSize": 11},
        "axis": {
            **faint,
            "tickColor": ink,
            "tickOpacity": 0.35,
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelFlush": False,
        },
        "legend": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 12,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "symbolSize": 80,
            "symbolStrokeWidth": 2,
            "symbolOpacity": 1,
        },
        "header": {"labelColor": ink, "titleColor": ink, "labelFontSize": 11, "labelPadding": 3, "title": None},
        "text": {"color": ink},
        "style": {
            BOUND: {"color": ink, "stroke": ink, "strokeOpacity": 0.85, "strokeDash": [5, 3], "strokeWidth": 1.3}
        },
    }


def specification(chart: alt.LayerChart | alt.FacetChart, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart over TABLE, with its `data` inside."""
    return {**chart.to_dict(validate=False), "data": dict(data)}


def linked(points: alt.Chart, name: str = "links") -> alt.Chart:
    """Return the rows that have a LINK, as links on the drawing. `points` are encoded, `name` is the chart's own."""
    layer: alt.Chart = (
        points.transform_filter(f"datum.{LINK}").encode(href=f"{LINK}:N").properties(name=f"{HOVER}-{name}")
    )
    return layer


def csv_data(rows: pd.DataFrame, numbers: Sequence[str]) -> dict[str, Any]:
    """Return a table as CSV inside the specification, which is half the size of a list of objects, or less.

    `numbers`: the columns that are read as such.
    """
    csv = rows.to_csv(index=False, lineterminator="\n")
    return {"values": csv, "format": {"type": "csv", "parse": dict.fromkeys(numbers, "number")}}
