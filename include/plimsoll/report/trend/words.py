"""What is said of a trend: a sentence for each change, a line for a pull request, a badge, tables, otava's CSV."""

from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import NamedTuple

import pandas as pd

from plimsoll.analysis.trend.change_points import ENOUGH
from plimsoll.analysis.trend.figures import Measure
from plimsoll.analysis.trend.series import ChangePoint, PlacedChange, TrendSeries
from plimsoll.domain.attempt.result import Note
from plimsoll.report.formatting import NOTHING, at_load, figure, listing, ms, ops, p_text, percent, plural
from plimsoll.report.tables import PlainTable, as_csv, escaped, plain
from plimsoll.report.trend.document import CODE, DATABASE, TrendDocument
from plimsoll.report.words.environment_facts import ARCHIVE


class Shown(NamedTuple):
    """How a measure is shown: its name, its unit on an axis, and a figure of it as text."""

    name: str
    unit: str
    text: Callable[[float], str]


MEASURES: Mapping[Measure, Shown] = {
    "worst_interval_ms": Shown("worst interval", "ms", ms),
    "achieved_ops_s": Shown("achieved rate", "ops/s", ops),
    "capacity_ops_s": Shown("capacity", "ops/s", ops),
    "action_s": Shown("duration of the action", "s", lambda value: f"{figure(value)} s"),
    "longest_pause_ms": Shown("longest pause", "ms", ms),
    "paused_share": Shown("time in pauses", "share of time", lambda value: f"{figure(100 * value)} %"),
}
_FIRST = (DATABASE, "definition: version", ARCHIVE, "kernel", "operating system", "JVM", "image", "instance type", CODE)
"""The facts that are told first: a change of the others often follows from them."""
_FACTS = 5


def of_figure(measure: Measure, value: float | None) -> str:
    return NOTHING if value is None else MEASURES[measure].text(value)


def name_of(series: TrendSeries) -> str:
    """Return a series in words: `g1 at 400 ops/s: worst interval`."""
    stage, workload = f"{series.stage}: " if series.stage else "", f", {series.workload}" if series.workload else ""
    load = "" if series.load_ops_s is None else f" {at_load(series.load_ops_s)}"
    if series.level:
        load = f" at {series.level}"
    measure = f"{MEASURES[series.measure].name}{f' ({series.of})' if series.of else ''}"
    return f"{stage}{series.variant}{workload}{load}: {measure}"


def sentences(trend: TrendDocument) -> Iterator[str]:
    """Yield a sentence for each change, by its surest series, with what else changed there."""
    return (sentence(trend, change) for change in trend.changes)


def sentence(trend: TrendDocument, change: PlacedChange) -> str:
    """Return what is known of a change, and why it is accepted, where it is."""
    number, at = surest(trend, change)
    series, others = trend.series[number], len(change.series) - 1
    more = f"; {plural(others, 'more series', 'more series')} of it changed there too" if others else ""
    accepted = f"; accepted by {_said(change.accepted)}" if change.accepted else ""
    return f"{name_of(series)} {moved(series, at)}{more}; {beside(at)}{accepted}"


def _said(note: Note) -> str:
    return f"{note.by} on {note.at:%Y-%m-%d}: {' '.join(note.text.split())}"


def surest(trend: TrendDocument, change: PlacedChange) -> tuple[int, ChangePoint]:
    """Return the place of the series that shows a change most surely, and its change point."""
    number = change.series[0]
    (at,) = (point for point in trend.series[number].change_points if point.campaign_id == change.campaign_id)
    return number, at


