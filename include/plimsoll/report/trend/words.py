"""What is said of a trend: a sentence for each change, a line for a pull request, a badge, tables, otava's CSV."""

from collections.abc import Iterator, Mapping
from html import escape

import pandas as pd

from plimsoll.analysis.trend.change_points import ENOUGH
from plimsoll.analysis.trend.figures import Measure
from plimsoll.analysis.trend.series import ChangedFact, ChangePoint, PlacedChange, TrendSeries
from plimsoll.domain.attempt.result import Note
from plimsoll.report.formatting import NOTHING, at_load, figure, listing, ms, ops, p_text, percent, plural
from plimsoll.report.tables import Column, PlainTable, Table, as_csv, escaped, number, plain
from plimsoll.report.trend.contribution import CODE, DATABASE
from plimsoll.report.trend.document import LeftOutCampaign, TrendDocument
from plimsoll.report.words.environment_facts import ARCHIVE

NAMES: Mapping[Measure, str] = {
    "worst_interval_ms": "worst interval",
    "achieved_ops_s": "achieved rate",
    "capacity_ops_s": "capacity",
    "action_s": "duration of the action",
    "longest_pause_ms": "longest pause",
    "paused_share": "time in pauses",
}
_FIRST = (DATABASE, "definition: version", ARCHIVE, "kernel", "operating system", "JVM", "image", "instance type", CODE)
"""The facts that are told first: a change of the others often follows from them."""
_FACTS = 5


def of_figure(measure: Measure, value: float | None) -> str:
    """Return a figure of a measure with its unit."""
    if value is None:
        return NOTHING
    if measure.endswith("_ms"):
        return ms(value)
    if measure == "paused_share":
        return percent(value, 2)
    return ops(value) if measure.endswith("_ops_s") else f"{figure(value)} s"


def name_of(one: TrendSeries) -> str:
    """Return a series in words: `g1 at 400 ops/s: worst interval`."""
    stage, workload = f"{one.stage}: " if one.stage else "", f", {one.workload}" if one.workload else ""
    load = f" at {one.level}" if one.level else f" {at_load(one.load_ops_s)}" if one.load_ops_s is not None else ""
    return f"{stage}{one.variant}{workload}{load}: {NAMES[one.measure]}{f' ({one.of})' if one.of else ''}"


def sentences(found: TrendDocument) -> Iterator[str]:
    """Yield a sentence for each change, by its surest series, with what else changed there."""
    return (sentence(found, change) for change in found.changes)


def sentence(found: TrendDocument, change: PlacedChange) -> str:
    """Return what is known of a change, and why it is accepted, where it is."""
    number, at = surest(found, change)
    one, others = found.series[number], len(change.series) - 1
    more = f"; {plural(others, 'more series', 'more series')} of it changed there too" if others else ""
    accepted = f"; accepted by {_said(change.accepted)}" if change.accepted else ""
    return f"{name_of(one)} {moved(one, at)}{more}; {beside(at)}{accepted}"


def _said(note: Note) -> str:
    return f"{note.by} on {note.at:%Y-%m-%d}: {' '.join(note.text.split())}"


def surest(found: TrendDocument, change: PlacedChange) -> tuple[int, ChangePoint]:
    """Return the place of the series that shows a change most surely, and its change point."""
    number = change.series[0]
    (at,) = (one for one in found.series[number].change_points if one.campaign_id == change.campaign_id)
    return number, at


def moved(one: TrendSeries, at: ChangePoint) -> str:
    """Return what a figure did at a change: `rose by 15 % (20 ms → 23 ms, p < 0.001) between a and b`."""
    verb = (
        ("drifted up" if at.gradual else "rose") if at.after > at.before else "drifted down" if at.gradual else "fell"
    )
    size = "" if at.ratio is None else f" by {percent(abs(at.ratio - 1), 0 if abs(at.ratio - 1) >= 0.1 else 1)}"
    p = p_text(at.p_value)
    from_to = f"{of_figure(one.measure, at.before)} → {of_figure(one.measure, at.after)}"
    between = f"between {at.previous_campaign_id} and {at.campaign_id}"
    return f"{verb}{size} ({from_to}, p {p if p.startswith('<') else f'= {p}'}) {between}"


def beside(at: ChangePoint) -> str:
    """Return what else changed, as the end of a sentence."""
    unknown = "" if at.environment_known else "nothing is known of the environment on one side"
    changed = sorted(at.also_changed, key=_rank)
    told = listing([f"{one.fact} {one.before} → {one.after}" for one in changed], _FACTS)
    also = f"what also changed: {told}" if told else "" if unknown else "nothing else that is known changed"
    return "; ".join(filter(None, (also, unknown)))


def _rank(one: ChangedFact) -> int:
    return _FIRST.index(one.fact) if one.fact in _FIRST else len(_FIRST)


