"""Read files that may be gz, with a limit on the unpacked size: three megabytes of gz can hold gigabytes."""

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from plimsoll.domain.keys.host_bounds import LARGEST_BYTES
from plimsoll.domain.text.errors import LogError

GZIP = b"\x1f\x8b"
_CHUNK = 1 << 13
"""The packed bytes that are unpacked at once; they become 8 MiB at most."""
_UTF_16 = re.compile(rb"(?P<be>\0[ -~])|(?P<le>[ -~]\0)")


def unpacked(data: bytes, name: str, most: int = LARGEST_BYTES) -> tuple[bytes, bool]:
    """Return the plain bytes in UTF-8, and whether a gz was cut short. All members of a gz with several are read.

    Raises LogError where a gz is damaged, and where there are more than `most` bytes, of which no more are kept.
    """
    if not data.startswith(GZIP):
        _require(len(data), most, name)
        return in_utf8(data), False
    members, blocks, size = _Members(data, name), list[bytes](), 0
    for block in members.blocks():
        size += len(block)
        _require(size, most, name)
        blocks.append(block)
    return in_utf8(b"".join(blocks)), not members.is_whole


def beginning(data: bytes, most: int) -> bytes:
    """Return the first plain bytes in UTF-8, of all members of a gz; of a damaged one those before the damage."""
    if not data.startswith(GZIP):
        return in_utf8(data[:most])
    plain = b""
    with suppress(LogError):  # whoever reads the file says so
        for block in _Members(data, "").blocks():
            plain += block
            if len(plain) >= most:
                break
    return in_utf8(plain[:most])


def in_utf8(data: bytes) -> bytes:
    """Return the text of a file in UTF-8 without a byte order mark, and with line feeds where returns end lines."""
    # UTF-16 is told by its mark, or by a first ASCII character.
    has_mark, no_mark = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)), _UTF_16.match(data)
    coded = "utf-16" if has_mark else f"utf-16-{no_mark.lastgroup}" if no_mark else ""
    text = data.decode(coded, errors="replace").encode() if coded else data.removeprefix(codecs.BOM_UTF8)
    return text if b"\n" in text else text.replace(b"\r", b"\n")


def require_bounded(files: Iterable[tuple[str, bytes]], most: int = LARGEST_BYTES) -> tuple[str, ...]:
    """Return remarks on those files that are a gz which was cut short.

    Raises LogError where files with these names hold more than `most` plain bytes together; it names the file that
    exceeds the limit. Unpacked bytes are counted and not kept.
    """
    left = most
    cut: list[str] = []
    for name, data in files:
        members = _Members(data, name) if data.startswith(GZIP) else None
        for size in map(len, members.blocks()) if members else [len(data)]:
            left -= size
            if left < 0:
                what = f"with this file, those of its run hold more than {most >> 20:,} MiB together"
                raise LogError(what, where=name, mend="give the files of one run alone, or fewer of them")
        if members and not members.is_whole:
            cut.append(cut_short_note(name))
    return tuple(cut)


def cut_short_note(name: str) -> str:
    return f"{name}: the gz ends before its end; what could be read of it counts"


def _require(size: int, most: int, name: str) -> None:
    if size > most:
        raise LogError(f"holds more than {most >> 20:,} MiB", where=name, mend="give the files of one run alone")


@dataclass
class _Members:
    """The members of a gz, one after another, and zeros, with which archives pad."""

    data: bytes
    name: str
    is_whole: bool = field(default=False, init=False)
    """Known once all blocks were taken."""

    def blocks(self) -> Iterator[bytes]:
        stream = zlib.decompressobj(wbits=31)
        for start in range(0, len(self.data), _CHUNK):
            chunk = self.data[start : start + _CHUNK]
            end = start + len(chunk)
            while chunk:
                if stream.eof:
                    chunk = chunk.lstrip(b"\0")
                    if not chunk:
                        break
                    rest = end - len(chunk)
                    if not self.data.startswith(GZIP, rest) and self.data[rest:] != GZIP[:1]:
                        what, mend = "goes on after its gz with what is no gz", "give each file by itself"
                        raise LogError(what, where=self.name, mend=mend)
                    stream = zlib.decompressobj(wbits=31)
                try:
                    yield stream.decompress(chunk)
                except zlib.error as error:
                    mend = "give the file as it was written, plain or gz"
                    raise LogError(f"is a damaged gz ({error})", where=self.name, mend=mend) from error
                chunk = stream.unused_data
        self.is_whole = stream.eof
