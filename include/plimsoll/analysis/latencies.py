"""Response time by percentile over the judged time of one attempt: the curve of HdrHistogram's own plots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from plimsoll.analysis.percentiles import values_ms

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.layout import Ints, Unit

COLUMNS = ("operation", "percentile", "ms", "operations")
STEPS = tuple(round(100 * (1 - 1 / (factor * 10**power)), 7) for power in range(6) for factor in (1, 1.5, 2, 3, 5, 7))
"""Percentiles from 0 to 99.9999, six in each tenth part of what lies above them."""


def latencies_frame(counts: Mapping[str, Ints], unit: Unit) -> pd.DataFrame:
    """A table with one row per operation (`all`, `reads`, `writes`) and percentile: the response time there, ms.

    `operations` is the number of operations counted. Percentiles above which less than one operation lies are left out,
    except the hundredth, which is the maximum.
    """
    import pandas as pd  # late: judging needs none of it

    rows = []
    for operation, own in counts.items():
        total = int(own.sum())
        told = [step for step in STEPS if total * (100 - step) >= 100] + [100.0] if total else []
        rows += [(operation, step, ms, total) for step, ms in zip(told, values_ms(own, told, unit), strict=True)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"operation": "str", "percentile": "float64", "ms": "float64", "operations": "int64"})
