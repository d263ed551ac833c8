"""The trend as one self-contained page, with a chart of each series that has enough figures."""

from collections.abc import Iterator, Mapping

import altair as alt
from altair.utils.schemapi import debug_mode

from plimsoll.analysis.trend.figures import Measure
from plimsoll.analysis.trend.series import TrendSeries
from plimsoll.domain.text.units import four_digits
from plimsoll.report.charts.rendering import drawing
from plimsoll.report.charts.theme import BOUND, TABLE, Figure, rows_data, specification, tooltips
from plimsoll.report.page import charts_html
from plimsoll.report.trend.document import TrendDocument
from plimsoll.report.trend.words import (
    NAMES,
    changes_table,
    left_out_table,
    name_of,
    of_figure,
    sentences,
    series_table,
    summary,
)

_UNITS: Mapping[Measure, str] = {
    "worst_interval_ms": "ms",
    "achieved_ops_s": "ops/s",
    "capacity_ops_s": "ops/s",
    "action_s": "s",
    "longest_pause_ms": "ms",
    "paused_share": "share of time",
}


def trend_html(found: TrendDocument) -> bytes:
    """Return the page. Charts of series that changed come first; those with too few figures stand in the table."""
    shown = sorted((one for one in found.series if one.enough), key=lambda one: not one.change_points)
    named = {f"series-{number}": one for number, one in enumerate(shown, 1)}
    with debug_mode(False):
        figures = [_figure(name, one) for name, one in named.items()]
    context = {
        "title": f"Trend of {' and '.join(found.definitions)}",
        "summary": summary(found),
        "sentences": list(sentences(found)),
        "left_out": left_out_table(found),
        "all_series": series_table(found),
        "highest_p": found.highest_p_value,
        "levels": {name: changes_table(one) for name, one in named.items() if one.change_points},
    }
    return charts_html("trend.html.j2", figures, {one.name: drawing(one) for one in figures}, **context).encode()


def _figure(name: str, one: TrendSeries) -> Figure:
    """Draw a point for each campaign with its range, a line at each level, and a dashed one at each change."""
    y_title, scale = f"{NAMES[one.measure].capitalize()} ({_UNITS[one.measure]})", alt.Scale(zero=False, padding=8)
    x = alt.X("position:Q", title="Campaigns, in order", scale=alt.Scale(nice=False, padding=12))
    y = alt.Y("value:Q", title=y_title, scale=scale)
    told = {"campaign:N": "Campaign", "told:N": NAMES[one.measure].capitalize()}
    layers = [
        alt.Chart().mark_rule(strokeWidth=2, opacity=0.4).encode(x=x, y=alt.Y("low:Q", title=""), y2="high:Q"),
        alt.Chart().mark_point(filled=True, size=36, opacity=0.9).encode(x=x, y=y, tooltip=tooltips(told)),
    ]
    if one.change_points:
        changes = alt.Chart(alt.InlineData(values=[{"change": at.index + 0.5} for at in one.change_points]))
        layers += [
            alt.Chart().mark_line(strokeWidth=1.8).encode(x=x, y=alt.Y("mean:Q", title=""), detail="level:N"),
            changes.mark_rule(style=BOUND).encode(x=alt.X("change:Q", title="")),
        ]
    chart = alt.layer(*layers, data=TABLE).properties(width=760, height=200)
    return Figure(name=name, title=name_of(one), caption="", spec=specification(chart, rows_data(list(_rows(one)))))


def _rows(one: TrendSeries) -> Iterator[dict[str, object]]:
    for level, (start, end, mean) in enumerate(one.levels):
        for position, point in enumerate(one.points[start:end], start + 1):
            if point.value is not None:
                yield {
                    "position": position,
                    "campaign": point.campaign_id,
                    "value": four_digits(point.value),
                    "told": of_figure(one.measure, point.value),
                    "low": four_digits(point.value if point.low is None else point.low),
                    "high": four_digits(point.value if point.high is None else point.high),
                    **({} if mean is None else {"level": level, "mean": four_digits(mean)}),
                }
