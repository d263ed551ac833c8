"""The stored attempts at a synthetic cell."""

from datetime import timedelta
from zlib import crc32

import numpy as np
from tests.support.campaigns.synthetic.fingerprint import fingerprint_of
from tests.support.campaigns.synthetic.plan import Plan
from tests.support.campaigns.synthetic.shape import Floats, factors, planted_intervals, quiet, zone_of
from tests.support.campaigns.synthetic.tables import (
    activity_table,
    happened,
    host_table,
    interval_table,
    jvm_table,
    latency_table,
    pause_table,
)
from tests.support.campaigns.synthetic.verdict import verdict_on

from plimsoll.adapters.products.cassandra.node_files import KINDS as KINDS_OF_EVENTS
from plimsoll.analysis.attempt.coincidence import coincidence_frame
from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition

_KINDS = {
    "G1": "Pause Young (Normal) (G1 Evacuation Pause)",
    "CMS": "Pause Young (Allocation Failure)",
    "C4": "Pause Checkpoint",
    "Shenandoah": "Pause Final Mark",
    "ZGC": "Pause Mark Start",
}


def attempts_at(definition: Definition, plan: Plan, cell: Cell) -> list[AttemptData]:
    """Return the attempts at a cell according to the plan: an invalid one, a valid one, or both."""
    valid = [_attempt(definition, plan, cell, 2 if cell.id in plan.retried else 1)]
    if cell.id in plan.invalid:
        return [_spoilt(valid[0], "node2 was down for 40 s: Connection refused")]
    if cell.id in plan.retried:
        return [
            _spoilt(_attempt(definition, plan, cell, 1), "errors were 1.2 % of operations (allowed: 0.1 %)"),
            *valid,
        ]
    return valid


def _spoilt(attempt: AttemptData, reason: str) -> AttemptData:
    verdict = attempt.verdict.model_copy(update={"valid": False, "met": None, "reasons": (reason,), "levels": ()})
    return AttemptData(verdict, attempt.fingerprint, attempt.intervals, attempt.pauses)


def _attempt(definition: Definition, plan: Plan, cell: Cell, number: int) -> AttemptData:
    rng = np.random.default_rng([plan.seed, crc32(cell.id.encode()), number])
    level, timing = definition.service_levels[0], definition.timing
    step = level.interval / timedelta(seconds=1)
    starts: Floats = np.arange(0, timing.duration / timedelta(seconds=1), step)
    judged = starts >= timing.warmup / timedelta(seconds=1)
    rate = min(float(cell.load_ops_s), plan.saturation_ops_s * rng.uniform(0.98, 1.0))
    p99_9 = quiet(rng, starts, rate / plan.saturation_ops_s, level.bound_ms)
    p99_9 = np.minimum(p99_9 * factors(definition, plan, cell, starts), 0.98 * level.bound_ms)
    missed = planted_intervals(rng, definition, plan, cell, np.flatnonzero(judged))
    p99_9[missed] = level.bound_ms * (1.1 + rng.exponential(0.8, len(missed)))
    intervals = interval_table(rng, definition, starts, rate, p99_9)
    jvm = resolve(definition).variant(cell.variant).jvm
    assert jvm is not None, "what is made up runs on JVMs"
    planted = starts[missed] + step / 3, p99_9[missed] * 0.96
    culprit = plan.culprits.get(cell.variant, "pause")
    none = planted[0][:0], planted[1][:0]
    pauses = pause_table(
        rng, starts[-1] + step, plan.pauses_per_s, planted if culprit == "pause" else none, _KINDS[jvm.collector]
    )
    fingerprint = fingerprint_of(
        resolve(definition).variant(cell.variant), odd=cell.id in plan.odd_kernels, zone=zone_of(plan, cell)
    )
    return AttemptData(
        verdict=verdict_on(definition, cell, number, intervals, rate),
        fingerprint=fingerprint,
        intervals=intervals,
        pauses=pauses,
        coincidences=coincidence_frame(
            intervals,
            happened(rng, plan.chance, starts, {culprit: planted[0]}, pauses),
            level.bound_ms,
            KINDS_OF_EVENTS,
        ),
        jvms=jvm_table(rng, definition, cell),
        hosts=host_table(rng, plan, cell),
        latencies=latency_table(intervals),
        activity=activity_table(rng, starts, rate / plan.saturation_ops_s),
    )
