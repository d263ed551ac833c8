"""Bundles: one archive of everything that a campaign's report is made from, for anybody to verify and report again.

A bundle is a zip file. `bundle.json` describes it; `checksums.sha256` holds every other file's checksum, in the format
of `sha256sum --check`; the other files have the same paths as below the campaign in the store. Names are sorted and
times fixed, so that equal content gives equal bytes.
"""

import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from io import SEEK_END
from typing import IO, Annotated, Final, Literal, NamedTuple, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pydantic import AwareDatetime, Field, ValidationError

from plimsoll.domain.attempt.result import Manifest
from plimsoll.domain.campaign.cell import CAMPAIGN_ID
from plimsoll.domain.keys.faults import fault_words
from plimsoll.domain.keys.host_bounds import LARGEST_BYTES
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import BundleError
from plimsoll.services.store import layout

FORMAT: Final = 1
INDEX = "bundle.json"
CHECKSUMS = "checksums.sha256"
_BLOCK = 1 << 20
_ALWAYS_ALLOWED = 64 << 20
_MOST_TIMES = 100
"""The greatest unpacked ÷ packed size of a bundle beyond that: records and logs pack to a tenth, tables don't."""
# The earliest time that a zip file can hold
_EPOCH = (1980, 1, 1, 0, 0, 0)
# Zip files have the mode of Unix in the upper half of these attributes
_REGULAR_FILE = (stat.S_IFREG | 0o644) << 16
_ON_UNIX = 3
_PACKED = (".parquet", ".gz", ".zip", ".png")
_UNREADABLE = (BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OSError)
"""The errors that the zip file's library raises over damage."""
_UNSAFE = re.compile(r"[\\\x00-\x1f\x7f]|^[A-Za-z]:")
_CHECKSUM_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class BundleIndex(Model, extra="ignore"):
    """The content of `bundle.json`. Unknown keys are ignored, so a newer version may add keys in the same format."""

    format: Annotated[Literal[1], Field(description="Raised when an older Plimsoll could misread the bundle")] = FORMAT
    campaign_id: Annotated[str, Field(pattern=CAMPAIGN_ID, max_length=100)]
    generated_at: Annotated[AwareDatetime, Field(description="When its report was made: the date that the report says")]
    raw: Annotated[
        Literal["by reference", "included"],
        Field(description="Raw files: named by manifests with size and sha256 alone, or in the bundle too"),
    ] = "by reference"
    versions: Annotated[dict[str, str], Field(description="Of Plimsoll, Python and libraries that made the report")]
    commands: Annotated[dict[str, str], Field(description="What to do with it → command")]
    report: Annotated[dict[str, str], Field(description="Each file of the report but the bundle itself → its sha256")]


class Member(NamedTuple):
    """A file to put into a bundle."""

    sha256: str
    read: Callable[[], bytes]

    @classmethod
    def of(cls, content: bytes) -> Self:
        return cls(sha256(content).hexdigest(), lambda: content)


@dataclass(frozen=True)
class Bundle:
    """A verified bundle. `files`: content by path below the campaign. Raw files are verified but not kept."""

    index: BundleIndex
    files: Mapping[str, bytes]


def checksums_of(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: sha256(content).hexdigest() for name, content in sorted(files.items())}


def write_bundle(stream: IO[bytes], index: BundleIndex, members: Mapping[str, Member]) -> None:
    """Write a bundle. Raises BundleError for a member whose content does not match its checksum."""
    for name in members:
        if not _is_safe(name):
            raise BundleError("is no name of a file in a bundle", where=repr(name), mend="leave raw files out")
    all_members = {**members, INDEX: Member.of(index.model_dump_json(indent=1).encode())}
    lines = "".join(f"{member.sha256}  {name}\n" for name, member in sorted(all_members.items()))
    all_members[CHECKSUMS] = Member.of(lines.encode())
    with ZipFile(stream, "w") as archive:
        for name, member in sorted(all_members.items()):
            content = member.read()
            if sha256(content).hexdigest() != member.sha256:
                mend = "restore the file, or leave raw files out"
                raise BundleError("is not what its checksum says", where=name, mend=mend)
            entry = ZipInfo(name, _EPOCH)
            is_stored = name.endswith(_PACKED) or _packs_too_well(content)
            entry.compress_type = ZIP_STORED if is_stored else ZIP_DEFLATED
            # Python writes another system on Windows, where equal content would give other bytes
            entry.create_system = _ON_UNIX
            entry.external_attr = _REGULAR_FILE
            archive.writestr(entry, content)


def _packs_too_well(content: bytes) -> bool:
    """Tell whether the packed content would be smaller than a reader of bundles accepts: then it is stored as it is.

    The content is packed only until it is known not to be.
    """
    packer, packed, blocks = zlib.compressobj(wbits=-zlib.MAX_WBITS), 0, memoryview(content)
    for at in range(0, len(content), _BLOCK):
        packed += len(packer.compress(blocks[at : at + _BLOCK]))
        if packed * _MOST_TIMES >= len(content):
            return False
    return (packed + len(packer.flush())) * _MOST_TIMES < len(content)


def read_bundle(stream: IO[bytes], where: str) -> Bundle:
    """Read and verify a bundle. Raises BundleError for what is no bundle, damaged, unsafe to read, or too new."""
    try:
        size = stream.seek(0, SEEK_END)
        with ZipFile(stream) as archive:
            return _read(archive, size, where)
    except _UNREADABLE as error:
        raise BundleError(f"is no whole zip file ({error})", where=where, mend="get the bundle again") from error


