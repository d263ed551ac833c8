"""What is kept of judging: earlier verdicts, the pass of the gate, and what was computed from all attempts."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.attempt.result import Check, Verdict
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import NotFound
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.layout import Record


def void_summaries(store: ResultStore, campaign_id: str) -> None:
    """Delete what was computed from all attempts together, before one of them changes."""
    for place in (layout.TOTALS, layout.FIGURES):
        store.delete(place.key(campaign_id))
    unmark_in_trends(store, campaign_id)


def unmark_in_trends(store: ResultStore, campaign_id: str) -> None:
    """Let trends read the campaign again. To be called before and after a change of what they read: its verdicts, its
    definition, the pass of its gate, its deletion.
    """
    # No id has a dot, so no other campaign's token begins like that
    own = layout.TREND_TOKEN.key("", campaign_id, "")
    for key in store.keys(layout.TREND_TOKEN.folder("")):
        if key.startswith(own):
            store.delete(key)


def require_raw_files(store: ReadableStore, key: AttemptKey) -> None:
    """Raise NotFound where the attempt's raw files were removed on purpose."""
    if removal := layout.RAW_REMOVED.read(store, key):
        mend = "its verdict, its tables and the report stay; to measure it anew, run the cell again"
        raise NotFound(f"its {removal}", where=str(key), mend=mend)


class GatePass(Model):
    """The record of a passed gate: the checks, the attempts that they covered, and a digest of their verdicts."""

    attempts: tuple[str, ...]
    verdicts_sha256: str = ""
    checks: tuple[Check, ...]
    incomplete: Annotated[
        LeftOutIfEmpty[tuple[str, ...]],
        Field(description="Cells without a valid attempt, and stages without loads, where it passed without them"),
    ] = ()


GATE_PASS = Record("quality/pass.json", GatePass)


def published_without(store: ReadableStore, campaign_id: str) -> tuple[str, ...]:
    """Return what the published report had to do without; empty where it is complete."""
    gate_pass = GATE_PASS.read(store, campaign_id)
    return gate_pass.incomplete if gate_pass else ()


def keep_verdict(store: ResultStore, key: AttemptKey, verdict: Verdict) -> None:
    """Keep a verdict that is about to be replaced as `verdicts/<number>.json`, unless it was kept last."""
    if not is_kept_last(store, key, verdict):
        number = layout.EARLIER_VERDICT.newest_number(store, key) + 1
        while not layout.EARLIER_VERDICT.create(store, key, verdict, number):
            number += 1


def keep_no_copy(store: ResultStore, key: AttemptKey, verdict: Verdict) -> None:
    """Remove the verdict that was kept last if the attempt still has the same verdict.

    That is so where judging again was killed before it replaced the verdict, and then found the same verdict again.
    """
    if is_kept_last(store, key, verdict):
        store.delete(layout.EARLIER_VERDICT.key(key, layout.EARLIER_VERDICT.newest_number(store, key)))


def is_kept_last(store: ReadableStore, key: AttemptKey, verdict: Verdict) -> bool:
    """Tell whether that verdict was kept last.

    While it is the attempt's own verdict too, judging again is not over: the new verdict is not stored yet.
    """
    kept = layout.EARLIER_VERDICT
    number = kept.newest_number(store, key)
    return number > 0 and store.read(kept.key(key, number)) == kept.content(verdict)
