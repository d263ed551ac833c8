"""Mark campaigns as baselines and changes as accepted, in a log of each definition.

An entry is a file whose number is the next one, created exclusively. So whoever adds one has seen all earlier ones: of
two who add at once, the second looks again first.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from plimsoll.analysis.trend.marks import Marks, Remark, TrendMark
from plimsoll.analysis.trend.series import PlacedChange
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.report.trend.document import TrendDocument
from plimsoll.services.campaign.curating import sound_text
from plimsoll.services.store.records import Record

MARK = Record(".definitions/<definition>/marks/<number>.json", TrendMark)


def stored_marks(store: ReadableStore, definitions: Sequence[str]) -> Marks:
    """Return the marks of these definitions. Raises DamagedRecord for one that can't be understood."""
    return Marks(tuple(mark for name in definitions for _, mark in _log(store, name)))


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

    Raises Refused for a campaign that is not in the trend, and for a reason that is no sound note.
    """
    definitions = {one.campaign_id: one.definition for one in found.campaigns}
    if campaign_id not in definitions:
        mend = "name one of its campaigns: `--json` lists them, and why others are left out"
        raise Refused([Problem(f"campaign {campaign_id!r}", "is not in the trend", mend)])
    add_mark(store, definitions[campaign_id], TrendMark.of_campaign(campaign_id, _sound(why)))


def accept_change(store: ResultStore, found: TrendDocument, change: str, why: Remark) -> None:
    """Accept the changes of the trend at a campaign, or `campaign/variant`; an empty reason takes that back.

    Raises Refused where the trend has no such change, with those that it has, and for a reason that is no sound note.
    """
    definitions = {one.campaign_id: one.definition for one in found.campaigns}
    meant = [one for one in found.changes if change in (one.campaign_id, _name(one))]
    if not meant:
        listed = ", ".join(dict.fromkeys(map(_name, found.changes))) or "none"
        raise Refused([Problem(f"change {change!r}", "is not in the trend", f"the trend has: {listed}")])
    for one in meant:
        add_mark(store, definitions[one.campaign_id], TrendMark.of_change(one, "accepted", _sound(why)))


def _name(change: PlacedChange) -> str:
    return f"{change.campaign_id}/{change.variant}"


def _sound(remark: Remark) -> Remark:
    return replace(remark, text=sound_text(remark.text))


def _log(store: ReadableStore, definition: str) -> Iterator[tuple[int, TrendMark]]:
    """Yield the definition's marks by their numbers."""
    stems = ((PurePosixPath(key).stem, key) for key in store.keys(MARK.folder("", definition)))
    keys = sorted((int(stem), key) for stem, key in stems if stem.isdecimal())
    return ((number, MARK.at(store, key)) for number, key in keys)
