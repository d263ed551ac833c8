"""Trends, each computed once for all who ask while its campaigns and marks stay the same.

A trend may take a processor for seconds, and the server's threads are Airflow's too. So few are computed at once, and
who would wait for long is told to come again.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Lock, Semaphore
from typing import Any

from fastapi import HTTPException

from plimsoll.analysis.trend.series import Order
from plimsoll.domain.attempt.status import CampaignSummary
from plimsoll.domain.text.errors import NotFound
from plimsoll.domain.text.wording import meant
from plimsoll.report.trend.document import TrendDocument
from plimsoll.report.trend.page import trend_html
from plimsoll.services.publish.trend_marks import MARK
from plimsoll.services.publish.trends import stored_trend
from plimsoll_airflow.web.library import LISTED_S, library

AT_ONCE = 2
LONGEST_WAIT_S = 20.0
"""The longest time for which a request waits for one that computes the same trend, s."""
_MOST_KEPT = 16
_at_work, _changing = Semaphore(AT_ONCE), Lock()


@dataclass
class _Entry:
    """A trend as it was computed last, of which state of its campaigns and marks, and when."""

    lock: Any = field(default_factory=Lock)
    state: object = None
    made_at_s: float = 0.0
    document: TrendDocument | None = None
    page: bytes = b""


_entries: dict[tuple[str, tuple[str, ...], Order], _Entry] = {}


def made_trend(names: Sequence[str], by: Order, readable: Sequence[CampaignSummary]) -> TrendDocument:
    """Return the trend of definitions, of which the user may see these campaigns. Raises NotFound for others.

    Raises HTTPException (503) where too many others are being computed.
    """
    with _current(names, by, readable) as (_, document):
        return document


def made_page(names: Sequence[str], by: Order, readable: Sequence[CampaignSummary]) -> bytes:
    """Return its page, of which charts of hundreds of series take seconds. Raises as `made_trend` does."""
    with _current(names, by, readable) as (entry, document):
        if not entry.page:
            with _working():
                entry.page = trend_html(document)
        return entry.page


@contextmanager
def _current(
    names: Sequence[str], by: Order, readable: Sequence[CampaignSummary]
) -> Iterator[tuple[_Entry, TrendDocument]]:
    known, lines = library(), _lines(names, readable)
    key = (known.store.url(), tuple(names), by)
    with _changing:
        entry = _entries.setdefault(key, _Entry())
        for oldest in [*_entries][: max(0, len(_entries) - _MOST_KEPT)]:
            del _entries[oldest]
    if not entry.lock.acquire(timeout=LONGEST_WAIT_S):
        raise _busy()
    try:
        # Nothing in the list of campaigns tells that one was judged again: no trend is kept longer than its lines are.
        state = lines, [sum(1 for _ in known.store.keys(MARK.folder("", name))) for name in names]
        if entry.document is None or entry.state != state or known.monotonic() - entry.made_at_s >= LISTED_S:
            with _working():
                entry.document, entry.page = stored_trend(known.store, names, by, known.clock.now()), b""
            entry.state, entry.made_at_s = state, known.monotonic()
        yield entry, entry.document
    finally:
        entry.lock.release()


def _lines(names: Sequence[str], readable: Sequence[CampaignSummary]) -> object:
    """Return what the list says of the definitions' campaigns. Raises NotFound where the user may see none of one."""
    if unknown := next((name for name in names if name not in {campaign.definition for campaign in readable}), None):
        mend = f"{meant(unknown, (campaign.definition for campaign in readable))} the list shows all campaigns".strip()
        raise NotFound(f"there is no campaign of a definition {unknown!r}", where="name", mend=mend)
    return [(own.campaign_id, own.valid, own.published) for own in readable if own.definition in names]


@contextmanager
def _working() -> Iterator[None]:
    if not _at_work.acquire(blocking=False):
        raise _busy()
    try:
        yield
    finally:
        _at_work.release()


def _busy() -> HTTPException:
    what = f"{AT_ONCE} trends are being computed already; ask again in a minute"
    return HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, what, headers={"Retry-After": "20"})
