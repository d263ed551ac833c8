"""Earlier verdicts of an attempt that was judged again: `verdicts/1.json` and on, the oldest first."""

from pathlib import PurePosixPath

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.result import Verdict
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout


def keep_verdict(store: ResultStore, key: AttemptKey, verdict: Verdict) -> None:
    """Keep a verdict that is about to be replaced, unless it was kept last."""
    number, newest = _kept_last(store, key)
    if newest == _content(verdict):
        return
    number += 1
    while not store.create(_place(key, number), _content(verdict)):
        number += 1


def keep_no_copy(store: ResultStore, key: AttemptKey, verdict: Verdict) -> None:
    """Remove the verdict that was kept last if the attempt still has the same verdict.

    Judging again was killed before it replaced the verdict, and then found the same verdict again.
    """
    number, newest = _kept_last(store, key)
    if newest == _content(verdict):
        store.delete(_place(key, number))


def is_kept_last(store: ReadableStore, key: AttemptKey, verdict: Verdict) -> bool:
    """Tell whether that verdict was kept last.

    While it is the attempt's own verdict too, judging again is not over: the new verdict is not stored yet.
    """
    _, newest = _kept_last(store, key)
    return newest == _content(verdict)


def _kept_last(store: ReadableStore, key: AttemptKey) -> tuple[int, bytes | None]:
    """Return the number and the text of the verdict that was kept last; 0 and None where none was kept."""
    stems = (PurePosixPath(name).stem for name in store.keys(layout.attempt_file(key, layout.EARLIER_VERDICTS)))
    number = max((int(stem) for stem in stems if stem.isdecimal()), default=0)
    return number, store.read(_place(key, number)) if number else None


def _place(key: AttemptKey, number: int) -> str:
    return layout.attempt_file(key, f"{layout.EARLIER_VERDICTS}/{number}.json")


def _content(verdict: Verdict) -> bytes:
    return verdict.model_dump_json(indent=1).encode()
