"""Percentiles of a synthetic cell, by interval: those of a queue, multiplied by the plan's factors."""

from datetime import timedelta
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from tests.support.campaigns.synthetic.plan import Plan

from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition

Floats = NDArray[np.float64]


def quiet(rng: np.random.Generator, starts: Floats, utilisation: float, bound_ms: float) -> Floats:
    """Return the p99.9 by interval, ms, of a cell in which nothing happens, with its decaying warm-up."""
    settled = 0.02 * bound_ms / (1.05 - min(utilisation, 1.0)) * rng.lognormal(0, 0.18, len(starts))
    cold = 1 + 6 * np.exp(-starts / (0.02 * (starts[-1] + 1)))
    found: Floats = np.minimum(settled * cold, np.where(starts < 0.2 * starts[-1], np.inf, 0.85 * bound_ms))
    return found


def factors(definition: Definition, plan: Plan, cell: Cell, starts: Floats) -> Floats:
    """Return the plan's factors on the cell's percentiles, by interval, beside variant and load."""
    last = len(grid(resolve(definition))) - 1
    warmup_s = definition.timing.warmup / timedelta(seconds=1)
    judged_s = max(starts[-1] - warmup_s, 1.0)  # of one interval nothing is known but its start
    share = np.clip((starts - warmup_s) / judged_s, 0, 1)
    spread = np.random.default_rng([plan.seed, crc32(cell.id.encode()), 99]).normal(0, 1) * plan.run_spread
    whole = plan.slow_cells.get(cell.id, 1.0) * plan.slow_zones.get(zone_of(plan, cell), 1.0)
    logs = np.log(whole) + spread + np.log(plan.order_change) * position(definition, cell) / max(1, last)
    drifts, jumps = np.log(plan.drifts.get(cell.id, 1.0)), np.log(plan.jumps.get(cell.id, 1.0))
    found: Floats = np.exp(logs + drifts * share + jumps * (share > 0.6))
    return found


def planted_intervals(
    rng: np.random.Generator, definition: Definition, plan: Plan, cell: Cell, judged: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the judged intervals that are to miss."""
    capacity = plan.capacities[cell.variant]
    if cell.load_ops_s <= capacity:
        return judged[:0]
    beyond = (cell.load_ops_s - capacity) / max(definition.loads)
    count = max(1, rng.binomial(len(judged), min(0.9, beyond**2 + 0.002)))
    return np.sort(rng.choice(judged, count, replace=False))


def position(definition: Definition, cell: Cell) -> int:
    """Return the cell's place in the running order: one block per repeat, shuffled by the definition's seed."""
    block = [one.id for one in grid(resolve(definition)) if one.repeat == 1]
    order = np.random.default_rng([definition.seed, cell.repeat]).permutation(len(block))
    first = f"{cell.id.rpartition('-')[0]}-r1"
    return (cell.repeat - 1) * len(block) + int(order[block.index(first)])


def zone_of(plan: Plan, cell: Cell) -> str:
    """Return the zone in which the cell ran."""
    zones = ["eu-west-1a", *plan.slow_zones]
    return zones[crc32(cell.id.encode()) // 7 % len(zones)]
