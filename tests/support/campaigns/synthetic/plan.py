"""The properties that are planted in a synthetic campaign."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from plimsoll.domain.attempt.result import Check

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
    """The planted properties: capacities in ops/s by variant (0: none), invalid cells, cells that did not run, …"""

    capacities: Mapping[str, int]
    invalid: Collection[str] = ()
    retried: Collection[str] = ()
    not_run: Collection[str] = ()
    odd_kernels: Collection[str] = ()
    saturation_ops_s: float = 112_000.0
    pauses_per_s: float = 0.05
    seed: int = 1
    culprits: Mapping[str, str] = field(default_factory=dict)
    """The cause of misses by variant; `pause` unless given. `nothing` means a cause that was not collected."""
    chance: Mapping[str, float] = field(default_factory=lambda: BACKGROUND)
    """The share of intervals, missed or met, in which each cause occurs by chance."""
    order_change: float = 1.0
    """Percentiles of the last cell divided by those of the first. The next factors are ratios by cell, zone or host."""
    drifts: Mapping[str, float] = field(default_factory=dict)
    jumps: Mapping[str, float] = field(default_factory=dict)
    slow_cells: Mapping[str, float] = field(default_factory=dict)
    slow_zones: Mapping[str, float] = field(default_factory=dict)
    busy_hosts: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """By cell and host, its processor time divided by that of similar hosts."""
    run_spread: float = 0.0
    """The standard deviation of the logarithm of a run's percentile around that of similar runs."""
    quality: tuple[Check, ...] = field(
        default=(Check(name="matrix complete", success=True, expected="all cells", observed="all cells"),)
    )
