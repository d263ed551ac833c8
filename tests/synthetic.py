"""A synthetic campaign with known truth: what the analysis must find and the report must draw.

Every interval's percentiles come from a queue's shape (1 / (1 - utilisation)) with noise and a decaying warm-up. Up to
a variant's planted capacity no judged interval reaches the bound; at each higher load some do, each because of one
planted stop-the-world pause, unless the plan names another culprit. Same arguments, same campaign.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plimsoll.analysis.campaign import AttemptData, CampaignData
from plimsoll.analysis.coincidence import Occurrence, Occurrences, coincidence_frame
from plimsoll.domain.cell import AttemptKey, Cell, grid
from plimsoll.domain.definition import Definition
from plimsoll.domain.fingerprint import Fingerprint, HostFacts, JvmFacts, NodeFingerprint
from plimsoll.domain.result import Check, LevelVerdict, Percentiles, Verdict
from plimsoll.domain.variant import Variant
from plimsoll.services.definitions import dump_definition

GENERATED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
AZUL_CAPACITIES: Mapping[str, int] = {"prime": 100_000, "g1": 0, "cms": 0, "shenandoah": 50_000, "zgc": 40_000}
DEMO_CAPACITIES: Mapping[str, int] = {"g1": 200, "shenandoah": 1_500}

BACKGROUND: Mapping[str, float] = {"compaction": 0.2, "flush": 0.1, "cpu": 0.03, "steal": 0.02, "generator_pause": 0.01}

Floats = NDArray[np.float64]
_SHAPE = {"p50_ms": 0.06, "p90_ms": 0.2, "p99_ms": 0.55, "p99_9_ms": 1.0, "max_ms": 1.7}
_KINDS = {
    "G1": "Pause Young (Normal) (G1 Evacuation Pause)",
    "CMS": "Pause Young (Allocation Failure)",
    "C4": "Pause Checkpoint",
    "Shenandoah": "Pause Final Mark",
    "ZGC": "Pause Mark Start",
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


def azul_definition(**changes: object) -> Definition:
    """The published shape: five variants, eleven loads, five repeats, 900 intervals of which 720 are judged."""
    collectors = {"prime": "C4", "g1": "G1", "cms": "CMS", "shenandoah": "Shenandoah", "zgc": "ZGC"}
    content: dict[str, object] = {
        "name": "azul-2022",
        "title": "Apache Cassandra 4.0.1 on five JVM configurations",
        "description": "A synthetic campaign in the published shape.\nNothing in it was measured.",
        "system": {"version": "4.0.1"},
        "variants": [_variant(name, collector, "40G") for name, collector in collectors.items()],
        "control": "g1",
        "loads": {"from": "20000/s", "to": "120000/s", "step": "10000/s"},
        "repeats": 5,
        "timing": {"duration": "150m", "warmup": "30m"},
        "service_levels": [{"percentile": 99.9, "interval": "10s", "below": "100ms"}],
    }
    return Definition.model_validate(content | changes)


def demo_definition(**changes: object) -> Definition:
    """Two variants, two loads, one repeat, three warm-up and six judged intervals."""
    content: dict[str, object] = {
        "name": "demo",
        "title": "G1 and Shenandoah on one machine",
        "system": {"version": "4.0.1"},
        "variants": [_variant("g1", "G1", "512M"), _variant("shenandoah", "Shenandoah", "512M")],
        "control": "g1",
        "loads": ["200/s", "1500/s"],
        "repeats": 1,
        "timing": {"duration": "90s", "warmup": "30s"},
    }
    return Definition.model_validate(content | changes)


def synthetic_campaign(definition: Definition, plan: Plan) -> CampaignData:
    """Stored results of every cell, as the store would give them."""
    attempts = [
        attempt
        for cell in grid(definition)
        if cell.id not in plan.not_run
        for attempt in _attempts(definition, plan, cell)
    ]
    return CampaignData(
        campaign_id=f"{definition.name}-20260301",
        definition=definition,
        attempts=tuple(attempts),
        quality=plan.quality,
        generated_at=GENERATED_AT,
        definition_yaml=dump_definition(definition),
    )


def azul_campaign(seed: int = 1) -> CampaignData:
    """275 cells with two invalid ones, one that was retried, one not run and one odd kernel."""
    plan = Plan(
        AZUL_CAPACITIES,
        invalid={"shenandoah-060k-r4", "zgc-100k-r2"},
        retried={"g1-040k-r3"},
        not_run={"cms-120k-r5"},
        odd_kernels={"zgc-030k-r2"},
        seed=seed,
    )
    return synthetic_campaign(azul_definition(), plan)


def demo_campaign(seed: int = 1) -> CampaignData:
    """Four valid cells of nine intervals: G1 misses at the higher load."""
    return synthetic_campaign(demo_definition(), Plan(DEMO_CAPACITIES, saturation_ops_s=4_000.0, seed=seed))


def _variant(name: str, collector: str, heap: str) -> dict[str, object]:
    jdk = "prime-11.0.13" if collector == "C4" else "openjdk-11.0.13"
    title = "Azul Prime 11.0.13 (C4)" if collector == "C4" else f"OpenJDK 11.0.13 {collector}"
    return {"id": name, "title": title, "jvm": {"jdk": jdk, "collector": collector, "heap": heap}}


def _attempts(definition: Definition, plan: Plan, cell: Cell) -> list[AttemptData]:
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
    p99_9 = _quiet(rng, starts, rate / plan.saturation_ops_s, level.bound_ms)
    p99_9 = np.minimum(p99_9 * _factors(definition, plan, cell, starts), 0.98 * level.bound_ms)
    missed = _planted(rng, definition, plan, cell, np.flatnonzero(judged))
    p99_9[missed] = level.bound_ms * (1.1 + rng.exponential(0.8, len(missed)))
    intervals = _intervals(rng, definition, starts, rate, p99_9)
    collector = definition.variant(cell.variant).jvm.collector
    planted = starts[missed] + step / 3, p99_9[missed] * 0.96
    culprit = plan.culprits.get(cell.variant, "pause")
    none = planted[0][:0], planted[1][:0]
    pauses = _pauses(
        rng, starts[-1] + step, plan.pauses_per_s, planted if culprit == "pause" else none, _KINDS[collector]
    )
    fingerprint = _fingerprint(
        definition.variant(cell.variant), odd=cell.id in plan.odd_kernels, zone=_zone(plan, cell)
    )
    return AttemptData(
        verdict=_verdict(definition, cell, number, intervals, rate),
        fingerprint=fingerprint,
        intervals=intervals,
        pauses=pauses,
        coincidences=coincidence_frame(
            intervals, _happened(rng, plan.chance, starts, {culprit: planted[0]}, pauses), level.bound_ms
        ),
        jvms=_jvms(rng, definition, cell),
        hosts=_hosts(rng, plan, cell),
    )


def _quiet(rng: np.random.Generator, starts: Floats, utilisation: float, bound_ms: float) -> Floats:
    settled = 0.02 * bound_ms / (1.05 - min(utilisation, 1.0)) * rng.lognormal(0, 0.18, len(starts))
    cold = 1 + 6 * np.exp(-starts / (0.02 * (starts[-1] + 1)))
    quiet: Floats = np.minimum(settled * cold, np.where(starts < 0.2 * starts[-1], np.inf, 0.85 * bound_ms))
    return quiet


def _planted(
    rng: np.random.Generator, definition: Definition, plan: Plan, cell: Cell, judged: NDArray[np.intp]
) -> NDArray[np.intp]:
    capacity = plan.capacities[cell.variant]
    if cell.load_ops_s <= capacity:
        return judged[:0]
    beyond = (cell.load_ops_s - capacity) / max(definition.loads)
    count = max(1, rng.binomial(len(judged), min(0.9, beyond**2 + 0.002)))
    return np.sort(rng.choice(judged, count, replace=False))


def _intervals(
    rng: np.random.Generator, definition: Definition, starts: Floats, rate: float, p99_9: Floats
) -> pd.DataFrame:
    level, share = definition.service_levels[0], definition.workload.read_share
    step = level.interval / timedelta(seconds=1)
    judged = np.tile(starts >= definition.timing.warmup / timedelta(seconds=1), 3)
    of_all = np.repeat([True, False, False], len(starts))
    rates = np.outer((1.0, share, 1 - share), rate * rng.normal(1, 0.0005, len(starts))).ravel()
    worst = np.outer((1.0, 1.1, 0.97), p99_9).ravel()
    return pd.DataFrame(
        {
            "start_s": np.tile(starts, 3),
            "duration_s": step,
            "phase": np.where(judged, "judged", "warm-up"),
            "operation": np.repeat(["all", "reads", "writes"], len(starts)),
            "count": (rates * step).astype(np.int64),
            "rate_ops_s": rates,
            **{name: worst * factor for name, factor in _SHAPE.items()},
            "judged_ms": np.where(judged, worst, np.nan),
            "met": pd.arrays.BooleanArray(worst < level.bound_ms, ~(judged & of_all)),
        }
    )


def _happened(
    rng: np.random.Generator,
    chance: Mapping[str, float],
    starts: Floats,
    planted: Mapping[str, Floats],
    pauses: pd.DataFrame,
) -> Occurrences:
    """Pauses as they are, other causes by chance and, the culprit, at its planted times."""
    lengths = zip(pauses["start_s"], pauses["stopped_ms"], pauses["host"], strict=True)
    found = {"pause": [Occurrence(start, start + ms / 1000, ms, host, ms / 1000) for start, ms, host in lengths]}
    for cause, share in chance.items():
        by_chance = starts[rng.random(len(starts)) < share] + 1.0
        times = np.concatenate([by_chance, planted.get(cause, starts[:0])])
        found[cause] = [Occurrence(at, at + 0.5, 5000.0, "node2") for at in times]
    return found


def _position(definition: Definition, cell: Cell) -> int:
    """When the cell ran: blocks of one repeat each, shuffled by the definition's seed."""
    block = [one.id for one in grid(definition) if one.repeat == 1]
    order = np.random.default_rng([definition.seed, cell.repeat]).permutation(len(block))
    first = f"{cell.id.rpartition('-')[0]}-r1"
    return (cell.repeat - 1) * len(block) + int(order[block.index(first)])


