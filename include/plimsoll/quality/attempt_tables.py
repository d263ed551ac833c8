"""The tables that an attempt's suites check, made from its measurements.

Compare versions of JDKs as people write them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf, nan, sqrt

import pandas as pd

from plimsoll.analysis.attempt.disturbance import Collected, disturbed, is_known
from plimsoll.analysis.attempt.hosts import Span, by_host, mean_of, means, others_highest, spans
from plimsoll.analysis.campaign.cell_results import PERCENTILES
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.hosts.cluster import load_host_name
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.process import Process, by_prefix
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.quality.attempt_checks import MeasuredAttempt, TimedAttempt
from plimsoll.quality.miss_cause import error_share, foreign_error_share, held_back_by


def same_precision(running: str, requested: str) -> str:
    """Return a running JVM's version with as many parts as the requested one: 11.0.13 of 11.0.13+8 if asked for that.

    Up to JDK 8 a JVM reports 1.8.0_252-b09 where people write 8.0.252.
    """
    numbers = re.split(r"[._]", re.split(r"[+-]", running)[0])
    modern = numbers[1:] if numbers[0] == "1" else numbers
    return ".".join(modern[: len(requested.split("."))])


COMPLETE = "complete"
NONE = "none"
UNKNOWN = "unknown"
NOTHING_MISSED = "no interval missed"
NOT_TOLD = {"jvm": "JVM", "flags": "JVM flags", "hardware": "hardware", "logs": "logs and GC logs"}
"""What the nodes of an external cluster do not tell: column → words."""
UNDISTURBED = "a missed interval without noise beyond the bounds"


def timeline(part: Part, measured: TimedAttempt) -> pd.DataFrame:
    """Return a table with one row per judged interval.

    `gap_s` is the time between the interval and the one before, or the end of warm-up. `count` is null in a stall and
    where every operation failed, because it has no meaning there.
    """
    table = _judged(measured)[["start_s", "duration_s", "count", "failed"]].sort_values("start_s")
    interval_s = part.service_levels[0].interval.total_seconds()
    ends_before = (table["start_s"] + interval_s).shift(fill_value=part.timing.warmup.total_seconds())
    return table.assign(
        gap_s=table["start_s"] - ends_before,
        unknown=table.isna().sum(axis="columns"),
        count=table["count"].mask(
            table["start_s"].isin(measured.stalls_s) | ((table["count"] == 0) & (table["failed"] > 0))
        ),
    )


def percentiles(measured: TimedAttempt) -> pd.DataFrame:
    """Return a table: a row per interval and operation with a count. `unknown` is the number of missing percentiles."""
    counted = measured.intervals[measured.intervals["count"] > 0]
    table = counted[["start_s", "operation", *PERCENTILES]]
    return table.assign(unknown=table.isna().sum(axis="columns"))


def run(part: Part, cell: Cell, measured: MeasuredAttempt) -> pd.DataFrame:
    """Return a table with one row on the run as a whole. NaN: not known."""
    summary, workload, judged = measured.summary, part.workload, _judged(measured)
    seconds, cpu_share = float(judged["duration_s"].sum()), _cpu_share(measured)
    achieved_share = float(judged["count"].sum()) / seconds / cell.load_ops_s if seconds else 0.0
    attempted = cell.load_ops_s * part.timing.judged.total_seconds()
    # Of each operation among all, by the part, or by the load generator's own settings
    requested = {"reads": workload.read_share} if workload.states_read_share else summary.shares
    row = {
        "ended": COMPLETE if summary.complete else summary.reason or "not complete",
        # Where somebody else runs them nobody looked.
        "nodes_down": "; ".join(measured.nodes_down) or NONE if "nodes" in part.knows else None,
        "achieved_share": achieved_share,
        "held_back_by": held_back_by(
            part,
            summary,
            attempted=attempted,
            achieved_share=achieved_share,
            cpu_share=cpu_share,
            # `met` is None where an interval was not judged
            was_slow=bool(measured.intervals["met"].eq(other=False).any()),
        ),
        "error_share": error_share(summary),
        "foreign_error_share": foreign_error_share(summary),
        "mix_deviations": mix_deviations(requested, summary),
        "generator_cpu_share": nan if cpu_share is None else cpu_share,
        "schedule_lag_ms": known(summary.schedule_lag_p99_ms),
        "hiccup_ms": known(summary.hiccup_max_ms),
        "opening_backlog_s": known(measured.opening_backlog.seconds if measured.opening_backlog else None),
        "disturbed": _disturbed(part, cell, measured),
    }
    return pd.DataFrame([row])


def reported_nodes(measured: MeasuredAttempt) -> pd.DataFrame:
    """Return a table with one row per node of an external cluster. Null: the database does not tell."""
    untold = not_told(measured)
    rows = [
        {"host": node.address, "version": node.release_version or None, **dict.fromkeys(untold)}
        for node in measured.fingerprint.reported_nodes
    ]
    return pd.DataFrame(rows, columns=["host", "version", *untold], dtype=object)


def not_told(measured: MeasuredAttempt) -> dict[str, str]:
    """Return column → words of what nobody knows of an external cluster, whose machines may have been looked at."""
    looked_at = len(measured.fingerprint.nodes) >= len(measured.fingerprint.reported_nodes)
    reads_logs = any(process.log and process.gc_log for process in measured.processes)
    known = ({"hardware", "logs"} if reads_logs else {"hardware"}) if looked_at else set()
    return {column: words for column, words in NOT_TOLD.items() if column not in known}


def nodes(measured: MeasuredAttempt) -> pd.DataFrame:
    """Return a table: one row per node: what runs there, in the definition's terms, including the JVMs of processes."""
    declared = by_prefix(measured.processes)
    rows = [
        {
            "host": node.host,
            **_processes(declared, node, is_first=number == 0),
            "product": node.database,
            "version": node.database_version,
        }
        for number, node in enumerate(measured.fingerprint.nodes)
    ]
    of_processes = [f"{prefix}{name}" for prefix, process in declared.items() for name in _process(process, None)]
    return pd.DataFrame(rows, columns=["host", *of_processes, "product", "version"])


