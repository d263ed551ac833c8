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
from plimsoll.report.trend.document import TrendDocument
from plimsoll.report.trend.page import trend_html
from plimsoll.services.publish.trend_marks import MARK
from plimsoll.services.publish.trends import stored_trend
from plimsoll_airflow.web.library import LISTED_S, Library

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


def made_trend(library: Library, names: Sequence[str], by: Order, campaigns: object) -> TrendDocument:
    """Return the trend of these definitions. `campaigns`: what their campaigns' lines say, to see whether it is old.

    Raises HTTPException (503) where too many others are being computed.
    """
    with _current(library, names, by, campaigns) as (_, document):
        return document


def made_page(library: Library, names: Sequence[str], by: Order, campaigns: object) -> bytes:
    """Return its page, of which charts of hundreds of series take seconds. Raises as `made_trend` does."""
    with _current(library, names, by, campaigns) as (entry, document):
        if not entry.page:
            with _working():
                entry.page = trend_html(document)
        return entry.page


@contextmanager
def _current(
    library: Library, names: Sequence[str], by: Order, campaigns: object
) -> Iterator[tuple[_Entry, TrendDocument]]:
    key = (library.store.url(), tuple(names), by)
    with _changing:
        entry = _entries.setdefault(key, _Entry())
        for oldest in [*_entries][: max(0, len(_entries) - _MOST_KEPT)]:
            del _entries[oldest]
    if not entry.lock.acquire(timeout=LONGEST_WAIT_S):
        raise _busy()
    try:
        # Nothing in the list of campaigns tells that one was judged again: no trend is kept longer than its lines are.
        state = campaigns, [sum(1 for _ in library.store.keys(MARK.folder("", name))) for name in names]
        if entry.document is None or entry.state != state or library.monotonic() - entry.made_at_s >= LISTED_S:
            with _working():
                entry.document, entry.page = stored_trend(library.store, names, by, library.clock.now()), b""
            entry.state, entry.made_at_s = state, library.monotonic()
        yield entry, entry.document
    finally:
        entry.lock.release()


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
