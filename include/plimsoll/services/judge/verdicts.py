"""Make an attempt's verdict of the results of judging, and the tables of what else happened during its timed run, on
the load generator's clock. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.around_action import activity_frame
from plimsoll.analysis.attempt.coincidence import Collected, coincidence_frame, occurrences
from plimsoll.analysis.attempt.hosts import hosts_frame, jvms_frame
from plimsoll.analysis.attempt.judgement import Judgement
from plimsoll.analysis.attempt.latencies import latencies_frame
from plimsoll.analysis.attempt.missed_intervals import log_lines_frame
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT, backlog_frame
from plimsoll.analysis.logs.gc.unified import pauses_frame
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.keys.strategy import Ramp
from plimsoll.domain.keys.system import IMPORTED
from plimsoll.domain.text.units import format_duration
from plimsoll.quality.miss_cause import error_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    import pandas as pd

    from plimsoll.domain.attempt.load_summary import BrokenRule, LoadSummary
    from plimsoll.domain.attempt.result import OpeningBacklog
    from plimsoll.domain.campaign.part import Part
    from plimsoll.domain.hosts.fingerprint import Provenance
    from plimsoll.domain.keys.action import ActionResult
    from plimsoll.quality.expectation import Quality
    from plimsoll.services.judge.evidence import Evidence, JudgedInput


@dataclass(frozen=True, eq=False)
class Judged:
    """The results of judging an attempt.

    `quality`: None where nothing was checked; `opening_backlog`: the backlog at the start of the judged time, None
    where the load generator did not report it; `action`: what was done to the cluster, None where nothing was, or where
    it did not end.
    """

    judgement: Judgement
    intervals: pd.DataFrame
    quality: Quality | None = None
    opening_backlog: OpeningBacklog | None = None
    action: ActionResult | None = None


@dataclass(frozen=True, eq=False)
class JudgedAttempt:
    """Everything to be stored of a judged attempt.

    `tables` by name; `data_docs`: relative path → content; `provenance`: an imported attempt's with what judging found.
    """

    verdict: Verdict
    tables: Mapping[str, pd.DataFrame]
    data_docs: Mapping[str, bytes]
    provenance: Provenance | None = None


def tables_of(judged: Judged) -> dict[str, pd.DataFrame]:
    """Return the tables that every attempt has: its intervals, and its response times by percentile."""
    latencies = latencies_frame(judged.judgement.counts, judged.judgement.unit)
    return {"intervals": judged.intervals, "latencies": latencies}


def verdict_of(  # noqa: PLR0913  # what its two kinds of attempts, run here and imported, tell in different ways
    case: JudgedInput,
    judged: Judged,
    *,
    reasons: Iterable[str],
    warnings: Iterable[str],
    errors: LoadSummary,
    started_at: datetime | None,
) -> Verdict:
    """Return the verdict; valid if there are no `reasons`.

    `errors`: failed and answered operations, which decide the error share, and their rows.
    """
    judgement, quality, why = judged.judgement, judged.quality, tuple(dict.fromkeys(reasons))
    is_ramp = isinstance(case.part.strategy, Ramp)
    return Verdict(
        key=case.key,
        cell=case.cell,
        valid=not why,
        reasons=why,
        warnings=(*(quality.warnings if quality else ()), *warnings),
        met=None if why else _is_met(case, judgement, errors),
        stopped=stopped_words(errors.stopped) if errors.stopped else "",
        levels=judgement.levels,
        attempted_ops_s=case.cell.load_ops_s,
        achieved_ops_s=judgement.achieved_ops_s,
        rate_achieved=judgement.rate_achieved,
        must_reach_rate=is_ramp,
        rows_s=errors.rows_s if errors.has_several_rows else None,
        errors=errors.errors,
        operations=judgement.operations,
        maxima=judgement.maxima,
        maxima_by_operation=dict(judgement.maxima_by_operation),
        started_at=started_at,
        opening_backlog=judged.opening_backlog,
        action=judged.action,
        checks=tuple(quality.checks) if quality else (),
        code_version=case.code_version,
    )


def _is_met(case: JudgedInput, judgement: Judgement, errors: LoadSummary) -> bool:
    """Tell whether the attempt is met.

    A failed operation has no response time and was not answered in time, so many are a miss. So is a load that had to
    be ended to protect the system. Without a load nothing is asked that could be missed.
    """
    if "load" not in case.part.knows:
        return True
    is_short = isinstance(case.part.strategy, Ramp) and judgement.rate_achieved is False
    failed = failed_too_often(case.part, judgement, errors)
    return bool(judgement.met) and not failed and errors.stopped is None and not is_short


def failed_too_often(part: Part, judgement: Judgement, errors: LoadSummary) -> bool:
    """Tell whether so many operations failed that this alone is a miss.

    A program of Plimsoll's reports the failures of the judged time itself, also of what it never sent. Other files have
    times of failures, or those of the whole run, by which they were judged.
    """
    reports = part.load_generator.command is None and part.provider.name != IMPORTED
    counted = any(level.counts_failures for level in part.service_levels)
    return judgement.too_many_failed or (reports and counted and error_share(errors) >= ERROR_LIMIT)


def stopped_words(broken: BrokenRule) -> str:
    ended = format_duration(timedelta(seconds=round(broken.seconds)))
    return f"the load was ended after {ended} by `stop_when[{broken.rule}]`: {broken.words}"


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
