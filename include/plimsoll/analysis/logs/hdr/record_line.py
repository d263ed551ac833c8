"""Parse one line of an interval log, a histogram with its times, or tell what is wrong with it; and unpack its
histogram: base64, zlib, header and counts, in encodings V0, V1 and V2.

V2 packs counts as variable-length numbers and runs of zeros as their length; V0 and V1 write every count as a word.
Base64 and zlib are most of the work of reading a log: pybase64 and ISA-L do both in two thirds of the standard
library's time.
"""

import math
import re
import struct
from math import ceil
from typing import NamedTuple, cast

import pybase64
from isal import isal_zlib

_CUT_HEAD = re.compile(rb"(T|Ta|Tag|(Tag=[^,]*,?)?[-+0-9.eE]*(,[-+0-9.eE]*){0,2},?)$")
"""A line that ends before its histogram begins."""
_PAYLOAD = re.compile(rb"(Tag=[^,]*,)?([-+0-9.eE]+,){3}(?P<payload>[A-Za-z0-9+/=]*)$")
_DECIMAL_COMMAS = re.compile(rb"(Tag=[^,]*,)?(\d+,){4,5}[\d.]+,HIST")
OUTER = struct.Struct(">II")
INNER = struct.Struct(">IIIIQQd")
_INNER_V0 = struct.Struct(">IIQQQ")
_COMPRESSED = {0x1C849304, 0x1C849302, 0x1C849309}
_FRACTIONS = {0x0C72124E, 0x0C72124F}
_ENCODED_V2, _ENCODED_V1, _ENCODED_V0 = 0x1C849303, 0x1C849301, 0x1C849308
_WORD_SIZE_BITS = 0xF0
_DAMAGED = cast("type[Exception]", isal_zlib.error)  # its stubs take the class for an instance
_HEAD_LETTERS = 12
"""Letters of base64 that hold the outer header."""

_LARGEST = 64 << 20
"""The greatest size of header and counts, bytes: of five significant digits up to 2^63, nine bytes each."""


class DecimalCommasError(ValueError):
    """A line whose numbers have decimal commas, which can't be distinguished from the commas between the columns."""


class Record(NamedTuple):
    """One histogram: its start (s since the epoch, if the log gives that), its length (s), payload and line.

    `interval_max`: Interval_Max, the highest value as the log states it, usually in ms; None where it is missing or
    unreadable.
    """

    tag: str
    start_s: float
    length_s: float
    payload: memoryview
    line: int
    interval_max: float | None = None


class Header(NamedTuple):
    """The header of an encoded histogram. The highest trackable value is left out, since decoding does not need it.

    `word_bytes`: the size of each count, 0 where counts are packed; `counts_at`: their offset in the inflated payload.
    """

    lowest: int
    digits: int
    word_bytes: int
    counts_at: int


def parse_record(text: bytes, start: int, end: int, number: int, base_s: float) -> Record:
    """Return the record between two places of `text`, which is line `number`. `base_s`: what its times count from.

    The payload, which is most of a line, is referenced and not copied. Raises ValueError where the line is no record:
    DecimalCommasError where these are the reason.
    """
    head = text[start : min(end, start + 400)]
    if _DECIMAL_COMMAS.match(head):
        raise DecimalCommasError
    tag, _, fields = head.partition(b",") if head.startswith(b"Tag=") else (b"Tag=", b"", head)
    first, length, highest, payload = fields.split(b",", 3)
    start_s, length_s = float(first), float(length)
    if not (math.isfinite(start_s) and math.isfinite(length_s)):
        raise ValueError("times must be finite")
    view = memoryview(text)[start + len(head) - len(payload) : end]
    return Record(tag[4:].decode(), start_s + base_s, length_s, view, number, finite(highest))


def is_cut(line: bytes) -> bool:
    """Tell whether a last line is the beginning of a record, or zeros that some file systems leave after a crash."""
    match = _PAYLOAD.match(line)
    return not line.strip(b"\0") or bool(is_cut_short(match["payload"]) if match else _CUT_HEAD.match(line))


