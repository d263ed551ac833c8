"""The suites of one attempt: is the measurement sound?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

from plimsoll.domain.units import format_size
from plimsoll.quality.expectation import Expected, Quality, between, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from plimsoll.domain.cell import Cell
    from plimsoll.domain.definition import Definition
    from plimsoll.domain.fingerprint import Fingerprint, NodeFingerprint
    from plimsoll.domain.load_summary import LoadSummary

RATE_TOLERANCE = 0.01
ERROR_LIMIT = 0.001
_STEAL_LIMIT = 0.05
_MEMORY_FLOOR = 0.02
_ORDERED = ("p50_ms", "p90_ms", "p99_ms", "p99_9_ms", "max_ms")


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured in one attempt. `samples`: the hosts' figures, a row a second; empty where none were taken."""

    intervals: pd.DataFrame
    summary: LoadSummary
    fingerprint: Fingerprint
    samples: pd.DataFrame


def check_attempt(definition: Definition, cell: Cell, measured: Measured) -> Quality:
    """Every check of the attempt, with its Data Docs: intervals, run and environment."""
    import pandas as pd

    from plimsoll.quality.engine import validate

    judged = measured.intervals.query("phase == 'judged' and operation == 'all'")
    run = pd.DataFrame([_run_facts(definition, measured)])
    nodes = pd.DataFrame([_node_facts(node) for node in measured.fingerprint.nodes])
    return joined(
        {
            "intervals": validate("intervals", intervals_suite(definition), judged),
            "run": validate("run", run_suite(definition), run),
            "environment": validate("environment", environment_suite(definition, cell), nodes),
        }
    )


def intervals_suite(definition: Definition) -> Sequence[Expected]:
    """Expected of the judged intervals, one row each."""
    planned = definition.timing.judged // definition.service_levels[0].interval
    return (
        Expected(
            "intervals",
            "ExpectTableRowCountToEqual",
            {"value": planned},
            f"{planned} judged intervals",
        ),
        Expected(
            "operations",
            "ExpectColumnValuesToBeBetween",
            between("count", 1, None),
            "operations in every interval",
        ),
        # Great Expectations passes over missing values everywhere else.
        *(
            Expected(
                f"{column} known", "ExpectColumnValuesToNotBeNull", {"column": column}, f"{column} of each interval"
            )
            for column in ("count", *_ORDERED)
        ),
        *(
            Expected(
                f"{low} ≤ {high}",
                "ExpectColumnPairValuesAToBeGreaterThanB",
                {"column_A": high, "column_B": low, "or_equal": True},
                "percentiles in order",
            )
            for low, high in pairwise(_ORDERED)
        ),
    )


def run_suite(definition: Definition) -> Sequence[Expected]:
    """Expected of the run as a whole, one row."""
    asked = definition.workload.read_share
    return (
        Expected(
            "nodes",
            "ExpectColumnValuesToBeInSet",
            {"column": "nodes", "value_set": [definition.system.nodes]},
            f"{definition.system.nodes} nodes",
        ),
        Expected(
            "load generator",
            "ExpectColumnValuesToBeInSet",
            {"column": "generator_fell_short", "value_set": [0]},
            "a rate not achieved because of the database, not because of the load generator",
        ),
        Expected(
            "rate",
            "ExpectColumnValuesToBeBetween",
            between("achieved_share", 1 - RATE_TOLERANCE, None),
            f"achieved within {RATE_TOLERANCE:.0%} of attempted",
            severity="warning",
        ),
        Expected(
            "errors",
            "ExpectColumnValuesToBeBetween",
            between("error_share", 0, ERROR_LIMIT, strictly_below=True),
            f"less than {ERROR_LIMIT:.1%} of operations failed",
            severity="warning",
        ),
        Expected(
            "mix",
            "ExpectColumnValuesToBeBetween",
            between("mix_deviations", 0, 5),
            f"a read share of {asked:g}, within 5 standard deviations of a random choice",
        ),
        Expected(
            "memory",
            "ExpectColumnValuesToBeBetween",
            between("memory_available_share", _MEMORY_FLOOR, None),
            f"at least {_MEMORY_FLOOR:.0%} of the hosts' memory available all the time",
        ),
        Expected(
            "steal",
            "ExpectColumnValuesToBeBetween",
            between("steal_share", None, _STEAL_LIMIT),
            f"less than {_STEAL_LIMIT:.0%} of processor time stolen by other machines",
            severity="warning",
        ),
    )


def environment_suite(definition: Definition, cell: Cell) -> Sequence[Expected]:
    """Expected of what really ran, one row a node."""
    variant = definition.variant(cell.variant)
    wanted: dict[str, tuple[object, str]] = {
        "collector": (variant.jvm.collector, variant.jvm.collector),
        "heap_bytes": (variant.jvm.heap, f"a heap of {format_size(variant.jvm.heap)}"),
        "jdk": (variant.jvm.jdk_version, f"JDK {variant.jvm.jdk_version}"),
        "database": (definition.database_version(variant), f"version {definition.database_version(variant)}"),
    }
    return [
        Expected(column, "ExpectColumnValuesToBeInSet", {"column": column, "value_set": [value]}, meaning)
        for column, (value, meaning) in wanted.items()
    ]


def _run_facts(definition: Definition, measured: Measured) -> dict[str, float]:
    summary = measured.summary
    share = (summary.achieved_ops_s or 0.0) / summary.attempted_ops_s if summary.attempted_ops_s else 0.0
    return {
        "nodes": len(measured.fingerprint.nodes),
        "achieved_share": share,
        "generator_fell_short": int(share < 1 - RATE_TOLERANCE and not was_blocked(definition, summary)),
        "error_share": error_share(summary),
        "mix_deviations": _mix_deviations(definition.workload.read_share, summary),
        **_host_facts(measured),
    }


def was_blocked(definition: Definition, summary: LoadSummary) -> bool:
    """Whether the generator had as many queries in flight as it may: then it waited for the database."""
    generator = definition.load_generator
    cap = generator.threads * generator.concurrency
    # Threads reach their own caps at different times, so the sum rarely stands at the very cap.
    return summary.in_flight_max is not None and summary.in_flight_max >= 0.9 * cap


def error_share(summary: LoadSummary) -> float:
    """Failed operations among all of the judged time."""
    return summary.failed / summary.total if summary.total else 0.0


def _mix_deviations(asked: float, summary: LoadSummary) -> float:
    total = sum(summary.operations.values())
    deviation = sqrt(asked * (1 - asked) * total)
    difference = abs(summary.operations.get("reads", 0) - asked * total)
    return difference / deviation if deviation else difference


def _host_facts(measured: Measured) -> dict[str, float]:
    """Hosts that were not sampled are not blamed."""
    if measured.samples.empty:
        return {"memory_available_share": 1.0, "steal_share": 0.0}
    memory = measured.fingerprint.load_host.memory_bytes
    return {
        "memory_available_share": float(measured.samples["memory_available_bytes"].min()) / memory,
        "steal_share": float(measured.samples["cpu_steal"].mean()),
    }


def _node_facts(node: NodeFingerprint) -> dict[str, object]:
    return dict(_node_columns(node))


def _node_columns(node: NodeFingerprint) -> Iterator[tuple[str, object]]:
    yield "host", node.host
    yield "collector", node.jvm.collector or "unknown"
    # The flag, not the memory pool's maximum: that leaves out a survivor space under some collectors.
    yield "heap_bytes", int(node.jvm.flags.get("MaxHeapSize", node.jvm.heap_max_bytes))
    yield "jdk", node.jvm.version.partition("+")[0]
    yield "database", node.database_version
