"""The trend as one self-contained page, with a chart of each series that has enough figures."""

from collections.abc import Iterator

import altair as alt
from altair.utils.schemapi import debug_mode

from plimsoll.analysis.trend.series import TrendSeries
from plimsoll.domain.text.units import four_digits
from plimsoll.report.charts.rendering import drawing
from plimsoll.report.charts.theme import BOUND, TABLE, Figure, specification, tooltips
from plimsoll.report.page import charts_html
from plimsoll.report.trend.document import TrendDocument
from plimsoll.report.trend.words import (
    MEASURES,
    changes_table,
    left_out_table,
    name_of,
    of_figure,
    sentences,
    series_table,
    summary,
)


def trend_html(document: TrendDocument) -> bytes:
    """Return the page. Charts of series that changed come first; those with too few figures stand in the table."""
    shown = sorted((series for series in document.series if series.enough), key=lambda series: not series.change_points)
    named = {f"series-{number}": series for number, series in enumerate(shown, 1)}
    with debug_mode(False):
        figures = [_figure(name, series) for name, series in named.items()]
    context = {
        "title": f"Trend of {' and '.join(document.definitions)}",
        "summary": summary(document),
        "sentences": list(sentences(document)),
        "left_out": left_out_table(document),
        "all_series": series_table(document),
        "highest_p": document.highest_p_value,
        "levels": {name: changes_table(series) for name, series in named.items() if series.change_points},
    }
    drawings = {figure.name: drawing(figure) for figure in figures}
    return charts_html("trend.html.j2", figures, drawings, **context).encode()


def _figure(name: str, series: TrendSeries) -> Figure:
    """Draw a point for each campaign with its range, a line at each level, and a dashed one at each change."""
    shown, scale = MEASURES[series.measure], alt.Scale(zero=False, padding=8)
    x = alt.X("position:Q", title="Campaigns, in order", scale=alt.Scale(nice=False, padding=12))
    y = alt.Y("value:Q", title=f"{shown.name.capitalize()} ({shown.unit})", scale=scale)
    titles = {"campaign:N": "Campaign", "told:N": shown.name.capitalize()}
    layers = [
        alt.Chart().mark_rule(strokeWidth=2, opacity=0.4).encode(x=x, y=alt.Y("low:Q", title=""), y2="high:Q"),
        alt.Chart().mark_point(filled=True, size=36, opacity=0.9).encode(x=x, y=y, tooltip=tooltips(titles)),
    ]
    if series.change_points:
        changes = alt.Chart(alt.InlineData(values=[{"change": at.index + 0.5} for at in series.change_points]))
        layers += [
            alt.Chart().mark_line(strokeWidth=1.8).encode(x=x, y=alt.Y("mean:Q", title=""), detail="level:N"),
            changes.mark_rule(style=BOUND).encode(x=alt.X("change:Q", title="")),
        ]
    chart = alt.layer(*layers, data=TABLE).properties(width=760, height=200)
    spec = specification(chart, {"values": list(_rows(series))})
    return Figure(name=name, title=name_of(series), caption="", spec=spec)


def _rows(series: TrendSeries) -> Iterator[dict[str, object]]:
    for level, (start, end, mean) in enumerate(series.levels):
        for position, point in enumerate(series.points[start:end], start + 1):
            if point.value is not None:
                yield {
                    "position": position,
                    "campaign": point.campaign_id,
                    "value": four_digits(point.value),
                    "told": of_figure(series.measure, point.value),
                    "low": four_digits(point.value if point.low is None else point.low),
                    "high": four_digits(point.value if point.high is None else point.high),
                    **({} if mean is None else {"level": level, "mean": four_digits(mean)}),
                }
