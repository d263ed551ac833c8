"""Places in the store, and the records there, which are models as JSON."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from pydantic import ValidationError

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.keys.faults import fault_words
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import DamagedRecord, NotFound
from plimsoll.ports.store import ReadableStore, ResultStore

_M = TypeVar("_M", bound=Model)
Subject = str | AttemptKey | ClusterId
"""What a file is about: a campaign, by its id; an attempt; a cluster. An empty text: the store as a whole."""
_GAP = re.compile(r"<\w+>")
_MEND = (
    "use the newer Plimsoll that wrote it, if one did; else put the file back from a copy of the store. Where there is "
    "no copy, see with `plimsoll clusters list` that nothing of the campaign lives. Then delete the file, or the "
    "folder of the attempt that it belongs to, and run that cell again"
)


def folder_of(subject: Subject) -> str:
    """Return the folder of a subject. An attempt's own cluster is in its attempt's; kept hosts have folders beside."""
    attempt = subject.attempt if isinstance(subject, ClusterId) else subject
    if isinstance(attempt, AttemptKey):
        return f"{attempt.campaign_id}/cells/{attempt.cell_id}/{attempt.attempt}"
    return f"{subject.campaign_id}/clusters/{subject.name}" if isinstance(subject, ClusterId) else str(subject)


@dataclass(frozen=True)
class Place:
    """A file, or several: `path` is below the folder of their subject, and `<…>` stands for the names of each."""

    path: str

    def key(self, of: Subject, *names: object) -> str:
        """Return the key of the file with these names, one for each `<…>`."""
        remaining = iter(names)
        return "/".join(filter(None, (folder_of(of), _GAP.sub(lambda _: str(next(remaining)), self.path))))

    def folder(self, of: Subject, *names: object) -> str:
        """Return the folder of all files with these first names."""
        # No path has this character, so the text can be split where names belong
        left = _GAP.sub("\0", self.path).split("\0")[: len(names) + 1]
        path = "".join(f"{text}{name}" for text, name in zip(left, (*names, ""), strict=True))
        return "/".join(filter(None, (folder_of(of), path.rstrip("/"))))

    def exists(self, store: ReadableStore, of: Subject, *names: object) -> bool:
        return store.exists(self.key(of, *names))

    def numbered(self, store: ReadableStore, of: Subject, *names: object) -> list[tuple[int, str]]:
        """Return the number and the key of each file whose name is a number, in the order of the numbers."""
        stems = ((PurePosixPath(key).stem, key) for key in store.keys(self.folder(of, *names)))
        # A copy that a person left there, such as `1.json.bak`, has no number
        return sorted((int(stem), key) for stem, key in stems if stem.isdecimal())

    def newest_number(self, store: ReadableStore, of: Subject) -> int:
        """Return the greatest number that the name of a file is; 0 where there is none."""
        return max((number for number, _ in self.numbered(store, of)), default=0)


@dataclass(frozen=True)
class Record(Place, Generic[_M]):
    """A place whose files hold a model each. `indent`: by how much JSON is indented; None: it is one line."""

    model: type[_M]
    indent: int | None = 1

    def content(self, record: _M) -> bytes:
        return record.model_dump_json(indent=self.indent).encode()

    def parse(self, store: ReadableStore, key: str, text: bytes) -> _M:
        """Return the record with that key and text. Raises DamagedRecord where it can't be understood."""
        try:
            return self.model.model_validate_json(text)
        except ValidationError as error:
            fault = error.errors()[0]
            field = ".".join(map(str, fault["loc"]))
            what = f"is damaged: {field}: {fault_words(fault)}" if field else f"is damaged: {fault_words(fault)}"
            raise DamagedRecord(what, where=store.url(key), mend=_MEND) from error

    def at(self, store: ReadableStore, key: str) -> _M:
        """Return the record with that key. Raises NotFound where there is none, and DamagedRecord."""
        return self.parse(store, key, store.read(key))

    def read(self, store: ReadableStore, of: Subject, *names: object) -> _M | None:
        """Return the record; None where there is none. Raises DamagedRecord where it can't be understood."""
        try:
            return self.at(store, self.key(of, *names))
        except NotFound:
            return None

    def read_sound(self, store: ReadableStore, of: Subject, *names: object) -> _M | None:
        """Return the record; None where there is none that can be understood. For what can do without it."""
        try:
            return self.read(store, of, *names)
        except DamagedRecord:
            return None

    def read_all(self, store: ReadableStore, of: Subject) -> Iterator[_M]:
        """Yield all records of the subject, by their keys."""
        return (self.at(store, key) for key in store.keys(self.folder(of)))

    def write(self, store: ResultStore, of: Subject, record: _M, *names: object) -> None:
        """Store the record in place of an earlier one."""
        store.write(self.key(of, *names), self.content(record))

    def create(self, store: ResultStore, of: Subject, record: _M, *names: object) -> bool:
        """Store the record unless there is one; False where there was. Of two callers at once, one succeeds."""
        return store.create(self.key(of, *names), self.content(record))

    def settle(self, store: ResultStore, of: Subject, record: _M, *names: object) -> _M:
        """Store the record, or return the one that somebody stored first."""
        created = self.create(store, of, record, *names)
        return record if created else self.read(store, of, *names) or record
