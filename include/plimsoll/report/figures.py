"""The report's tables as numbers, for CSV: one function for each table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.analysis.campaign import PERCENTILES, achieved, maxima
from plimsoll.report.findings import Findings
from plimsoll.report.tables import PERCENTILE_NAMES

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.half_load import HalfLoad


def capacity_frame(findings: Findings) -> pd.DataFrame:
    """A table with one row per variant; loads in ops/s."""
    import pandas as pd

    rows = [
        {
            "variant": one.variant,
            "kind": one.kind,
            "capacity_ops_s": one.capacity_ops_s,
            "repeats_met": one.at_capacity.met if one.at_capacity else None,
            "next_load_ops_s": one.next_load.load_ops_s if one.next_load else None,
            "next_load_missed": one.next_load.missed if one.next_load else None,
            "pass_probability_bound": one.pass_probability_bound,
            **_half_load(one.half_load),
            "ratio_to_control": one.ratio_to_control,
            "narrowing_ops_s": " ".join(map(str, one.narrowing_ops_s)),
        }
        for one in findings.capacities
    ]
    whole = ["capacity_ops_s", "repeats_met", "next_load_ops_s", "next_load_missed"]
    real = ["half_load_ops_s", "half_load_low_ops_s", "half_load_high_ops_s"]
    return pd.DataFrame(rows).astype(dict.fromkeys(whole, "Int64") | dict.fromkeys(real, "float64"))


def _half_load(one: HalfLoad | None) -> dict[str, float | None]:
    return {
        "half_load_ops_s": one.ops_s if one else None,
        "half_load_low_ops_s": one.low_ops_s if one else None,
        "half_load_high_ops_s": one.high_ops_s if one else None,
    }


def achieved_frame(findings: Findings) -> pd.DataFrame:
    """A table with one row per variant and load: lowest, median and highest achieved rate over valid repeats, ops/s."""
    import pandas as pd

    return pd.DataFrame([spread.model_dump() for spread in achieved(findings.cells)])


def maxima_frame(findings: Findings) -> pd.DataFrame:
    """A table with one row per variant, load and percentile.

    Its figures are the lowest, median and highest value over repeats of each valid repeat's highest interval, ms.
    """
    import pandas as pd

    rows = [
        {"percentile": PERCENTILE_NAMES[percentile], **spread.model_dump()}
        for percentile in PERCENTILES
        for spread in maxima(findings.cells, percentile)
    ]
    return pd.DataFrame(rows)


def comparisons_frame(findings: Findings) -> pd.DataFrame:
    """A table with one row per variant that was compared with the control."""
    import pandas as pd

    return pd.DataFrame([{**one.model_dump(), "loads": " ".join(map(str, one.loads))} for one in findings.comparisons])