def _zone(plan: Plan, cell: Cell) -> str:
    zones = ["eu-west-1a", *plan.slow_zones]
    return zones[crc32(cell.id.encode()) // 7 % len(zones)]


def _factors(definition: Definition, plan: Plan, cell: Cell, starts: Floats) -> Floats:
    """What else than variant and load makes the cell's percentiles higher, by interval."""
    last = len(grid(definition)) - 1
    warmup_s = definition.timing.warmup / timedelta(seconds=1)
    judged_s = max(starts[-1] - warmup_s, 1.0)  # of one interval nothing is known but its start
    share = np.clip((starts - warmup_s) / judged_s, 0, 1)
    spread = np.random.default_rng([plan.seed, crc32(cell.id.encode()), 99]).normal(0, 1) * plan.run_spread
    whole = plan.slow_cells.get(cell.id, 1.0) * plan.slow_zones.get(_zone(plan, cell), 1.0)
    logs = np.log(whole) + spread + np.log(plan.order_change) * _position(definition, cell) / max(1, last)
    drifts, jumps = np.log(plan.drifts.get(cell.id, 1.0)), np.log(plan.jumps.get(cell.id, 1.0))
    factors: Floats = np.exp(logs + drifts * share + jumps * (share > 0.6))
    return factors


def _hosts(rng: np.random.Generator, plan: Plan, cell: Cell) -> pd.DataFrame:
    names = ["node1", "node2", "node3", "load"]
    odd = np.array([plan.busy_hosts.get((cell.id, name), 1.0) for name in names])
    busy = 0.1 + 0.6 * min(1.0, cell.load_ops_s / plan.saturation_ops_s)
    return pd.DataFrame(
        {
            "host": names,
            "cpu_busy": np.minimum(1, busy * odd * rng.lognormal(0, 0.02, 4)),
            "cpu_steal": rng.exponential(0.0005, 4),
            "cpu_iowait": 0.001,
            "disk_busy": 0.05,
            "network_bytes_s": 2e7,
        }
    )


def _jvms(rng: np.random.Generator, definition: Definition, cell: Cell) -> pd.DataFrame:
    """Allocation grows with the load: 20 KiB an operation, shared by three nodes."""
    judged_s = definition.timing.judged / timedelta(seconds=1)
    heap = definition.variant(cell.variant).jvm.heap
    return pd.DataFrame(
        {
            "host": ["node1", "node2", "node3"],
            "judged_s": judged_s,
            "gc_cpu_share": 0.02 * cell.load_ops_s / 100_000 * rng.uniform(0.9, 1.1, 3),
            "allocated_bytes_s": 20_480 * cell.load_ops_s / 3 * rng.uniform(0.95, 1.05, 3),
            "heap_after_median_bytes": 0.2 * heap,
            "heap_after_max_bytes": 0.4 * heap * rng.uniform(0.9, 1.1, 3),
        }
    )


def _pauses(
    rng: np.random.Generator, duration_s: float, per_s: float, planted: tuple[Floats, Floats], kind: str
) -> pd.DataFrame:
    small = max(4, round(duration_s * per_s))
    begin = np.concatenate([rng.uniform(-20, duration_s, small), planted[0]])
    length = np.concatenate([rng.lognormal(1.5, 0.7, small), planted[1]])
    table = pd.DataFrame(
        {
            "host": rng.choice(["node1", "node2", "node3"], len(begin)),
            "start_s": begin,
            "duration_ms": length,
            "kind": kind,
            "stop_the_world": True,
            "stopped_ms": length,
            "to_safepoint_ms": length * 0.05,
        }
    )
    return table.sort_values("start_s", ignore_index=True)


def _verdict(definition: Definition, cell: Cell, number: int, intervals: pd.DataFrame, rate: float) -> Verdict:
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
        started_at=GENERATED_AT - timedelta(days=30) + _position(definition, cell) * definition.timing.duration,
        checks=(Check(name="none empty", success=True, expected="no empty interval", observed="no empty interval"),),
        code_version="0.1.0",
    )


