"""`plimsoll trend`: how the figures of a definition's campaigns move, and where they change; `plimsoll compare`: two
campaigns side by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plimsoll.cli.output import (
    JsonOption,
    open_store,
    print_json,
    print_table,
    print_text,
    print_view,
    user_name,
    writing,
)

if TYPE_CHECKING:
    from plimsoll.analysis.trend.series import Order
    from plimsoll.report.tables import PlainTable
    from plimsoll.report.trend.document import TrendDocument

_Names = Annotated[
    list[str], typer.Argument(metavar="NAME…", help="Names of definitions whose campaigns are comparable.")
]
_By = Annotated[
    Literal["date", "version", "label"],
    typer.Option("--by", help="Order of campaigns: their dates, the database's release, or `label` of the definition."),
]
_Csv = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all series as CSV for apache-otava.")]
_Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with a chart of each series.")]
_Badge = Annotated[Path | None, typer.Option("--badge", metavar="FILE", help="Write the newest changes as an SVG.")]
_Accept = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--accept",
        metavar="CHANGE WHY",
        help="Accept a change, so that it is no news: CHANGE is the first campaign after it, or CAMPAIGN/VARIANT where "
        "it has several. An empty WHY takes that back.",
    ),
]
_Baseline = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--baseline",
        metavar="CAMPAIGN WHY",
        help="Seek changes only among that campaign and later ones. An empty WHY takes that back.",
    ),
]
_Markdown = Annotated[bool, typer.Option("--markdown", help="One line of Markdown, for a pull request.")]


def trend(  # noqa: PLR0913  # each way to show it is an option
    names: _Names,
    *,
    by: _By = "date",
    accept: _Accept = None,
    baseline: _Baseline = None,
    as_json: JsonOption = False,
    markdown: _Markdown = False,
    csv: _Csv = None,
    html: _Html = None,
    badge: _Badge = None,
) -> None:
    """Show how results move from campaign to campaign of a definition, where they change, and what else changed there.

    Campaigns that are incomplete, or did not ask or measure the same as the last one, are left out and named. Exits
    with 0 whatever changed.
    """
    from plimsoll.report.trend.words import badge as badge_of
    from plimsoll.report.trend.words import markdown_line, otava_csv

    document = _trend(names, by, accept, baseline)
    for path, content_of in ((csv, otava_csv), (badge, badge_of)):
        if path:
            content = content_of(document)
            with writing(path):
                path.write_bytes(content)
    if html:
        from plimsoll.report.trend.page import trend_html

        page = trend_html(document)
        with writing(html):
            html.write_bytes(page)
    if as_json:
        print_json(document.model_dump(mode="json"))
    elif markdown:
        print_text(markdown_line(document))
    else:
        _show(document)


def _trend(
    names: list[str], by: Order, accept: tuple[str, str] | None, baseline: tuple[str, str] | None
) -> TrendDocument:
    """Return the trend as it is after these marks were set."""
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.analysis.trend.marks import Remark
    from plimsoll.services.publish.trend_marks import accept_change, mark_baseline
    from plimsoll.services.publish.trends import stored_trend

    store, now = open_store(), SystemClock().now()
    for marked, mark in ((accept, accept_change), (baseline, mark_baseline)):
        if marked:
            subject, why = marked
            mark(store, stored_trend(store, names, by, now), subject, Remark(why, user_name(), now))
    return stored_trend(store, names, by, now)


def _show(document: TrendDocument) -> None:
    from plimsoll.report.trend.words import changes_table, left_out_table, sentences, series_table, summary

    changed = [changes_table(series) for series in document.series if series.change_points]
    tables: list[PlainTable] = [*changed, series_table(document), left_out_table(document)]
    for table in filter(None, tables):
        print_table(table.label, [column.heading for column in table.columns], table.texts)
    print_text(f"{summary(document)}.")
    for sentence in sentences(document):
        print_text(f"- {sentence}")


def _pairs(values: list[str]) -> list[str]:
    for value in values:
        a, equals, b = value.partition("=")
        if not (a and equals and b):
            raise typer.BadParameter(f"{value!r} is not ID_IN_A=ID_IN_B")
    return values


_A = Annotated[str, typer.Argument(metavar="A", help="Id of the campaign to compare with, as with a control.")]
_B = Annotated[str, typer.Argument(metavar="B", help="Id of the campaign to compare.")]
_Pair = Annotated[
    list[str],
    typer.Option(
        callback=_pairs,
        metavar="ID_IN_A=ID_IN_B",
        help="Compare these two variants, whose ids differ; can be repeated. Variants with the same id need no pair.",
    ),
]
_Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Compare campaigns in spite of differences that make them incomparable. The differences are named.",
    ),
]


def compare(
    a: _A,
    b: _B,
    *,
    pair: _Pair = [],  # noqa: B006  # typer copies it
    force: _Force = False,
    as_json: JsonOption = False,
) -> None:
    """Put two campaigns side by side: environments, capacities and maxima, and which of the differences stand.

    If they are not comparable, such as by another service level, timing or workload, the command names the differences
    and exits with 2.
    """
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.report.compare.campaigns import pairing_of
    from plimsoll.services.publish.results import compare_stored

    comparison = compare_stored(open_store(), a, b, pairing=pairing_of(pair), force=force, now=SystemClock().now())
    if as_json:
        print_json(comparison.model_dump(mode="json"))
        return
    from plimsoll.report.compare.view import comparison_view

    print_view(comparison_view(comparison))
