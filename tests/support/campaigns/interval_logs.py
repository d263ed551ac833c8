"""Interval logs made by hand: what is in them is known."""

import base64
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence

from hdrh.histogram import HdrHistogram

CASSANDRA_STRESS, LATTE = "Logging op latencies for Cassandra Stress", "[Logged with Latte 0.29.0]"
"""First comments of logs, by which their writers are known."""
STARTED_AT_S = 1_795_201_196.5
HOUR_US = 3_600_000_000
_WORDS = {2: "h", 4: "i", 8: "q"}


def payload(values: Iterable[int], *, lowest: int = 1, highest: int = HOUR_US, digits: int = 3) -> str:
    """Return an encoded histogram of those values, made by a library that shares no code with ours."""
    histogram = HdrHistogram(lowest, highest, digits)
    for value in values:
        assert histogram.record_value(value)
    return str(histogram.encode().decode())


def body_of(values: Iterable[int], *, offset: int = 0, version: int = 2) -> bytes:
    """Return header and counts of a histogram of values below 2,048 in encoding V1 or V2, with any
    normalizingIndexOffset.
    """
    slots = [0] * 2048
    for value in values:
        slots[value] += 1
    if version == 1:
        cookie, counts = 0x1C849381, struct.pack(f">{len(slots)}q", *slots)
    else:
        cookie, counts = 0x1C849313, b"".join(bytes([count * 2]) for count in slots)
    return struct.pack(">IIIIQQd", cookie, len(counts), offset, 3, 1, HOUR_US, 1.0) + counts


def packed(body: bytes, cookie: int = 0x1C849314) -> str:
    """Return an encoded histogram compressed as logs hold it."""
    squeezed = zlib.compress(body)
    return base64.b64encode(struct.pack(">II", cookie, len(squeezed)) + squeezed).decode()


def old_payload(values: list[int], version: int, word_bytes: int, *, digits: int = 3, lowest: int = 1) -> str:
    """Return a histogram in encoding V0 or V1, by the layout that HdrHistogram's own sources give."""
    source = HdrHistogram(lowest, HOUR_US, digits)
    counts = [0] * source.counts_len
    for value in values:
        counts[source._counts_index_for(value)] += 1
    words = struct.pack(f">{len(counts)}{_WORDS[word_bytes]}", *counts)
    if version == 0:
        head = struct.pack(">IIQQQ", 0x1C849308 | word_bytes << 4, digits, lowest, HOUR_US, len(values))
        return packed(head + words, cookie=0x1C849309 | word_bytes << 4)
    head = struct.pack(">IIIIQQd", 0x1C849301 | word_bytes << 4, len(words), 0, digits, lowest, HOUR_US, 1.0)
    return packed(head + words, cookie=0x1C849302 | word_bytes << 4)


def line(start_s: float, length_s: float, content: str, tag: str = "", *, per_ms: int = 1000) -> str:
    """Return one record as HistogramLogWriter writes it, of values of which `per_ms` make a millisecond."""
    highest = _highest(content) / per_ms
    return f"{f'Tag={tag},' if tag else ''}{start_s:.3f},{length_s:.3f},{highest:.3f},{content}\n"


def _highest(content: str) -> int:
    """Return the highest value of an encoded histogram; 0 of what the library can't read."""
    try:
        return int(HdrHistogram.decode(content).get_max_value())
    except Exception:
        return 0


def every_second(
    values: Sequence[Iterable[int]], tag: str = "", length_s: float = 1.0, *, per_ms: int = 1000
) -> Iterator[str]:
    """Yield gapless records, one for each element."""
    for number, one in enumerate(values):
        yield line(number * length_s, length_s, payload(one), tag, per_ms=per_ms)


def log(lines: Iterable[str], *, base_time: bool = True, comment: str = "") -> bytes:
    """Return a log with the usual head, below a first comment if one is given."""
    times = f"#[StartTime: {STARTED_AT_S:.3f} (seconds since epoch), Fri Nov 20 18:59:56 UTC 2026]\n"
    base = f"#[BaseTime: {STARTED_AT_S:.3f} (seconds since epoch)]\n" if base_time else ""
    legend = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
    first = f"#{comment}\n" if comment else ""
    return (f"{first}#[Histogram log format version 1.3]\n" + times + base + legend + "".join(lines)).encode()
