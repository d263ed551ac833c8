"""The result store: a flat name space of files under one root."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class StoredFile:
    """Size and checksum of what was stored."""

    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class UploadTicket:
    """The right to store one file, for whoever has it, by one PUT with these headers. Shows in no `repr`."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


class ResultStore(Protocol):
    """Files by key (relative POSIX paths). Every method raises StoreError when the store can't be reached."""

    def url(self, key: str = "") -> str:
        """Where a person finds that key."""

    def exists(self, key: str) -> bool:
        """Whether a file of that key is there."""

    def read(self, key: str) -> bytes:
        """The file's content; NotFound where there is none."""

    def write(self, key: str, data: bytes) -> None:
        """Store the content whole or not at all, over what was there."""

    def create(self, key: str, data: bytes) -> bool:
        """Store the content only if the key is free; False where it was taken. Of two at once, one succeeds."""

    def upload(self, key: str, path: Path) -> StoredFile:
        """Store a local file, whole or not at all; says what was stored."""

    def keys(self, prefix: str) -> Iterator[str]:
        """All keys below a prefix, sorted."""

    def folders(self, prefix: str) -> tuple[str, ...]:
        """Names of the folders directly below a prefix, sorted."""

    def delete(self, prefix: str) -> None:
        """Remove everything below a prefix; nothing there is no error."""

    def check(self) -> None:
        """Prove by writing and removing a file that the store can be written; StoreError otherwise."""


@runtime_checkable
class DirectStore(ResultStore, Protocol):
    """A store that hosts reach themselves, by URLs that give whoever has them the right to one file for a while.

    Such URLs are secrets: they go to hosts by standard input, and into no log, command line or file.
    """

    def download_url(self, key: str, lifetime: timedelta) -> str:
        """Gives the file to whoever has it, for that long."""

    def upload_ticket(self, key: str, file: StoredFile, lifetime: timedelta) -> UploadTicket:
        """Takes that very file from whoever has it, if the key is free (else 412), for that long."""

    def stored(self, key: str) -> StoredFile:
        """What the store itself says of a file that came by ticket; NotFound where there is none."""

    def create_from(self, key: str, path: Path) -> bool:
        """Like `create`, of a local file."""