def _maxima(intervals: pd.DataFrame) -> dict[str, Percentiles]:
    highest = intervals.groupby("operation")[list(_SHAPE)].max()
    rows = highest.to_dict(orient="index").items()
    return {str(name): Percentiles.model_validate(row) for name, row in rows}


def _fingerprint(variant: Variant, *, odd: bool, zone: str) -> Fingerprint:
    host = HostFacts(
        os="Ubuntu 20.04.3 LTS",
        kernel="5.11.0-1028-aws" if odd else "5.11.0-1022-aws",
        cpu_model="Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz",
        cpus=8,
        memory_bytes=66_571_993_088,
        page_size_bytes=4096,
        transparent_huge_pages="madvise",
        provider={"instance type": "r5d.2xlarge", "zone": zone},
    )
    jvm = JvmFacts(
        version="11.0.13+8",
        vendor="Azul Systems, Inc." if variant.jvm.collector == "C4" else "Eclipse Adoptium",
        name="Zing 64-Bit Tiered VM" if variant.jvm.collector == "C4" else "OpenJDK 64-Bit Server VM",
        collector=variant.jvm.collector,
        collector_beans=(f"{variant.jvm.collector} Young",),
        heap_max_bytes=variant.jvm.heap,
        arguments=(f"-Xms{variant.jvm.heap >> 20}M", f"-Xmx{variant.jvm.heap >> 20}M", "-Xlog:gc*:file=/data/n/gc.log"),
        flags={"AlwaysPreTouch": "true", "MaxHeapSize": str(variant.jvm.heap), "ParallelGCThreads": "8"},
    )
    nodes = tuple(_node(number, host, jvm) for number in (1, 2, 3))
    return Fingerprint(nodes=nodes, load_host=host, load_generator="plimsoll-stress 0.1.0 on openjdk-11.0.13")


def _node(number: int, host: HostFacts, jvm: JvmFacts) -> NodeFingerprint:
    return NodeFingerprint(
        host=f"node{number}",
        address=f"127.0.1.{number}",
        facts=host,
        jvm=jvm,
        database="cassandra",
        database_version="4.0.1",
        clock_offset_ms=0.1 * number,
    )