def finite(text: bytes | str) -> float | None:
    """Return the number that a text is; None of anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def inflate(payload: bytes | memoryview) -> bytes:
    """Decode the base64 of a compressed histogram into header and counts. Raises ValueError on anything else."""
    raw = pybase64.b64decode(payload)
    if len(raw) < OUTER.size:
        raise ValueError("is cut short")
    cookie, length = OUTER.unpack_from(raw)
    if cookie in _FRACTIONS:
        raise ValueError("is a DoubleHistogram, whose values have no unit of time")
    if cookie & ~_WORD_SIZE_BITS not in _COMPRESSED:
        raise ValueError("is not a compressed histogram in encoding V0, V1 or V2")
    if length != len(raw) - OUTER.size:
        raise ValueError(f"has {len(raw) - OUTER.size} bytes where {length} are announced")
    stream = isal_zlib.decompressobj()
    try:
        body = stream.decompress(memoryview(raw)[OUTER.size :], _LARGEST)
    except _DAMAGED as error:
        raise ValueError(f"does not inflate ({error})") from error
    if not stream.eof:
        raise ValueError("is larger than any histogram" if len(body) == _LARGEST else "does not inflate: is cut short")
    return body


def read_header(body: bytes) -> Header:
    """Return the header of an inflated payload. Raises ValueError on other encodings and wrong lengths."""
    if len(body) < _INNER_V0.size:
        raise ValueError("is too short for a histogram")
    cookie = int.from_bytes(body[:4])
    kind = cookie & ~_WORD_SIZE_BITS
    # The lowest bit of the field is a flag that newer writers set. 0 would stand for packed counts, which V0 and V1 do
    # not have; -1 is refused.
    word_bytes = (cookie & _WORD_SIZE_BITS) >> 4 & 0xE or -1
    if kind == _ENCODED_V0:
        _, digits, lowest, _, _ = _INNER_V0.unpack_from(body)
        header = Header(lowest, digits, word_bytes, _INNER_V0.size)
    elif kind not in (_ENCODED_V1, _ENCODED_V2) or len(body) < INNER.size:
        raise ValueError("is not an encoded histogram")
    else:
        # The third field moves nothing, see `has_index_offset`.
        _, length, _, digits, lowest, _, _ = INNER.unpack_from(body)
        if length != len(body) - INNER.size:
            raise ValueError(f"holds {len(body) - INNER.size} bytes of counts where {length} are announced")
        header = Header(lowest, digits, 0 if kind == _ENCODED_V2 else word_bytes, INNER.size)
    if not 0 <= header.digits <= 5 or header.lowest < 1 or header.word_bytes not in (0, 2, 4, 8):
        raise ValueError("has impossible settings")
    if header.word_bytes and (len(body) - header.counts_at) % header.word_bytes:
        raise ValueError("ends within a count")
    return header


def has_index_offset(body: bytes) -> bool:
    """Tell whether the field `normalizingIndexOffset` of a header is not 0.

    It moves no count: Java, JavaScript and Go write the counts in order of their values. Readers in JavaScript, Go and
    Python ignore it; Java's applies it when it stores a count and again when it looks it up. HdrHistogramJS always
    writes 1, as hdrhistogram-go did before 1.3.
    """
    kind = int.from_bytes(body[:4]) & ~_WORD_SIZE_BITS
    return kind in (_ENCODED_V1, _ENCODED_V2) and bool(INNER.unpack_from(body)[2])


def is_complete(payload: bytes | memoryview) -> bool:
    """Tell whether a payload can be decoded as far as its counts."""
    try:
        read_header(inflate(payload))
    except ValueError:
        return False
    return True


def is_cut_short(payload: bytes | memoryview) -> bool:
    """Tell whether the text of a payload is shorter than the payload says itself, as after its writer was killed."""
    head = bytes(payload[:_HEAD_LETTERS])
    if len(head) < _HEAD_LETTERS:
        return True
    try:
        _, length = OUTER.unpack_from(pybase64.b64decode(head))
    except (ValueError, struct.error):
        return False
    return len(payload) < 4 * ceil((OUTER.size + int(length)) / 3)
