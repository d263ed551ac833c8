"""Parse one line of an interval log: a histogram with its times. Also tells what is wrong with a line that is no
record.
"""

import math
import re
from typing import NamedTuple

from plimsoll.analysis.logs.hdr.payload import is_cut_short

_LONGEST_HEAD = 400
_CUT_HEAD = re.compile(rb"(T|Ta|Tag|(Tag=[^,]*,?)?[-+0-9.eE]*(,[-+0-9.eE]*){0,2},?)$")
"""A line that ends before its histogram begins."""
_PAYLOAD = re.compile(rb"(Tag=[^,]*,)?([-+0-9.eE]+,){3}(?P<payload>[A-Za-z0-9+/=]*)$")
_DECIMAL_COMMAS = re.compile(rb"(Tag=[^,]*,)?(\d+,){4,5}[\d.]+,HIST")


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


def parse_record(text: bytes, start: int, end: int, number: int, base_s: float) -> Record:
    """Return the record between two places of `text`, which is line `number`. `base_s`: what its times count from.

    The payload, which is most of a line, is referenced and not copied. Raises ValueError where the line is no record:
    DecimalCommasError where these are the reason.
    """
    head = text[start : min(end, start + _LONGEST_HEAD)]
    if _DECIMAL_COMMAS.match(head):
        raise DecimalCommasError
    tag, _, fields = head.partition(b",") if head.startswith(b"Tag=") else (b"Tag=", b"", head)
    first, length, highest, payload = fields.split(b",", 3)
    start_s, length_s = float(first), float(length)
    if not (math.isfinite(start_s) and math.isfinite(length_s)):
        raise ValueError("times must be finite")
    view = memoryview(text)[start + len(head) - len(payload) : end]
    return Record(tag[4:].decode(), start_s + base_s, length_s, view, number, _number(highest))


def is_cut(line: bytes) -> bool:
    """Tell whether a last line is the beginning of a record, or the zeros that some file systems leave after a
    crash.
    """
    found = _PAYLOAD.match(line)
    return not line.strip(b"\0") or bool(is_cut_short(found["payload"]) if found else _CUT_HEAD.match(line))


def _number(text: bytes) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
