"""Response time by percentile over the judged time of one attempt: the curve of HdrHistogram's own plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.logs.hdr.histograms import Ints, Unit, values_ms
from plimsoll.domain.keys.service_level import ALL_OPERATIONS

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("operation", "percentile", "ms", "operations")
STEPS = tuple(round(100 * (1 - 1 / (factor * 10**power)), 7) for power in range(6) for factor in (1, 1.5, 2, 3, 5, 7))
"""Percentiles from 0 to 99.9999, six in each tenth part of what lies above them."""
_MAXIMUM = 100.0


@dataclass(frozen=True)
class Curve:
    """The response times of one kind of operation, as medians over repeats.

    `operation`: `all`, `reads` or `writes`. `ms_at`: percentile → response time, ms, rising, without the maximum.
    `maximum_ms`: the median of the repeats' maxima, ms. `operations`: the median of their numbers of operations.
    """

    operation: str
    ms_at: Mapping[float, float]
    maximum_ms: float
    operations: float


def latencies_frame(counts: Mapping[str, Ints], unit: Unit) -> pd.DataFrame:
    """Return a table with one row per operation (`all`, `reads`, `writes`) and percentile: the response time there, ms.

    `operations` is the number of operations counted. Percentiles above which less than one operation lies are left out,
    except the hundredth, which is the maximum.
    """
    import pandas as pd  # late: judging needs none of it

    rows = []
    for operation, own in counts.items():
        total = int(own.sum())
        steps = [step for step in STEPS if total * (100 - step) >= 100] + [_MAXIMUM] if total else []
        rows += [(operation, step, ms, total) for step, ms in zip(steps, values_ms(own, steps, unit), strict=True)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"operation": "str", "percentile": "float64", "ms": "float64", "operations": "int64"})


def median_curves(repeats: Sequence[pd.DataFrame]) -> tuple[Curve, ...]:
    """Return the curve of each kind of operation, from the tables of repeats that `latencies_frame` made.

    Reads and writes have a curve each; all operations have one only where these are not told apart. A percentile is
    left out unless every repeat tells it, because a median over fewer repeats would make a step in the curve.
    """
    import pandas as pd

    table = pd.concat(repeats, ignore_index=True)
    apart = sorted(set(table["operation"]) - {ALL_OPERATIONS})
    curves = []
    for name in apart or [ALL_OPERATIONS]:
        own = table[table["operation"] == name]
        medians = own.groupby("percentile")["ms"].agg(["median", "size"])
        whole = medians[medians["size"] == len(repeats)].drop(index=_MAXIMUM, errors="ignore")
        ms_at = dict(zip(whole.index.tolist(), whole["median"].tolist(), strict=True))
        maxima = own[own["percentile"] == _MAXIMUM]
        curves.append(Curve(name, ms_at, float(maxima["ms"].median()), float(maxima["operations"].median())))
    return tuple(curves)