def summary(found: TrendDocument) -> str:
    """Return in one sentence how much was looked at, and how much of it can tell nothing yet."""
    short = [not one.enough for one in found.series]
    none = "too few figures to tell a change" if all(short) else "no change"
    few = f"; {sum(short)} of the series have fewer than {ENOUGH} figures" if 0 < sum(short) < len(short) else ""
    changed = plural(len(found.changes), "change") if found.changes else none
    accepted = sum(one.accepted is not None for one in found.changes)
    return (
        f"{' and '.join(found.definitions)}: {changed}{f' ({accepted} accepted)' if accepted else ''} in "
        f"{plural(len(found.series), 'series', 'series')} over {plural(len(found.campaigns), 'campaign')} by "
        f"{found.order}{few}{_since_baseline(found)}"
    )


def _since_baseline(found: TrendDocument) -> str:
    newest = next((one for one in reversed(found.campaigns) if one.baseline), None)
    if newest is None or newest.baseline is None:
        return ""
    return f"; sought from the baseline {newest.campaign_id} on, set by {_said(newest.baseline)}"


def state(found: TrendDocument) -> tuple[str, str]:
    """Return the newest change of each variant in two or three words, and whether it is good, bad or neither.

    An accepted change is none.
    """
    newest = {one.variant: one for one in newest_changes(found)}
    for effect, kind in (("regression", "bad"), ("improvement", "good")):
        if own := [name for name, one in newest.items() if one.effect == effect]:
            return f"{effect}: {listing(own, 3)}", kind
    return ("no change", "good") if any(one.enough for one in found.series) else ("too few campaigns", "")


def newest_changes(found: TrendDocument) -> tuple[PlacedChange, ...]:
    """Return the newest change of each variant with each workload that nobody accepted, the newest last."""
    ordered = sorted((one for one in found.changes if not one.accepted), key=lambda one: _position(found, one))
    newest = {(one.stage, one.workload, one.variant): one for one in ordered}
    return tuple(one for one in ordered if one in newest.values())


def _position(found: TrendDocument, change: PlacedChange) -> int:
    return surest(found, change)[1].index


def badge(found: TrendDocument) -> bytes:
    """Return the newest changes as a small SVG for a README."""
    left, (right, kind) = f"trend of {found.definitions[0]}", state(found)
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


def markdown_line(found: TrendDocument) -> str:
    """Return the trend as one line of Markdown for a pull request."""
    told = " ".join(f"{escaped(one)}." for one in sentences(found))
    return f"**Trend**: {escaped(summary(found))}. {told}".strip()


def changes_table(one: TrendSeries) -> PlainTable:
    """Return a row for each level of a series, from one change to the next."""
    rows, before_changes = [], [None] * (len(one.levels) - len(one.change_points))
    for (start, end, mean), at in zip(one.levels, (*before_changes, *one.change_points), strict=True):
        known = [point for point in one.points[start:end] if point.value is not None]
        if not known:  # all before a baseline
            continue
        rows.append((
            known[0].campaign_id, known[-1].campaign_id, str(len(known)), of_figure(one.measure, mean),
            f"{at.ratio - 1:+.1%}".replace("%", " %") if at and at.ratio is not None else NOTHING,
            p_text(at.p_value) if at else NOTHING,
        ))  # fmt: skip
    headings = {"From": "", "To": "", "Campaigns": "number", "Mean": "number", "Change": "number", "p": "number"}
    return plain(name_of(one), headings, rows)


def series_table(found: TrendDocument) -> Table[TrendSeries]:
    """Return a row for each series: its newest figure, and what is said of it."""
    return Table(
        "Series",
        found.series,
        [
            Column("Series", name_of),
            number("Figures", lambda one: sum(point.value is not None for point in one.points)),
            number("Newest", lambda one: of_figure(one.measure, _newest(one))),
            Column("Changes", _verdict),
        ],
    )


def _newest(one: TrendSeries) -> float | None:
    return next((point.value for point in reversed(one.points) if point.value is not None), None)


def _verdict(one: TrendSeries) -> str:
    if one.change_points:
        return listing([f"{at.effect} at {at.campaign_id}" for at in one.change_points], 3)
    return "none" if one.enough else "too few figures"


def left_out_table(found: TrendDocument) -> Table[LeftOutCampaign]:
    """Return the campaigns that take no part, and why."""
    columns = [
        Column[LeftOutCampaign]("Campaign", lambda one: f"{one.campaign_id}{f', {one.part}' if one.part else ''}"),
        Column[LeftOutCampaign]("Why", lambda one: one.why),
    ]
    return Table("Left out", found.left_out, columns)


def otava_csv(found: TrendDocument) -> bytes:
    """Return the series as CSV for apache-otava: `time`, `campaign`, a column for each series.

    otava reads no empty field. A gap is filled as it fills those of its other sources: by the last figure before it,
    else by the first one after it.
    """
    columns = {
        ".".join(filter(None, (*one.place, one.level or str(one.load_ops_s or ""), one.of, one.measure))): {
            point.campaign_id: point.value for point in one.points
        }
        for one in found.series
    }
    rows = pd.DataFrame({name: pd.Series(values, dtype=float) for name, values in columns.items()})
    rows = rows.reindex([one.campaign_id for one in found.campaigns]).ffill().bfill()
    rows.insert(0, "campaign", rows.index)
    rows.insert(0, "time", [f"{one.began_at:%Y-%m-%d %H:%M:%S %z}" for one in found.campaigns])
    return as_csv(rows)
