"""Make the tables of what else happened during an attempt's timed run, on the load generator's clock. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.activity import activity_frame
from plimsoll.analysis.attempt.backlog import backlog_frame
from plimsoll.analysis.attempt.coincidence import Collected, coincidence_frame, occurrences
from plimsoll.analysis.attempt.hosts import hosts_frame
from plimsoll.analysis.attempt.jvms import jvms_frame
from plimsoll.analysis.attempt.log_lines import log_lines_frame
from plimsoll.analysis.logs.gc.unified import pauses_frame
from plimsoll.domain.service_level import ALL_OPERATIONS

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from plimsoll.services.judge.evidence import Evidence


def circumstances(evidence: Evidence, intervals: pd.DataFrame, started_at: datetime) -> dict[str, pd.DataFrame]:
    """Return each table by name. `started_at`: the start of the timed run; `intervals`: the judgement's table."""
    logs, ahead_ms, fingerprint = evidence.logs, evidence.ahead_ms, evidence.fingerprint
    level, timing = evidence.part.service_levels[0], evidence.part.timing
    judged = started_at + timing.warmup, started_at + timing.duration
    cpus = {node.host: node.facts.cpus for node in fingerprint.nodes} if fingerprint else {}
    starts_s = intervals[intervals["operation"] == ALL_OPERATIONS]["start_s"].sort_values().tolist()
    pauses = pauses_frame(logs.pauses, started_at, ahead_ms)
    collected = Collected(
        started_at=started_at,
        ahead_ms=ahead_ms,
        pauses=pauses if logs.pauses else None,
        events=logs.events,
        kinds=logs.kinds,
        seconds=evidence.seconds,
        samples=evidence.samples,
        load_cpus=min(host.cpus for host in fingerprint.load_hosts.values()) if fingerprint else None,
    )
    return {
        "pauses": pauses,
        "coincidences": coincidence_frame(intervals, occurrences(collected), level.bound_ms, logs.kinds),
        "hosts": hosts_frame(evidence.samples, judged, level.interval, ahead_ms),
        "jvms": jvms_frame(logs.pauses, judged, ahead_ms, cpus),
        "log_lines": log_lines_frame(intervals, logs.lines, started_at, ahead_ms, level.bound_ms),
        "activity": activity_frame(starts_s, level.interval.total_seconds(), collected, logs.pauses),
        "backlog": backlog_frame(evidence.seconds, started_at, evidence.cell.load_ops_s, starts_s),
    }
