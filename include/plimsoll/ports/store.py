"""The result store: a flat name space of files under one root."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class StoredFile:
    """Size and checksum of what was stored."""

    size_bytes: int
    sha256: str


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
