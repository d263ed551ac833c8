"""What others are told once a report is published: the changes of the trend that are news, and the answer in short."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

from plimsoll.analysis.trend.marks import Marks, Remark, TrendMark
from plimsoll.analysis.trend.series import PlacedChange
from plimsoll.ports.store import ResultStore
from plimsoll.report.trend.document import TrendDocument
from plimsoll.services.publish.results import published_documents
from plimsoll.services.publish.trend_marks import add_mark, stored_marks
from plimsoll.services.store.campaigns import StoredCampaign
from plimsoll.services.store.layout import report_key

MOST = 20
"""Capacities, and changes, in an event or a notice: neither is a report."""
_LONGEST = 500


def claim_news(
    store: ResultStore, found: TrendDocument, effects: Collection[str], campaign_id: str, at: datetime
) -> tuple[PlacedChange, ...]:
    """Return the changes with these effects that are neither accepted nor told, and record that they are told now.

    `found`: the trend of the definition of that campaign, whose report was published. The record comes before any
    notice: of two tasks at once, one gets a change, and who is killed in between tells nobody. So a change may be told
    never, which the trend shows all the same, but not twice.
    """
    remark = Remark(f"with the report of {campaign_id}", "Plimsoll", at)
    began = {campaign.campaign_id: campaign.began_at for campaign in found.campaigns}
    (definition,) = found.definitions

    def is_news(change: PlacedChange, log: Marks) -> bool:
        marks = log.among(began)
        return not (marks.on(change, found.series, "told") or marks.accepted(change, found.series))

    def claim(change: PlacedChange) -> bool:
        mark = TrendMark.of_change(change, began[change.campaign_id], "told", remark)
        return add_mark(store, definition, mark, unless=lambda log: not is_news(change, log))

    # The log is read once for all that it knows already, and again for each of the few others.
    asked = [change for change in found.changes if change.effect in effects]
    known = stored_marks(store, [definition]) if asked else Marks()
    return tuple(change for change in asked if is_news(change, known) and claim(change))


def news(
    store: ResultStore, found: TrendDocument, changes: Collection[PlacedChange], page: Callable[[str], str]
) -> tuple[str, str]:
    """Return title and text of a notice of these changes, of which it names MOST, regressions first.

    `page`: campaign's id → address.
    """
    from plimsoll.report.trend.words import sentence

    listed = sorted(changes, key=lambda change: change.effect != "regression")
    effects, named = " and ".join(dict.fromkeys(change.effect for change in listed)), " ".join(found.definitions)
    lines = [
        f"{change.effect}: {sentence(found, change)}\n  {page(change.campaign_id)}\n  "
        f"{store.url(report_key(change.campaign_id))}"
        for change in listed
    ]
    more = [f"and {len(lines) - MOST} more: plimsoll trend {named}"] if len(lines) > MOST else []
    return f"Plimsoll: {effects} in {named}", "\n".join([*lines[:MOST], *more])


def answer_in_short(campaign: StoredCampaign) -> dict[str, Any]:
    """Return what the published report says, for programs: bounded, and plain JSON.

    `headline`; `cells` by state; `capacity` of each variant, `low_ops_s` to `high_ops_s` being the interval of the load
    that is met with a chance; `changes` as `changes_in_short` gives them: null while no trend is computed.
    """
    whole, *parts = (document for _, document in published_documents(campaign))
    capacities = [_capacity(capacity) for document in (parts or [whole]) for capacity in document.get("capacity", ())]
    return {
        "headline": whole["conclusion"][:_LONGEST],
        "incomplete": bool(whole.get("incomplete")),
        "cells": dict(Counter(cell["state"] for cell in whole.get("cells", ()))),
        "capacity": capacities[:MOST],
        "changes": None,
    }


def changes_in_short(found: TrendDocument) -> list[dict[str, Any]]:
    """Return a change of each variant in the trend that nobody accepted: bounded, regressions last, and plain JSON."""
    return sorted(_newest_changes(found), key=lambda change: change["effect"] == "regression")[-MOST:]


def _capacity(capacity: Mapping[str, Any]) -> dict[str, Any]:
    known = capacity.get("threshold") or {}
    ends = {end: known.get(end) for end in ("low_ops_s", "high_ops_s")}
    return {**_place(capacity), **{key: capacity[key] for key in ("variant", "kind", "capacity_ops_s")}, **ends}


def _newest_changes(trend: TrendDocument) -> Iterator[dict[str, Any]]:
    from plimsoll.report.trend.words import newest_changes, surest

    for change in newest_changes(trend):
        number, at = surest(trend, change)
        series = trend.series[number]
        yield {
            **_place(change.model_dump()),
            **change.model_dump(include={"variant", "effect", "campaign_id", "previous_campaign_id"}),
            **series.model_dump(include={"measure", "load_ops_s"}),
            **at.model_dump(include={"before", "after", "ratio", "p_value", "gradual"}),
        }


def _place(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("stage", "workload") if row.get(key)}
