"""What is planted in a synthetic campaign."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from plimsoll.domain.result import Check

AZUL_CAPACITIES: Mapping[str, int] = {"prime": 100_000, "g1": 0, "cms": 0, "shenandoah": 50_000, "zgc": 40_000}
DEMO_CAPACITIES: Mapping[str, int] = {"g1": 200, "shenandoah": 1_500}
BACKGROUND: Mapping[str, float] = {
    "compaction": 0.2,
    "flush": 0.1,
    "cpu": 0.03,
    "steal": 0.02,
    "generator_pause": 0.01,
    "others": 0.05,
}


@dataclass(frozen=True)
class Plan:
    """What is planted: capacity in ops/s by variant (0: none), and cells that are invalid or were not run."""

    capacities: Mapping[str, int]
    invalid: Collection[str] = ()
    retried: Collection[str] = ()
    not_run: Collection[str] = ()
    odd_kernels: Collection[str] = ()
    saturation_ops_s: float = 112_000.0
    pauses_per_s: float = 0.05
    seed: int = 1
    culprits: Mapping[str, str] = field(default_factory=dict)
    """By variant the cause of its misses: `pause` unless given; `nothing`: none that was collected."""
    chance: Mapping[str, float] = field(default_factory=lambda: BACKGROUND)
    """By cause the share of intervals that it touches by chance, missed or met."""
    order_change: float = 1.0
    """Percentiles of the last cell to run / of the first; so are the following factors by cell, zone or host."""
    drifts: Mapping[str, float] = field(default_factory=dict)
    jumps: Mapping[str, float] = field(default_factory=dict)
    slow_cells: Mapping[str, float] = field(default_factory=dict)
    slow_zones: Mapping[str, float] = field(default_factory=dict)
    busy_hosts: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """By cell and host, processor time / that of its like."""
    run_spread: float = 0.0
    """Standard deviation of a run's log percentile around that of its like."""
    quality: tuple[Check, ...] = field(
        default=(Check(name="matrix complete", success=True, expected="all cells", observed="all cells"),)
    )
