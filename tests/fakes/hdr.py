"""HDR interval logs with known content, made fast."""

from functools import lru_cache

from hdrh.histogram import HdrHistogram

_HOUR_US = 3_600_000_000
FAST_US = 2_000
SLOW_US = 400_000


def interval_log(started_at: float, seconds: int, operations_per_s: int, took_us: int = FAST_US) -> str:
    """Return a log of one record a second, every operation taking as long."""
    payload, highest_ms = _payload(operations_per_s, took_us)
    records = "".join(f"{second}.000,1.000,{highest_ms:.3f},{payload}\n" for second in range(seconds))
    head = f"#[Histogram log format version 1.3]\n#[StartTime: {started_at:.3f} (seconds since epoch)]\n"
    base = f"#[BaseTime: {started_at:.3f} (seconds since epoch)]\n"
    return f'{head}{base}"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n{records}'


@lru_cache
def _payload(operations: int, took_us: int) -> tuple[str, float]:
    histogram = HdrHistogram(1, _HOUR_US, 3)
    histogram.record_value(took_us, operations)
    return histogram.encode().decode(), took_us / 1000
