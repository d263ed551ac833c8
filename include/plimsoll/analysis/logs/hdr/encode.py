"""Encode values as the histogram of an interval log, for formats that have single values."""

import struct
import zlib

import numpy as np
import pybase64

from plimsoll.analysis.logs.hdr.histogram_layout import WIDE, Ints

_OUTER = struct.Struct(">II")
_INNER = struct.Struct(">IIIIQQd")
_WORDS_OF_8 = 0x80
_ENCODED_V1, _COMPRESSED_V1 = 0x1C849301 | _WORDS_OF_8, 0x1C849302 | _WORDS_OF_8
_DIGITS, _LOWEST = 3, 1
_FAST = 1
"""Level of compression: nobody keeps the result."""


def encoded(values: Ints) -> memoryview:
    """Return the payload of a histogram of these values, in the layout `WIDE` and the encoding V1."""
    counts = np.bincount(WIDE.index_of(values), minlength=1).astype(">i8").tobytes()
    highest = max(2, int(values.max(initial=0)))
    inner = _INNER.pack(_ENCODED_V1, len(counts), 0, _DIGITS, _LOWEST, highest, 1.0)
    packed = zlib.compress(inner + counts, _FAST)
    return memoryview(pybase64.b64encode(_OUTER.pack(_COMPRESSED_V1, len(packed)) + packed))


EMPTY = encoded(np.zeros(0, dtype=np.int64))
"""A histogram without a value."""