def hosts(part: Part, measured: MeasuredAttempt) -> pd.DataFrame:
    """Return a row per sampled host: shares over judged intervals. `others_share` is the highest of any.

    `memory_share` is of hosts of the cell's own alone, `their_memory_share` of machines of an external cluster.
    """
    ran, within = measured.fingerprint, _judged_spans(part, measured)
    external = {node.host for node in ran.nodes} if ran.reported_nodes else set[str]()
    facts = ran.load_hosts | {node.host: node.facts for node in ran.nodes}
    memory = {host: host_facts.memory_bytes for host, host_facts in facts.items()}
    others = others_highest(measured.samples, within, measured.ahead_ms)
    rows = [
        {
            "host": host,
            "memory_share": nan if host in external else available,
            "their_memory_share": available if host in external else nan,
            "steal_share": mean_of(means(own, "cpu_steal", within)),
            "others_share": others[host],
        }
        for host, own in by_host(measured.samples, measured.ahead_ms)
        if not (judged := own[_touches(own, within)]).empty
        for available in [float(judged["memory_available_bytes"].min()) / memory.get(host, nan)]
    ]
    of_theirs = () if "nodes" in part.knows else ("their_memory_share",)
    return pd.DataFrame(rows, columns=["host", "memory_share", *of_theirs, "steal_share", "others_share"])


def _judged_spans(part: Part, measured: MeasuredAttempt) -> tuple[Span, ...]:
    started_at, timing = measured.summary.started_at, part.timing
    if started_at is None:
        return ()
    return spans(started_at + timing.warmup, started_at + timing.duration, part.service_levels[0].interval)


def _touches(own: pd.DataFrame, within: tuple[Span, ...]) -> pd.Series[bool]:
    """Mark the samples that hold for a part of these intervals, which follow each other."""
    # Nobody knows when the judged time was, so every sample counts
    if not within:
        return pd.Series(data=True, index=own.index)
    return (own["end_s"] > within[0].begin_s) & (own["begin_s"] < within[-1].end_s)


def mix_deviations(requested: Mapping[str, float], summary: LoadSummary) -> float:
    """Tell how far the mix of answered operations is from the requested shares, at most: in standard deviations of a
    random choice. Failed operations may all have been of one kind, so the count may differ by their number in addition.
    """
    total = sum(summary.operations.values())
    if not total or not requested:
        return nan
    return max(
        _deviations(summary.operations.get(name, 0), share, total, summary.failed) for name, share in requested.items()
    )


def _deviations(counted: int, share: float, total: int, failed: int) -> float:
    difference = max(0.0, abs(counted - share * total) - failed)
    deviation = sqrt(share * (1 - share) * total)
    return difference / deviation if deviation else (inf if difference else 0.0)


def _judged(measured: TimedAttempt) -> pd.DataFrame:
    intervals = measured.intervals
    return intervals[(intervals["phase"] == "judged") & (intervals["operation"] == ALL_OPERATIONS)]


def _cpu_share(measured: MeasuredAttempt) -> float | None:
    """Return the CPU share of the load host with the largest one."""
    cpus = measured.fingerprint.load_hosts
    summaries = measured.summaries or {load_host_name(1): measured.summary}
    shares = [
        summary.cpu_cores / cpus[host].cpus
        for host, summary in summaries.items()
        if summary.cpu_cores is not None and host in cpus
    ]
    return max(shares) if len(shares) == len(summaries) else None


def _disturbed(part: Part, cell: Cell, measured: MeasuredAttempt) -> str | None:
    """Tell what disturbed every missed interval, or why the outcome stands; None where no noise could be seen."""
    if not measured.missed:
        return NOTHING_MISSED
    started_at = measured.summary.started_at
    if started_at is None:
        return None
    collected = Collected(started_at, measured.samples, measured.seconds, measured.ahead_ms, cell.load_ops_s)
    disturbance = disturbed(measured.missed, collected, part.disturbance)
    return disturbance.sentence if disturbance else UNDISTURBED if is_known(collected) else None


def _processes(declared: Mapping[str, Process], node: NodeFingerprint, *, is_first: bool) -> dict[str, object]:
    """Describe all processes of a node. Of those that run on the first node alone others have no value to check."""
    reported = {process.name: process for process in node.processes}
    return {
        f"{prefix}{name}": value if is_first or not process.only_on_first else None
        for prefix, process in declared.items()
        for name, value in _process(process, reported.get(process.name)).items()
    }


def _process(declared: Process, reported: ProcessFingerprint | None) -> dict[str, object]:
    """Describe a process's JVM, or that it has none. Without a report all is unknown, and meets no check."""
    wanted, running = declared.jvm, reported.jvm if reported else None
    if wanted is None:
        return {"jvm": UNKNOWN if reported is None else running.name if running else NONE}
    if running is None:
        return {"collector": UNKNOWN, "heap_share": nan, "jdk": UNKNOWN, "flags": UNKNOWN}
    missing = [flag for flag in wanted.flags if flag not in running.arguments]
    return {
        "collector": running.collector or UNKNOWN,
        "heap_share": running.heap_max_bytes / wanted.heap,
        "jdk": same_precision(running.version, wanted.jdk_version),
        "flags": f"without {' '.join(missing)}" if missing else "all",
    }


def known(value: float | None) -> float:
    return nan if value is None else value
