"""Mark campaigns as baselines, and changes as accepted or told, in a log of each definition. And what others are told
once a report is published: the changes of the trend that are news, and the answer in short.

An entry is a file whose number is the next one, created exclusively. So whoever adds one has seen all earlier ones: of
two who add at once, the second looks again first.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import merge
from typing import Any

from plimsoll.analysis.trend.marks import Marks, Remark, TrendMark
from plimsoll.analysis.trend.series import PlacedChange
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.report.trend.document import TrendDocument
from plimsoll.services.campaign.curating import sound_text
from plimsoll.services.publish.results import published_documents
from plimsoll.services.store.campaigns import StoredCampaign
from plimsoll.services.store.layout import Record, report_key

MARK = Record(".definitions/<definition>/marks/<number>.json", TrendMark)
MOST = 20
"""Capacities, and changes, in an event or a notice: neither is a report."""
_LONGEST = 500


def stored_marks(store: ReadableStore, definitions: Sequence[str]) -> Marks:
    """Return the marks of these definitions by their time, those of each in the order in which they were added.

    Raises DamagedRecord for one that can't be understood.
    """
    logs = ((mark for _, mark in _log(store, name)) for name in definitions)
    return Marks(tuple(merge(*logs, key=lambda mark: mark.at)))


def add_mark(
    store: ResultStore, definition: str, mark: TrendMark, unless: Callable[[Marks], bool] = lambda _: False
) -> bool:
    """Add an entry to the definition's log unless that is so of all entries before it; tell whether it was added."""
    while True:
        log = [*_log(store, definition)]
        if unless(Marks(tuple(earlier for _, earlier in log))):
            return False
        number = max((number for number, _ in log), default=0) + 1
        if MARK.create(store, "", mark, definition, number):
            return True


def mark_baseline(store: ResultStore, found: TrendDocument, campaign_id: str, why: Remark) -> None:
    """Let the series start anew with that campaign of the trend; an empty reason takes the mark back.

    A mark can be taken back of a campaign that is no longer in the trend, since it may have been deleted.

    Raises Refused for any other campaign that is not in the trend, and for a reason that is no sound note.
    """
    campaign = next((candidate for candidate in found.campaigns if candidate.campaign_id == campaign_id), None)
    if campaign:
        definitions, began_at = [campaign.definition], campaign.began_at
    else:
        marks = {name: stored_marks(store, [name]).baselines() for name in found.definitions}
        definitions = [name for name, own in marks.items() if any(mark.campaign_id == campaign_id for mark in own)]
        began_at = None
    if not definitions or (began_at is None and why.text):
        mend = "name one of its campaigns: `--json` lists them, and why others are left out"
        raise Refused([Problem(f"campaign {campaign_id!r}", "is not in the trend", mend)])
    for name in definitions:
        add_mark(store, name, TrendMark.of_campaign(campaign_id, began_at, _sound(why)))


def accept_change(store: ResultStore, found: TrendDocument, change: str, why: Remark) -> None:
    """Accept the change of the trend with that name, or the only one at a campaign, or of `campaign/variant`.

    An empty reason takes that back. Raises Refused where the trend has no such change or several, with the names of
    those that it has, and for a reason that is no sound note.
    """
    campaigns = {campaign.campaign_id: campaign for campaign in found.campaigns}
    named = [(name_of_change(found, placed), placed) for placed in found.changes]
    # A name is compared by its whole parts: `nightly-2` is no beginning of `nightly-21`
    meant = [pair for pair in named if pair[0] == change] or [
        pair for pair in named if f"{pair[0]}/".startswith(f"{change}/")
    ]
    names = dict.fromkeys(name for name, _ in meant or named)
    listed = ", ".join(names)
    if not meant:
        what, mend = "is not in the trend", f"the trend has: {listed or 'none'}"
        raise Refused([Problem(f"change {change!r}", what, mend)])
    if len(names) > 1:
        raise Refused([Problem(f"change {change!r}", f"may be any of {len(names)}", f"name one of: {listed}")])
    for _, placed in meant:
        first = campaigns[placed.campaign_id]
        add_mark(store, first.definition, TrendMark.of_change(placed, first.began_at, "accepted", _sound(why)))


def name_of_change(found: TrendDocument, change: PlacedChange) -> str:
    """Return the name by which people accept a change: `campaign/variant`, and where it shares these with other
    changes, its stage, workload and effect as far as they differ: `nightly-21/g1/reads`.
    """
    own = change.campaign_id, change.variant
    alike = [other for other in found.changes if (other.campaign_id, other.variant) == own]
    differing = [key for key in ("stage", "workload", "effect") if len({getattr(other, key) for other in alike}) > 1]
    return "/".join(filter(None, (*own, *(getattr(change, key) for key in differing))))


def _sound(remark: Remark) -> Remark:
    """Return the remark as it is kept. Raises Refused for one of blanks alone: only an empty one takes a mark back."""
    if remark.text and not remark.text.strip():
        raise Refused([Problem("reason", "holds blanks alone", "say why; an empty text takes the mark back")])
    return replace(remark, text=sound_text(remark.text))


def _log(store: ReadableStore, definition: str) -> Iterator[tuple[int, TrendMark]]:
    return ((number, MARK.at(store, key)) for number, key in MARK.numbered(store, "", definition))


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
