"""Archives of software for hosts, which are in the store under the digest of their content."""

import io
import tarfile
from collections.abc import Iterator
from hashlib import file_digest
from typing import cast

from plimsoll.domain.text.errors import DamagedRecord
from plimsoll.ports.artefacts import content_digest
from plimsoll.services.housekeeping.known import place_of
from plimsoll.services.store import layout


def is_archive(path: str) -> bool:
    """Tell whether a campaign's file is such an archive."""
    return place_of(path) is layout.BUNDLES


class _Stream(io.RawIOBase):
    """Blocks of a file, to be read as one."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # it is called with nothing else
        self._rest = self._rest or next(self._blocks, b"")
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def archive_digest(blocks: Iterator[bytes], where: str) -> str:
    """Return the digest of the content of an archive, of which one block is in memory at a time.

    Raises DamagedRecord where it is no whole archive.
    """
    checksums = {}
    try:
        with tarfile.open(fileobj=io.BufferedReader(_Stream(blocks)), mode="r|") as archive:
            for member in archive:
                if (content := archive.extractfile(member)) is not None:
                    checksums[member.name] = file_digest(cast(io.BufferedReader, content), "sha256").hexdigest()
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise DamagedRecord(f"is no whole archive: {error}", where=where, mend="delete it") from error
    return content_digest(checksums)
