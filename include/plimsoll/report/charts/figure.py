"""A chart with what belongs to it: name, caption, and how it may be laid out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

HOVER = "hover"
"""Name prefix of layers that only react to a pointer (tooltips, links). Pictures leave them out."""
LINK = "to"
"""Column of a chart's table: the link of what a row shows; empty for none."""


TABLE = alt.NamedData("table")
"""The placeholder of a chart's table until `specification` puts the table in: Altair copies and checks inline rows many
times over.
"""


@dataclass(frozen=True)
class Panels:
    """Small multiples: `in_row` of them stand in a row, fewer where each would be narrower than `narrowest_px`."""

    count: int
    in_row: int
    narrowest_px: int
    own_axes: bool = False

    @property
    def last_row_has_gaps(self) -> bool:
        """Tell whether panels don't fill the last row: a shared x axis would stand below the gaps, far from its
        panels.
        """
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


def specification(chart: alt.LayerChart | alt.FacetChart, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart over TABLE, with its `data` inside."""
    return {**chart.to_dict(validate=False), "data": dict(data)}


def linked(points: alt.Chart, name: str = "links") -> alt.Chart:
    """Return the rows that have a LINK, as links on top of the drawing.

    `points` are encoded, `name` is the chart's own.
    """
    layer: alt.Chart = (
        points.transform_filter(f"datum.{LINK}").encode(href=f"{LINK}:N").properties(name=f"{HOVER}-{name}")
    )
    return layer


def rows_data(rows: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    """Return a table given as rows."""
    return {"values": list(rows)}
