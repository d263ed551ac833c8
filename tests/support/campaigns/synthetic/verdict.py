"""The verdict on a synthetic cell, from its intervals."""

from datetime import UTC, datetime, timedelta

import pandas as pd
from tests.support.campaigns.synthetic.shape import position
from tests.support.campaigns.synthetic.tables import SHAPE

from plimsoll.domain.attempt.result import Check, Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.service_level import LevelVerdict, Percentiles

GENERATED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def verdict_on(definition: Definition, cell: Cell, number: int, intervals: pd.DataFrame, rate: float) -> Verdict:
    """Return a valid verdict on the cell."""
    judged = intervals[intervals["phase"] == "judged"]
    queries, maxima = judged[judged["operation"] == "all"], _maxima(judged)
    missed = int((~queries["met"].astype(bool)).sum())
    level = LevelVerdict(
        service_level=definition.service_levels[0],
        met=missed == 0,
        judged=len(queries),
        missed=missed,
        not_judged=0,
        worst_ms=float(queries["judged_ms"].max()),
    )
    return Verdict(
        key=AttemptKey(campaign_id=f"{definition.name}-20260301", cell_id=cell.id, attempt=number),
        cell=cell,
        valid=True,
        met=missed == 0,
        levels=(level,),
        attempted_ops_s=float(cell.load_ops_s),
        achieved_ops_s=float(queries["rate_ops_s"].mean()),
        rate_achieved=rate >= 0.99 * cell.load_ops_s,
        operations=int(queries["count"].sum()),
        maxima=maxima["all"],
        maxima_by_operation={name: maxima[name] for name in ("reads", "writes")},
        started_at=GENERATED_AT - timedelta(days=30) + position(definition, cell) * definition.timing.duration,
        checks=(Check(name="none empty", success=True, expected="no empty interval", observed="no empty interval"),),
        code_version="0.1.0",
    )


def _maxima(intervals: pd.DataFrame) -> dict[str, Percentiles]:
    highest = intervals.groupby("operation")[list(SHAPE)].max()
    rows = highest.to_dict(orient="index").items()
    return {str(name): Percentiles.model_validate(row) for name, row in rows}
