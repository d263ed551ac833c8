"""What a check of the store finds, and the files of a campaign as it reads them, archives of software among them."""

import tarfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from io import BufferedReader
from types import SimpleNamespace
from typing import Literal, cast

from plimsoll.domain.text.errors import DamagedRecord, NotFound, StoreError
from plimsoll.ports.artefacts import content_digest
from plimsoll.ports.store import BLOCK_BYTES, ListedFile, ResultStore, UnfinishedFile
from plimsoll.services.store import layout

FaultKind = Literal["differs", "missing", "unreadable", "unreferenced", "unfinished"]
Remedy = Literal["restore", "remake", "rejudge", "publish", "totals", "drop", "nothing"]
"""How a fault is mended: from the bundle; made again from it; judged again; published; counted; removed; by people."""
_AT_ONCE = 4
"""Files that are read at the same time: a bucket answers each late, and memory holds a block of each."""
OnBytes = Callable[[int], None]
OnCampaign = Callable[[str], None]


@dataclass(frozen=True)
class Fault:
    """One file that is not as it should be. `campaign_id` is empty where it belongs to none.

    `expected` and `actual`: sha256 as recorded and of the bytes that are there; empty where there is none.
    """

    kind: FaultKind
    campaign_id: str
    path: str
    what: str
    mend: str
    expected: str = ""
    actual: str = ""
    remedy: Remedy = "nothing"
    unfinished: UnfinishedFile | None = None

    def after(self, other: "Fault | None") -> "Fault":
        """Return the fault with the words of another one of the same file, too."""
        return replace(self, what=f"{other.what}; {self.what}") if other else self


@dataclass(frozen=True)
class Checked:
    """The result for one campaign, or for what belongs to none.

    `in_progress`: files that no record names yet, and that somebody may still be writing.
    """

    campaign_id: str
    faults: tuple[Fault, ...] = ()
    in_progress: tuple[str, ...] = ()
    files: int = 0


@dataclass(frozen=True)
class CampaignFiles:
    """A campaign's files by their path in it, as one listing showed them. `on_bytes` is told how much was read."""

    store: ResultStore
    campaign_id: str
    listed: Mapping[str, ListedFile]
    on_bytes: OnBytes

    def key(self, path: str) -> str:
        return f"{self.campaign_id}/{path}"

    def compared(self, expected: Mapping[str, str]) -> Iterator[tuple[str, str | StoreError]]:
        """Yield each path with the sha256 of its bytes, empty where the file is missing, or why it can't be read.

        Raises StoreError where the store itself can't be reached any more.
        """
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            yield from pool.map(lambda path: (path, self._digest(path)), expected)

    def faults(
        self, expected: Mapping[str, str], recorded_in: str, mend: str, remedy: Remedy = "nothing"
    ) -> Iterator[Fault]:
        """Yield a fault for each file whose sha256 is not the expected one, as `recorded_in` has it."""
        for path, actual in self.compared(expected):
            if actual != expected[path]:
                yield self.fault(path, actual, expected[path], recorded_in, mend, remedy)

    def fault(  # noqa: PLR0913, PLR0917  # what is known of one file
        self, path: str, found: str | StoreError, expected: str, recorded_in: str, mend: str, remedy: Remedy
    ) -> Fault:
        """Return the fault of a file that has another sha256 than the expected one.

        `found`: its sha256, empty where the file is missing, or why it can't be read.
        """
        kind: FaultKind = "differs" if found else "missing"
        what = f"its bytes are not those that {recorded_in} records" if found else f"{recorded_in} records it"
        if isinstance(found, StoreError):
            kind, what, found = "unreadable", found.what, ""
        return Fault(kind, self.campaign_id, path, what, mend, expected, found, remedy)

    def read(self, path: str) -> bytes:
        content = self.store.read(self.key(path))
        self.on_bytes(len(content))
        return content

    def blocks(self, path: str) -> Iterator[bytes]:
        """Yield the file's bytes. Raises NotFound, StoreError."""
        for block in self.store.blocks(self.key(path)):
            self.on_bytes(len(block))
            yield block

    def require_store(self, error: StoreError) -> None:
        """Raise StoreError where that error is not about one file: the store can't be reached any more."""
        if not isinstance(error, DamagedRecord):
            # It fails too if the store can't be reached; if it does not, that one file alone is at fault
            self.store.exists(layout.DEFINITION.key(self.campaign_id))

    def _digest(self, path: str) -> str | StoreError:
        digest = sha256()
        try:
            for block in self.blocks(path):
                digest.update(block)
        except NotFound:
            return ""
        except StoreError as error:
            self.require_store(error)
            return error
        return digest.hexdigest()


def campaign_files(store: ResultStore, campaign_id: str, on_bytes: OnBytes) -> CampaignFiles:
    listed = {file.key.removeprefix(f"{campaign_id}/"): file for file in store.listed(campaign_id)}
    return CampaignFiles(store, campaign_id, listed, on_bytes)


def archive_digest(blocks: Iterator[bytes], where: str) -> str:
    """Return the digest of an archive's content, of which one block is in memory at a time.

    Raises DamagedRecord where it is no whole archive.
    """
    checksums = {}
    # Of a stream the library asks for at most so many bytes, again and again, and for nothing else
    stream = cast(BufferedReader, SimpleNamespace(read=lambda _: next(blocks, b"")))
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=BLOCK_BYTES) as archive:
            for member in archive:
                if (content := archive.extractfile(member)) is not None:
                    checksums[member.name] = file_digest(cast(BufferedReader, content), "sha256").hexdigest()
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise DamagedRecord(f"is no whole archive: {error}", where=where, mend="delete it") from error
    return content_digest(checksums)
