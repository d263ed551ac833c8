"""The tables that judging a synthetic cell would have left."""

from collections.abc import Mapping
from datetime import timedelta

import numpy as np
import pandas as pd
from tests.support.campaigns.synthetic.plan import Plan
from tests.support.campaigns.synthetic.shape import Floats

from plimsoll.analysis.attempt.coincidence import Occurrence, Occurrences
from plimsoll.analysis.attempt.latencies import STEPS
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition

SHAPE = {"p50_ms": 0.06, "p90_ms": 0.2, "p99_ms": 0.55, "p99_9_ms": 1.0, "max_ms": 1.7}


def interval_table(
    rng: np.random.Generator, definition: Definition, starts: Floats, rate: float, p99_9: Floats
) -> pd.DataFrame:
    """Return the table of intervals of all operations, of reads and of writes, one row per interval."""
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
            **{name: worst * factor for name, factor in SHAPE.items()},
            "judged_ms": worst,
            "met": pd.arrays.BooleanArray(worst < level.bound_ms, ~(judged & of_all)),
        }
    )


def pause_table(
    rng: np.random.Generator, duration_s: float, per_s: float, planted: tuple[Floats, Floats], kind: str
) -> pd.DataFrame:
    """Return the table of pauses: small ones at random times, and the planted ones."""
    small = max(4, round(duration_s * per_s))
    begin = np.concatenate([rng.uniform(-20, duration_s, small), planted[0]])
    length = np.concatenate([rng.lognormal(1.5, 0.7, small), planted[1]])
    table = pd.DataFrame(
        {
            "host": rng.choice(["node1", "node2", "node3"], len(begin)),
            "process": "cassandra",
            "start_s": begin,
            "duration_ms": length,
            "kind": kind,
            "stop_the_world": True,
            "stopped_ms": length,
            "to_safepoint_ms": length * 0.05,
        }
    )
    return table.sort_values("start_s", ignore_index=True)


def happened(
    rng: np.random.Generator,
    chance: Mapping[str, float],
    starts: Floats,
    planted: Mapping[str, Floats],
    pauses: pd.DataFrame,
) -> Occurrences:
    """Tell when causes occurred: pauses as in the table, others by chance, and the planted cause at its planted
    times.
    """
    lengths = zip(pauses["start_s"], pauses["stopped_ms"], pauses["host"], strict=True)
    found = {
        "pause": [Occurrence(start, start + ms / 1000, ms, host, ms / 1000, "cassandra") for start, ms, host in lengths]
    }
    for cause, share in chance.items():
        by_chance = starts[rng.random(len(starts)) < share] + 1.0
        times = np.concatenate([by_chance, planted.get(cause, starts[:0])])
        found[cause] = [Occurrence(at, at + 0.5, 5000.0, "node2") for at in times]
    return found


def host_table(rng: np.random.Generator, plan: Plan, cell: Cell) -> pd.DataFrame:
    """Return the table of hosts, one row per host. Some are busier than similar hosts."""
    names = ["node1", "node2", "node3", "load"]
    odd = np.array([plan.busy_hosts.get((cell.id, name), 1.0) for name in names])
    busy = 0.1 + 0.6 * min(1.0, cell.load_ops_s / plan.saturation_ops_s)
    return pd.DataFrame(
        {
            "host": names,
            "cpu_busy": np.minimum(1, busy * odd * rng.lognormal(0, 0.02, 4)),
            "cpu_steal": rng.exponential(0.0005, 4),
            "cpu_iowait": 0.001,
            "cpu_others": 0.01,
            "cpu_others_highest": 0.03,
            "disk_busy": 0.05,
            "network_bytes_s": 2e7,
        }
    )


def jvm_table(rng: np.random.Generator, definition: Definition, cell: Cell) -> pd.DataFrame:
    """Return the table of JVMs. Allocation grows with the load: 20 KiB per operation, divided among three nodes."""
    judged_s = definition.timing.judged / timedelta(seconds=1)
    jvm = resolve(definition).variant(cell.variant).jvm
    assert jvm is not None, "what is made up runs on JVMs"
    heap = jvm.heap
    return pd.DataFrame(
        {
            "host": ["node1", "node2", "node3"],
            "process": "cassandra",
            "judged_s": judged_s,
            "gc_cpu_share": 0.02 * cell.load_ops_s / 100_000 * rng.uniform(0.9, 1.1, 3),
            "allocated_bytes_s": 20_480 * cell.load_ops_s / 3 * rng.uniform(0.95, 1.05, 3),
            "heap_after_median_bytes": 0.2 * heap,
            "heap_after_max_bytes": 0.4 * heap * rng.uniform(0.9, 1.1, 3),
            "unread_lines": 0.0,
        }
    )


def latency_table(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return response times by percentile. They grow with 1 / √(1 - percentile), which gives a long tail."""
    judged = intervals[intervals["phase"] == "judged"]
    rows = []
    for operation, own in judged.groupby("operation"):
        count, low = int(own["count"].sum()), float(own["p50_ms"].median())
        for percentile in (*(step for step in STEPS if count * (100 - step) >= 100), 100.0):
            above = count if percentile == 100 else 100 / (100 - percentile)
            rows.append((operation, percentile, low * float(above) ** 0.5, count))
    return pd.DataFrame(rows, columns=["operation", "percentile", "ms", "operations"])


def activity_table(rng: np.random.Generator, starts: Floats, rate_share: float) -> pd.DataFrame:
    """Return the CPU use of four hosts, and the heap and GC pauses of three nodes, in every interval."""
    hosts = [(host, "") for host in ("load", "node1", "node2", "node3")]
    jvms = [(host, "cassandra") for host, _ in hosts[1:]]
    rows = [(start, *place) for start in starts for place in sorted(hosts + jvms)]
    table = pd.DataFrame(rows, columns=["start_s", "host", "process"])
    of_jvm, size = (table["process"] != "").to_numpy(), len(table)
    return table.assign(
        cpu_busy=np.where(of_jvm, np.nan, np.clip(rng.normal(0.2 + 0.6 * rate_share, 0.03, size), 0, 1)),
        heap_bytes=np.where(of_jvm, rng.uniform(2e8, 5e8, size), np.nan),
        stopped_ms=np.where(of_jvm, rng.exponential(20, size), np.nan),
    ).astype(dict.fromkeys(("cpu_busy", "heap_bytes", "stopped_ms"), "float32"))
