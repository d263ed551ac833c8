"""One encoded histogram of an interval log: base64, zlib, and the V2 header before the counts."""

import binascii
import struct
import zlib
from typing import NamedTuple

_OUTER = struct.Struct(">II")
_INNER = struct.Struct(">IIIIQQd")
_COMPRESSED_V2 = 0x1C849304
_ENCODED_V2 = 0x1C849303
_WORD_SIZE_BITS = 0xF0

COUNTS_AT = _INNER.size
"""Offset of the counts in an inflated payload."""


class Header(NamedTuple):
    """What an encoded histogram says of itself; the last value trackable is not needed to read it."""

    lowest: int
    digits: int


def inflate(payload: bytes | memoryview) -> bytes:
    """Base64 of a compressed V2 histogram → header and counts. ValueError on anything else."""
    raw = binascii.a2b_base64(payload)
    if len(raw) < _OUTER.size:
        raise ValueError("is cut short")
    cookie, length = _OUTER.unpack_from(raw)
    if cookie & ~_WORD_SIZE_BITS != _COMPRESSED_V2:
        raise ValueError("is not a compressed V2 histogram of whole numbers")
    if length != len(raw) - _OUTER.size:
        raise ValueError(f"has {len(raw) - _OUTER.size} bytes where {length} are announced")
    try:
        return zlib.decompress(memoryview(raw)[_OUTER.size :])
    except zlib.error as error:
        raise ValueError(f"does not inflate ({error})") from error


def read_header(body: bytes) -> Header:
    """The header of an inflated payload. ValueError on other encodings, wrong lengths and shifted histograms."""
    if len(body) < COUNTS_AT:
        raise ValueError("is too short for a histogram")
    cookie, length, offset, digits, lowest, _, _ = _INNER.unpack_from(body)
    if cookie & ~_WORD_SIZE_BITS != _ENCODED_V2 or length != len(body) - COUNTS_AT:
        raise ValueError("is not an encoded V2 histogram")
    if offset or not 0 <= digits <= 5 or lowest < 1:
        raise ValueError("is shifted or has impossible settings")
    return Header(lowest, digits)


def is_complete(payload: bytes | memoryview) -> bool:
    """Whether nothing of the payload is missing."""
    try:
        read_header(inflate(payload))
    except ValueError:
        return False
    return True
