"""Read records in the store, which are models as JSON, and explain why one can't be read."""

from typing import TypeVar

from pydantic import ValidationError

from plimsoll.domain.base import Model
from plimsoll.domain.errors import DamagedRecord, NotFound
from plimsoll.domain.faults import fault_words
from plimsoll.ports.store import ReadableStore

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