def read_index(stream: IO[bytes], where: str) -> BundleIndex:
    """Return what a bundle says of itself; nothing else of it is verified. Raises BundleError as `read_bundle` does."""
    try:
        with ZipFile(stream) as archive:
            return _index(archive.read(INDEX), where)
    except (KeyError, *_UNREADABLE) as error:
        raise _damaged(f"its {INDEX} can't be read ({error})", where) from error


def _read(archive: ZipFile, size: int, where: str) -> Bundle:
    entries = {entry.filename: entry for entry in archive.infolist()}
    # All of this before anything is unpacked: a stranger's bundle must not fill the memory
    faults = [
        *_faults(archive.infolist(), size),
        *(f"it has no {name}" for name in (INDEX, CHECKSUMS) if name not in entries),
    ]
    if faults:
        mend = "take a bundle that Plimsoll made, unchanged"
        raise BundleError(f"is no bundle: {'; '.join(faults[:3])}", where=where, mend=mend)
    index = _index(archive.read(INDEX), where)
    lines = archive.read(CHECKSUMS).decode(errors="replace").splitlines()
    expected = {match[2]: match[1] for line in lines if (match := _CHECKSUM_LINE.fullmatch(line))}
    if expected.keys() != entries.keys() - {CHECKSUMS}:
        odd = sorted(expected.keys() ^ (entries.keys() - {CHECKSUMS}))
        raise _damaged(f"{odd[0]} is missing from the bundle or from its checksums", where)
    files = {name: archive.read(name) for name in expected if not is_raw(name)}
    for name, content in files.items():
        _require_equal(name, sha256(content).hexdigest(), expected, where)
    listed = _raw_files(files)
    for name in expected.keys() - files.keys():
        if listed.get(name) != (entries[name].file_size, expected[name]):
            raise _damaged(f"{name} is not as its attempt's manifest says", where)
        _require_equal(name, _digest(archive, entries[name]), expected, where)
    return Bundle(index, {name: content for name, content in files.items() if name != INDEX})


def _require_equal(name: str, digest: str, expected: Mapping[str, str], where: str) -> None:
    if digest != expected[name]:
        raise _damaged(f"{name} is not what its checksum says", where)


def _raw_files(files: Mapping[str, bytes]) -> dict[str, tuple[int, str]]:
    """Return the raw files that the manifests name, with size in bytes and sha256."""
    raw_files: dict[str, tuple[int, str]] = {}
    for name, content in files.items():
        attempt, _, last = name.rpartition("/")
        if last == layout.MANIFEST.path:
            with suppress(ValidationError):  # what it names is then named by nobody
                manifest = Manifest.model_validate_json(content)
                raw_files |= {f"{attempt}/{file.path}": (file.size_bytes, file.sha256) for file in manifest.files}
    return raw_files


def _faults(entries: list[ZipInfo], size: int) -> Iterator[str]:
    """Explain why an archive of that size, bytes, with such files is refused.

    Plimsoll does not unpack it, but a user who does must be safe.
    """
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        yield "a name stands twice"
    for entry in entries:
        if not _is_safe(entry.filename) or stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            yield f"{entry.filename!r} is no plain file below the campaign"
        if entry.flag_bits & 0x1:
            yield f"{entry.filename!r} is encrypted"
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            yield f"{entry.filename!r} is compressed by another method than bundles are"
    kept = [entry for entry in entries if not is_raw(entry.filename)]
    most = min(LARGEST_BYTES, _ALWAYS_ALLOWED + _MOST_TIMES * sum(entry.compress_size for entry in kept))
    if sum(entry.file_size for entry in kept) > most:
        yield f"it is larger than {most >> 20} MiB without raw files"
    # Of the archive's own size: several entries may share packed bytes.
    most = _ALWAYS_ALLOWED + _MOST_TIMES * size
    if sum(entry.file_size for entry in entries) > most:
        yield f"it is larger than {most >> 20} MiB with raw files"


def _is_safe(name: str) -> bool:
    return not _UNSAFE.search(name) and not {"", ".", ".."} & set(name.split("/"))


def is_raw(name: str) -> bool:
    """Tell whether a path below the campaign is a raw file: `cells/<cell>/<attempt>/raw/…`."""
    parts = name.split("/")
    return len(parts) > 4 and parts[0] == "cells" and parts[3] == layout.RAW


def _index(text: bytes, where: str) -> BundleIndex:
    try:
        # Read alone first: a newer format may have other keys, and must be called newer, not damaged
        header = _Format.model_validate_json(text)
        if header.format > FORMAT:
            what = f"is of format {header.format}; this Plimsoll reads formats up to {FORMAT}"
            raise BundleError(what, where=where, mend="use a newer Plimsoll")
        return BundleIndex.model_validate_json(text)
    except ValidationError as error:
        raise _damaged(f"its {INDEX} can't be read: {fault_words(error.errors()[0])}", where) from error


class _Format(Model, extra="ignore"):
    format: int


def _digest(archive: ZipFile, entry: ZipInfo) -> str:
    digest = sha256()
    with archive.open(entry) as content:
        while block := content.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _damaged(what: str, where: str) -> BundleError:
    return BundleError(f"is damaged or was changed: {what}", where=where, mend="get the bundle again")
