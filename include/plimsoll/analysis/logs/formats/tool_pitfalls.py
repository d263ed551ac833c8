"""What the whole content of a tool's log shows to be unsound or odd."""

import re
from collections.abc import Iterator

from plimsoll.analysis.logs.formats.ycsb_logs import remarks

RAW_HEADER = r"(?m)^[A-Za-z_-]+(?:, ?| )latency raw data: op, timestamp\(ms\), latency\(us\)"
RAW_CONSOLE = r"[\s\S]*?Raw data measurement: will output to stdout"
"""How a console with raw measurements begins; those come after all status lines."""
_TRANSACTION = b"Number of samples in transaction :"
_MOST_OF_HEY = 1_000_000


def transactions(data: bytes) -> tuple[str, str] | None:
    """JMeter writes a transaction beside its samples, or in their place (*Generate parent sample*)."""
    found, lines = data.count(_TRANSACTION), data.count(b"\n") - data.startswith(b"timeStamp")
    if 0 < found < lines:
        what = f"holds {found:,} transactions beside {lines - found:,} other samples, which may be theirs"
        return what, "name the labels to judge: `--tags LABEL` (of an import, `tags: [LABEL]`)"
    return None


def first_million(data: bytes) -> tuple[str, str] | None:
    """Hey keeps the times of a million requests."""
    if data.count(b"\n") >= _MOST_OF_HEY:
        return f"is full: hey writes its first {_MOST_OF_HEY:,} requests alone", "run hey for a shorter time, or vegeta"
    return None


def remarks_on_ycsb(data: bytes) -> Iterator[str]:
    """Yield YCSB's pitfalls, by the names of its measurements."""
    headers = re.findall(RAW_HEADER.encode(), data)
    yield from remarks([re.split(rb"[, ]", header, maxsplit=1)[0].decode() for header in headers])
