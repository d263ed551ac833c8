"""Compute how far the figures of cells and hosts lie from those of their repeats, where variant and load explain
nothing.

The figure of a cell is the mean of its intervals' log percentile. Its residual is its distance from the mean of the
repeats of the same variant and load, multiplied by √(n / (n - 1)) because the cell is itself part of that mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.campaign.series import judged_series, log_ms
from plimsoll.domain.cluster import is_load_host

if TYPE_CHECKING:
    from plimsoll.analysis.campaign.cell_results import AttemptData, CellResult


@dataclass(frozen=True)
class Residual:
    """The distance of a figure from the mean of its group, on a log scale. Widened, as it is part of that mean."""

    result: CellResult
    host: str | None
    value: float
    widened: float = 1.0

    @property
    def group(self) -> tuple[str, int]:
        """Return the variant and load of the group."""
        return self.result.cell.variant, self.result.cell.load_ops_s


def cell_residuals(cells: Iterable[CellResult]) -> tuple[Residual, ...]:
    """Return the residual of each cell with a valid attempt, at loads with at least two such cells."""
    figures = [(result, None, float(log_ms(judged_series(result.counted)).mean())) for result in cells if _has(result)]
    return _residuals(figures)


def host_residuals(cells: Iterable[CellResult]) -> tuple[Residual, ...]:
    """Return the residual of each node's share of busy processors, among all nodes of the same variant and load."""
    return _residuals(
        (result, host, float(np.log(busy)))
        for result in cells
        if result.counted is not None and not result.counted.hosts.empty
        for host, busy in _busy(result.counted).items()
        if busy > 0
    )


def in_order(residuals: Iterable[Residual]) -> list[Residual]:
    """Return the cells by the start of their timed run. Cells without a known start are left out."""
    started = [(one.result.verdict.started_at, one) for one in residuals if one.result.verdict]
    return [one for _, one in sorted(((at, one) for at, one in started if at), key=lambda pair: pair[0])]


def _has(result: CellResult) -> bool:
    return result.counted is not None and len(log_ms(judged_series(result.counted))) > 0


def _residuals(figures: Iterable[tuple[CellResult, str | None, float]]) -> tuple[Residual, ...]:
    alike: dict[tuple[str, int], list[tuple[CellResult, str | None, float]]] = {}
    for result, host, value in figures:
        alike.setdefault((result.cell.variant, result.cell.load_ops_s), []).append((result, host, value))
    return tuple(
        Residual(result, host, (value - mean) * widened, widened)
        for own in alike.values()
        if len(own) > 1
        for mean in [sum(value for _, _, value in own) / len(own)]
        for widened in [sqrt(len(own) / (len(own) - 1))]
        for result, host, value in own
    )


def _busy(attempt: AttemptData) -> Mapping[str, float]:
    nodes = attempt.hosts[~attempt.hosts["host"].map(is_load_host).astype(bool)]
    return dict(zip(nodes["host"], nodes["cpu_busy"].astype(float), strict=True))
