"""The result store: a flat name space of files under one root."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, runtime_checkable

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class StoredFile:
    """Size and checksum of a stored file."""

    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class ListedFile:
    """A file as a listing shows it: its key, its size, and when its content was last stored."""

    key: str
    size_bytes: int
    changed_at: datetime


@dataclass(frozen=True)
class UnfinishedFile:
    """What is stored of an upload that has not ended, or never will.

    `name`: the temporary file, or the key of the file that it would be; `upload` tells uploads to one key apart.
    """

    name: str
    begun_at: datetime
    upload: str = ""


@dataclass(frozen=True)
class UploadTicket:
    """The right to store one file by one PUT request with these headers. Its `repr` shows no secret."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


class ReadableStore(Protocol):
    """Files by key (relative POSIX paths), to be read. Every method raises StoreError when they can't be reached."""

    def url(self, key: str = "") -> str:
        """Return the address of that key, for people."""

    def exists(self, key: str) -> bool:
        """Tell whether there is a file with that key."""

    def read(self, key: str) -> bytes:
        """Return the file's content. Raises NotFound where there is no such file."""

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield all keys below a prefix, sorted."""

    def folders(self, prefix: str) -> tuple[str, ...]:
        """Return names of the folders directly below a prefix, sorted."""


class ResultStore(ReadableStore, Protocol):
    """A store that is written to, too. Every method raises StoreError when the store can't be reached."""

    def stamped(self, prefix: str, name: str) -> Iterator[tuple[str, str]]:
        """Yield all keys as `keys` gives them, each with the stamp of a file called `name`, and of other files with
        none.

        The stamp of a file is another one once the file has other content, even if it was deleted and made anew.
        """

    def listed(self, prefix: str, *, deep: bool = True) -> Iterator[ListedFile]:
        """Yield all files below a prefix by their keys, without reading any; not `deep`: only those directly in it."""

    def unfinished(self) -> Iterator[UnfinishedFile]:
        """Yield what uploads left that have not ended; of a living upload, too."""

    def drop(self, file: UnfinishedFile) -> None:
        """Remove what is left of an upload. One that lives fails. What is gone already is no error."""

    def blocks(self, key: str) -> Iterator[bytes]:
        """Read the file in blocks of at most BLOCK_BYTES. The first step raises NotFound if there is no such file."""

    def write(self, key: str, data: bytes) -> None:
        """Store the content atomically, over an existing file."""

    def create(self, key: str, data: bytes) -> bool:
        """Store the content only if the key is free; False where it was taken. Of two callers at once, one succeeds."""

    def upload(self, key: str, path: Path) -> StoredFile:
        """Store a local file atomically, and return its size and checksum."""

    def delete(self, prefix: str) -> None:
        """Delete everything below a prefix. An empty prefix is no error."""

    def check(self) -> None:
        """Write and delete a file to prove that the store is writable. Raises StoreError if it is not."""


@runtime_checkable
class DirectStore(ResultStore, Protocol):
    """A store that hosts use directly, through URLs that allow access to one file for a limited time.

    Such URLs are secrets. They are passed to hosts by standard input, and never appear in a log, command line or file.
    """

    def download_url(self, key: str, lifetime: timedelta) -> str:
        """Return a URL that allows downloading the file for that long. It must not be logged."""

    def upload_ticket(self, key: str, file: StoredFile, lifetime: timedelta) -> UploadTicket:
        """Return a ticket that allows uploading exactly that file for that long, if the key is free (else HTTP 412)."""

    def stored(self, key: str) -> StoredFile:
        """Return the store's own data on a file uploaded with a ticket. Raises NotFound where there is none."""

    def create_from(self, key: str, path: Path) -> bool:
        """Store a local file only if the key is free, as `create` does with content."""
