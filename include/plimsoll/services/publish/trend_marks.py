"""Mark campaigns as baselines and changes as accepted, in a log of each definition.

An entry is a file whose number is the next one, created exclusively. So whoever adds one has seen all earlier ones: of
two who add at once, the second looks again first.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from heapq import merge

from plimsoll.analysis.trend.marks import Marks, Remark, TrendMark
from plimsoll.analysis.trend.series import PlacedChange
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.report.trend.document import TrendDocument
from plimsoll.services.campaign.curating import sound_text
from plimsoll.services.store.records import Record

MARK = Record(".definitions/<definition>/marks/<number>.json", TrendMark)


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