def moved(series: TrendSeries, at: ChangePoint) -> str:
    """Return what a figure did at a change: `rose by 15 % (20 ms → 23 ms, p < 0.001) between a and b`."""
    up, down = ("drifted up", "drifted down") if at.gradual else ("rose", "fell")
    verb = up if at.after > at.before else down
    size = "" if at.ratio is None else f" by {percent(abs(at.ratio - 1), 0 if abs(at.ratio - 1) >= 0.1 else 1)}"
    p = p_text(at.p_value)
    from_to = f"{of_figure(series.measure, at.before)} → {of_figure(series.measure, at.after)}"
    between = f"between {at.previous_campaign_id} and {at.campaign_id}"
    return f"{verb}{size} ({from_to}, p {p if p.startswith('<') else f'= {p}'}) {between}"


def beside(at: ChangePoint) -> str:
    """Return what else changed, as the end of a sentence."""
    unknown = "" if at.environment_known else "nothing is known of the environment on one side"
    changed = sorted(at.also_changed, key=lambda of: _FIRST.index(of.fact) if of.fact in _FIRST else len(_FIRST))
    facts = listing([f"{fact.fact} {fact.before} → {fact.after}" for fact in changed], _FACTS)
    also = f"what also changed: {facts}" if facts else "" if unknown else "nothing else that is known changed"
    return "; ".join(filter(None, (also, unknown)))


def summary(trend: TrendDocument) -> str:
    """Return in one sentence how much was looked at, and how much of it can tell nothing yet."""
    short = [not series.enough for series in trend.series]
    none = "too few figures to tell a change" if all(short) else "no change"
    few = f"; {sum(short)} of the series have fewer than {ENOUGH} figures" if 0 < sum(short) < len(short) else ""
    changed = plural(len(trend.changes), "change") if trend.changes else none
    accepted = sum(change.accepted is not None for change in trend.changes)
    return (
        f"{' and '.join(trend.definitions)}: {changed}{f' ({accepted} accepted)' if accepted else ''} in "
        f"{plural(len(trend.series), 'series', 'series')} over {plural(len(trend.campaigns), 'campaign')} by "
        f"{trend.order}{few}{_since_baseline(trend)}"
    )


def _since_baseline(trend: TrendDocument) -> str:
    """Return from where on changes are sought, by the series themselves: which baseline counts depends on the order."""
    marked = {campaign.campaign_id: campaign.baseline for campaign in trend.campaigns if campaign.baseline}
    firsts = dict.fromkeys(
        (series.points[series.searched_from].campaign_id, series.searched_from) for series in trend.series
    )
    told = dict.fromkeys(_from(first, marked.get(first)) for first, index in firsts if index or first in marked)
    return "".join(told)


def _from(campaign_id: str, note: Note | None) -> str:
    if note is None:
        return f"; sought from {campaign_id} on, the first one since a baseline that is not there"
    return f"; sought from the baseline {campaign_id} on, set by {_said(note)}"


def state(trend: TrendDocument) -> tuple[str, str]:
    """Return the change of each variant in two or three words, and whether it is good, bad or neither.

    A change that somebody accepted is none.
    """
    newest = newest_changes(trend)
    for effect, kind in (("regression", "bad"), ("improvement", "good")):
        if own := dict.fromkeys(change.variant for change in newest if change.effect == effect):
            return f"{effect}: {listing(list(own), 3)}", kind
    return ("no change", "good") if any(series.enough for series in trend.series) else ("too few campaigns", "")


def newest_changes(trend: TrendDocument) -> tuple[PlacedChange, ...]:
    """Return one change of each variant with each workload that nobody accepted, the newest last.

    It is the newest regression of a figure that has not changed since, or else the newest change.
    """
    ordered = [change for change in trend.changes if not change.accepted]
    ordered.sort(key=lambda change: surest(trend, change)[1].index)
    of_series = {number: change for change in ordered for number in change.series}
    standing = [change for change in ordered if change in of_series.values()]
    standing.sort(key=lambda change: change.effect == "regression")
    told = {(change.stage, change.workload, change.variant): change for change in standing}
    return tuple(change for change in ordered if change in told.values())


