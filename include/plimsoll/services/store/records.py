"""Read records in the store, which are models as JSON, and explain why one can't be read.

The record of the last pass of a campaign's gate.

Earlier verdicts of an attempt that was judged again: `verdicts/1.json` and on, the oldest first.
"""

from pathlib import PurePosixPath
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from plimsoll.domain.attempt.result import Check, Verdict
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.keys.faults import fault_words
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import DamagedRecord, NotFound
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.layout import pass_key

_M = TypeVar("_M", bound=Model)
_MEND = (
    "use the newer Plimsoll that wrote it, if one did; else put the file back from a copy of the store. Where there is "
    "no copy, see with `plimsoll clusters list` that nothing of the campaign lives. Then delete the file, or the "
    "folder of the attempt that it belongs to, and run that cell again"
)


def read_record(store: ReadableStore, key: str, kind: type[_M]) -> _M:
    """Return the record with that key. Raises NotFound where there is none, and DamagedRecord where it is damaged."""
    return parse_record(store, key, store.read(key), kind)


def find_record(store: ReadableStore, key: str, kind: type[_M]) -> _M | None:
    """Return the record with that key; None where there is none. Raises DamagedRecord where it can't be understood."""
    try:
        return read_record(store, key, kind)
    except NotFound:
        return None


def find_sound_record(store: ReadableStore, key: str, kind: type[_M]) -> _M | None:
    """Return the record with that key; None where there is none that can be understood. For what can do without it."""
    try:
        return read_record(store, key, kind)
    except (NotFound, DamagedRecord):
        return None


def parse_record(store: ReadableStore, key: str, text: bytes, kind: type[_M]) -> _M:
    """Return the record whose text was read from that key. Raises DamagedRecord where it can't be understood."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        what = f"is damaged: {place}: {fault_words(fault)}" if place else f"is damaged: {fault_words(fault)}"
        raise DamagedRecord(what, where=store.url(key), mend=_MEND) from error


class GatePass(Model):
    """The record of a passed gate: the checks, the attempts that they covered, and a digest of their verdicts."""

    attempts: tuple[str, ...]
    verdicts_sha256: str = ""
    checks: tuple[Check, ...]
    incomplete: Annotated[
        LeftOutIfEmpty[tuple[str, ...]],
        Field(description="Cells without a valid attempt, and stages without loads, where it passed without them"),
    ] = ()


def read_gate_pass(store: ReadableStore, campaign_id: str) -> GatePass | None:
    """Return the last pass; None where there was none."""
    return find_record(store, pass_key(campaign_id), GatePass)


def published_without(store: ReadableStore, campaign_id: str) -> tuple[str, ...]:
    """Return what the published report had to do without; empty where it is complete."""
    found = read_gate_pass(store, campaign_id)
    return found.incomplete if found else ()


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
