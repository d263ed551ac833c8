"""What a load generator has recorded, read by a library that shares no code with ours."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader


@dataclass(frozen=True)
class Interval:
    """A record of an interval log; values in µs."""

    start_s: float
    end_s: float
    tag: str
    histogram: HdrHistogram


def read_log(path: Path) -> list[Interval]:
    """Return every record, by the Python port of the library that wrote it."""
    with closing(HistogramLogReader(str(path), HdrHistogram(1, 3_600_000_000, 3))) as reader:
        return [
            _interval(histogram, reader.base_time_sec) for histogram in iter(reader.get_next_interval_histogram, None)
        ]


def _interval(histogram: HdrHistogram, base_s: float) -> Interval:
    start, end = (
        round(stamp - base_s * 1000) / 1000
        for stamp in (histogram.get_start_time_stamp(), histogram.get_end_time_stamp())
    )
    return Interval(start, end, histogram.get_tag() or "", histogram)