def badge(trend: TrendDocument) -> bytes:
    """Return the newest changes as a small SVG for a README."""
    left, (right, kind) = f"trend of {trend.definitions[0]}", state(trend)
    colour = {"bad": "#b3261e", "good": "#1b6e3c", "": "#5a6672"}[kind]
    widths = [round(6.6 * len(text)) + 14 for text in (left, right)]
    texts = "".join(
        f'<text x="{x}" y="14" text-anchor="middle">{escape(text)}</text>'
        for x, text in ((widths[0] / 2, left), (widths[0] + widths[1] / 2, right))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sum(widths)}" height="20" role="img" '
        f'aria-label="{escape(f"{left}: {right}")}"><rect width="{sum(widths)}" height="20" rx="3" fill="#2f3b46"/>'
        f'<rect x="{widths[0]}" width="{widths[1]}" height="20" rx="3" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{texts}</g></svg>\n'
    ).encode()


def markdown_line(trend: TrendDocument) -> str:
    told = " ".join(f"{escaped(text)}." for text in sentences(trend))
    return f"**Trend**: {escaped(summary(trend))}. {told}".strip()


def changes_table(series: TrendSeries) -> PlainTable:
    """Return a row for each level of a series, from one change to the next."""
    rows, before_changes = [], [None] * (len(series.levels) - len(series.change_points))
    for (start, end, mean), at in zip(series.levels, (*before_changes, *series.change_points), strict=True):
        known = [point for point in series.points[start:end] if point.value is not None]
        if not known:  # all before a baseline
            continue
        rows.append((
            known[0].campaign_id, known[-1].campaign_id, str(len(known)), of_figure(series.measure, mean),
            f"{at.ratio - 1:+.1%}".replace("%", " %") if at and at.ratio is not None else NOTHING,
            p_text(at.p_value) if at else NOTHING,
        ))  # fmt: skip
    headings = {"From": "", "To": "", "Campaigns": "number", "Mean": "number", "Change": "number", "p": "number"}
    return plain(name_of(series), headings, rows)


def series_table(trend: TrendDocument) -> PlainTable:
    rows = (
        (name_of(own), sum(point.value is not None for point in own.points), _newest(own), _verdict(own))
        for own in trend.series
    )
    return plain("Series", {"Series": "", "Figures": "number", "Newest": "number", "Changes": ""}, rows)


def _newest(series: TrendSeries) -> str:
    known = (point.value for point in reversed(series.points) if point.value is not None)
    return of_figure(series.measure, next(known, None))


def _verdict(series: TrendSeries) -> str:
    if series.change_points:
        return listing([f"{at.effect} at {at.campaign_id}" for at in series.change_points], 3)
    return "none" if series.enough else "too few figures"


def left_out_table(trend: TrendDocument) -> PlainTable:
    rows = ((f"{out.campaign_id}{f', {out.part}' if out.part else ''}", out.why) for out in trend.left_out)
    return plain("Left out", {"Campaign": "", "Why": ""}, rows)


def otava_csv(trend: TrendDocument) -> bytes:
    """Return the series as CSV for apache-otava: `time`, `campaign`, a column for each series.

    otava reads no empty field. A gap is filled as it fills those of its other sources: by the last figure before it,
    else by the first one after it.
    """
    columns: dict[str, pd.Series] = {}
    for series in trend.series:
        load = series.level or str(series.load_ops_s or "")
        name = ".".join(filter(None, (*series.place, load, series.of, series.measure)))
        columns[name] = pd.Series({point.campaign_id: point.value for point in series.points}, dtype=float)
    rows = pd.DataFrame(columns)
    rows = rows.reindex([campaign.campaign_id for campaign in trend.campaigns]).ffill().bfill()
    rows.insert(0, "campaign", rows.index)
    rows.insert(0, "time", [f"{campaign.began_at:%Y-%m-%d %H:%M:%S %z}" for campaign in trend.campaigns])
    return as_csv(rows)
