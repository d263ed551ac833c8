"""Interval logs made by hand: what is in them is known."""

from collections.abc import Iterable, Iterator, Sequence

from hdrh.histogram import HdrHistogram

STARTED_AT_S = 1_795_201_196.5
HOUR_US = 3_600_000_000


def payload(values: Iterable[int], *, lowest: int = 1, highest: int = HOUR_US, digits: int = 3) -> str:
    """An encoded histogram of those values, made by a library that shares no code with ours."""
    histogram = HdrHistogram(lowest, highest, digits)
    for value in values:
        assert histogram.record_value(value)
    return str(histogram.encode().decode())


def line(start_s: float, length_s: float, content: str, tag: str = "") -> str:
    """One record as HistogramLogWriter writes it."""
    return f"{f'Tag={tag},' if tag else ''}{start_s:.3f},{length_s:.3f},0.000,{content}\n"


def every_second(values: Sequence[Iterable[int]], tag: str = "", length_s: float = 1.0) -> Iterator[str]:
    """Gapless records, one for each element."""
    for number, one in enumerate(values):
        yield line(number * length_s, length_s, payload(one), tag)


def log(lines: Iterable[str], *, base_time: bool = True) -> bytes:
    """A log with the usual head."""
    times = f"#[StartTime: {STARTED_AT_S:.3f} (seconds since epoch), Fri Nov 20 18:59:56 UTC 2026]\n"
    base = f"#[BaseTime: {STARTED_AT_S:.3f} (seconds since epoch)]\n" if base_time else ""
    legend = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
    return ("#[Histogram log format version 1.3]\n" + times + base + legend + "".join(lines)).encode()
