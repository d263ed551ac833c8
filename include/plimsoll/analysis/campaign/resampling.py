"""The uncertainty of a variant's figures at a load: a bootstrap over runs, and in each run over blocks of intervals.

Repeats are drawn with replacement. Of each drawn repeat, circular blocks of neighbouring intervals are drawn, since
neighbours are not independent (Politis and Romano, in Exploring the Limits of Bootstrap (1992); Davison and Hinkley,
Bootstrap Methods and their Application (1997), chapters 3.8 and 8.2). Confidence intervals reach from the 2.5th to the
97.5th percentile. The bootstrap does not work for a *maximum*, so it is applied to means: of log percentiles, and of
misses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated
from zlib import crc32

import numpy as np
from pydantic import Field

from plimsoll.analysis.campaign.series import judged_series
from plimsoll.domain.base import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plimsoll.analysis.campaign.cell_results import CellResult
    from plimsoll.analysis.campaign.series import Series

    Floats = NDArray[np.float64]

DRAWS = 2_000
BLOCK = 30
"""Intervals in a block: five minutes of ten-second intervals; a third of the run where that is shorter."""


class Estimate(Model):
    """A figure with its 95 % bootstrap interval; the interval is null where there is only one repeat."""

    value: float
    low: float | None
    high: float | None


class Typical(Model):
    """The typical figures of one variant at one load, over its valid repeats."""

    variant: str
    load_ops_s: int
    repeats: int
    typical_ms: Annotated[Estimate, Field(description="Geometric mean of the intervals' judged percentile")]
    missed_share: Annotated[Estimate, Field(description="Share of judged intervals that missed")]


def typical_by_load(cells: Iterable[CellResult]) -> tuple[Typical, ...]:
    """Return the typical figures of each variant and load with a valid repeat with intervals, in the cells' order."""
    runs: dict[tuple[str, int], list[Series]] = {}
    for result in cells:
        series = judged_series(result.counted) if result.counted else None
        if series is not None and (series.judged_ms > 0).any():
            runs.setdefault((result.cell.variant, result.cell.load_ops_s), []).append(series)
    return tuple(_typical(variant, load, own) for (variant, load), own in runs.items())


def _typical(variant: str, load: int, runs: Sequence[Series]) -> Typical:
    random = np.random.default_rng(crc32(f"{variant} {load}".encode()))
    # A stall has no percentile: its interval counts as missed, and in the typical value as the run's highest.
    logs = [np.log(np.where(run.judged_ms > 0, run.judged_ms, np.nanmax(run.judged_ms))) for run in runs]
    missed = [run.missed.astype(np.float64) for run in runs]
    middle = _estimate(logs, random)
    return Typical(
        variant=variant,
        load_ops_s=load,
        repeats=len(runs),
        typical_ms=Estimate(**{name: value if value is None else float(np.exp(value)) for name, value in middle}),
        missed_share=_estimate(missed, random),
    )


def _estimate(runs: Sequence[Floats], random: np.random.Generator) -> Estimate:
    """Return the mean over runs of each run's mean, so that one cut short has the same weight as the others."""
    value = float(np.mean([run.mean() for run in runs]))
    if len(runs) < 2:
        return Estimate(value=value, low=None, high=None)
    drawn = np.stack([_block_means(run, random, len(runs)) for run in runs])
    chosen = random.integers(0, len(runs), (DRAWS, len(runs)))
    means = drawn[chosen, np.arange(DRAWS)[:, None], np.arange(len(runs))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(value=value, low=float(low), high=float(high))


def _block_means(run: Floats, random: np.random.Generator, copies: int) -> Floats:
    """Draw DRAWS × `copies` means of resampled runs in circular blocks. The sum of each block is computed only once."""
    block = max(1, min(BLOCK, len(run) // 3))
    around = np.concatenate([run, run[: block - 1]])
    sums = np.convolve(around, np.ones(block), "valid") / block
    starts = random.integers(0, len(run), (DRAWS, copies, -(-len(run) // block)))
    means: Floats = sums[starts].mean(axis=2)
    return means
