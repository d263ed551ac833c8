"""Judge an attempt: whether the measurement was sound and, if so, whether the service levels were met."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.activity import activity_frame
from plimsoll.analysis.attempt.backlog import backlog_frame, opening_backlog
from plimsoll.analysis.attempt.coincidence import Collected, coincidence_frame, occurrences
from plimsoll.analysis.attempt.hosts import hosts_frame
from plimsoll.analysis.attempt.judgement import Judgement, MissedInterval, Run
from plimsoll.analysis.attempt.jvms import jvms_frame
from plimsoll.analysis.attempt.log_lines import log_lines_frame
from plimsoll.analysis.attempt.missed_intervals import ERROR_LIMIT, distinct, short_of_rate, with_failures
from plimsoll.analysis.attempt.service_level_evaluation import judge_load_hosts, judge_logs
from plimsoll.analysis.logs.gc.unified import pauses_frame
from plimsoll.domain.errors import NotFound
from plimsoll.domain.service_level import ALL_OPERATIONS
from plimsoll.domain.strategy import Ramp
from plimsoll.quality.attempt import check_attempt
from plimsoll.quality.blame import error_share, foreign_error_share
from plimsoll.quality.measured import MeasuredAttempt
from plimsoll.services.cell.recording import failures_recorded, note_phase
from plimsoll.services.cell.sizing import size_remark
from plimsoll.services.judge.evidence import Evidence, gather
from plimsoll.services.judge.imported import judge_imported
from plimsoll.services.judge.verdicts import Judged, store_verdict, verdict_of
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import read_fingerprint, read_manifest, read_provenance, read_verdict
from plimsoll.services.store.tables import write_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    import pandas as pd

    from plimsoll.domain.fingerprint import Fingerprint
    from plimsoll.domain.load_summary import LoadSummary
    from plimsoll.domain.result import Manifest, OpeningBacklog, Verdict
    from plimsoll.quality.expectation import Quality
    from plimsoll.services.cell.context import AttemptContext


def judge(work: AttemptContext) -> Verdict:
    """Judge the attempt and store its verdict. An existing verdict is only read.

    Raises NotFound while nothing was collected.
    """
    done = read_verdict(work.toolkit.store, work.key)
    if done is not None:
        return done
    manifest = _manifest(work)
    note_phase(work.toolkit.store, work.toolkit.clock, work.key, "judge")
    with failures_recorded(work, "judge"):
        verdict = _judged(work, manifest)
    note_phase(work.toolkit.store, work.toolkit.clock, work.key, "done")
    return verdict


def judge_again(work: AttemptContext) -> tuple[Verdict | None, Verdict]:
    """The attempt's earlier verdict, and its replacement by today's rules from the raw files.

    Run again with the same rules, it changes nothing. An earlier verdict that differs is kept. Raises NotFound while
    nothing was collected.
    """
    earlier = read_verdict(work.toolkit.store, work.key)
    if earlier is None:
        return None, judge(work)
    manifest = _manifest(work)
    work.toolkit.store.delete(layout.settled_key(work.key.campaign_id))
    return earlier, _judged(work, manifest)


def _manifest(work: AttemptContext) -> Manifest:
    manifest = read_manifest(work.toolkit.store, work.key)
    if manifest is None:
        raise NotFound("nothing was collected of this attempt", where=str(work.key), mend="run the cell again")
    return manifest


def _judged(work: AttemptContext, manifest: Manifest) -> Verdict:
    provenance = read_provenance(work.toolkit.store, work.key)
    return _judge_own(work, manifest) if provenance is None else judge_imported(work, provenance)


def _judge_own(work: AttemptContext, manifest: Manifest) -> Verdict:
    evidence, fingerprint = gather(work, manifest), read_fingerprint(work.toolkit.store, work.key)
    judgement = _judgement(work, evidence)
    judged = Judged(judgement, judgement.intervals.frame(), opening_backlog=_opening_backlog(work, evidence))
    if not manifest.failure:
        evidence = replace(evidence, summary=counted(evidence.summary, judged.intervals))
        judged = replace(judged, quality=_quality(work, manifest, evidence, fingerprint, judged))
    failures, are_foreign = evidence.summary.failures, foreign_error_share(evidence.summary) >= ERROR_LIMIT
    verdict = verdict_of(
        work,
        judged,
        reasons=(*_reasons(manifest, judged), *(failures if are_foreign else ())),
        warnings=(
            *work.load_generator.limits(work.definition),
            *judgement.remarks,
            *(() if are_foreign else failures),
            *evidence.summary.remarks,
            *_left_to_do(evidence, fingerprint),
            *_data_size(work, evidence, fingerprint),
            *evidence.gc_problems,
        ),
        errors=evidence.summary,
        started_at=evidence.summary.started_at,
    )
    if evidence.summary.started_at is not None:
        _store_circumstances(work, evidence, fingerprint, judged.intervals, evidence.summary.started_at)
    store_verdict(work, judged, verdict)
    return verdict


def _left_to_do(evidence: Evidence, fingerprint: Fingerprint | None) -> Iterator[str]:
    """The work that the nodes had left when the timed run began, as load generator or nodes report it.

    It is left by populating, or by the earlier loads on the same data.
    """
    work_of = "earlier loads" if fingerprint and fingerprint.data_of else "populating"
    if evidence.summary.compactions_left:
        yield f"compactions of {work_of} were left when the timed run began: {evidence.summary.compactions_left}"
    aftermath = evidence.start.aftermath if evidence.start else None
    if aftermath is None or aftermath.settled:
        return
    left = ", ".join(f"{node} {count}" for node, count in aftermath.left.items() if count)
    if left:
        yield f"compactions of {work_of} were left when the timed run began: {left}"
    if aftermath.problem:
        yield f"whether compactions of {work_of} were left is not known: {aftermath.problem}"


def _data_size(work: AttemptContext, evidence: Evidence, fingerprint: Fingerprint | None) -> Iterator[str]:
    """Where the populated rows have another size on disk than was asked for.

    Nothing for a load that was never told to start, as nobody has measured its rows, and for one that goes on with the
    data of earlier loads, which have made them larger.
    """
    asked_bytes = work.definition.workload.data_per_node
    goes_on = fingerprint is not None and bool(fingerprint.data_of)
    if evidence.start and not goes_on and (remark := size_remark(asked_bytes, evidence.start.data_bytes)):
        yield remark


def _judgement(work: AttemptContext, evidence: Evidence) -> Judgement:
    if not evidence.response_times:
        return Judgement(reasons=("no response times were recorded",))
    run = Run(
        warmup=work.definition.timing.warmup,
        duration=work.definition.timing.duration,
        attempted_ops_s=work.cell.load_ops_s,
        started_at=evidence.summary.started_at,
        operations=evidence.summary.answered,
    )
    # Its own operations keep their names: `scans` are reads only where another tool has no better name for them.
    names = {operation: operation for operation in evidence.operations}
    levels = work.definition.service_levels
    if len(evidence.summaries) > 1:
        return judge_load_hosts(evidence.response_times, run, levels, names)
    return judge_logs(next(iter(evidence.response_times.values())), run, levels, kinds=names)


def counted(summary: LoadSummary, intervals: pd.DataFrame) -> LoadSummary:
    """The summary with the logs' counts of operations in the judged intervals, where the summary itself has none."""
    if summary.operations:
        return summary
    rows = intervals[(intervals["phase"] == "judged") & (intervals["operation"] != ALL_OPERATIONS)]
    counts = {str(name): int(count) for name, count in rows.groupby("operation")["count"].sum().items()}
    return summary.model_copy(update={"operations": counts})


def _opening_backlog(work: AttemptContext, evidence: Evidence) -> OpeningBacklog | None:
    if evidence.summary.started_at is None:
        return None
    warmup = work.definition.timing.warmup
    return opening_backlog(evidence.seconds, evidence.summary.started_at + warmup, work.cell.load_ops_s, warmup)


def _quality(
    work: AttemptContext, manifest: Manifest, evidence: Evidence, fingerprint: Fingerprint | None, judged: Judged
) -> Quality:
    if fingerprint is None:
        raise NotFound("there is no fingerprint of this attempt", where=str(work.key), mend="run the cell again")
    measured = MeasuredAttempt(
        intervals=judged.intervals,
        summary=evidence.summary,
        summaries=evidence.summaries,
        load_start=evidence.start,
        fingerprint=fingerprint,
        samples=evidence.samples,
        nodes_down=manifest.nodes_down,
        stalls_s=judged.judgement.stalls_s,
        opening_backlog=judged.opening_backlog,
        missed=distinct(_missed(work, evidence, judged.judgement)),
        seconds=evidence.seconds,
        ahead_ms=_ahead_ms(evidence, fingerprint),
    )
    return check_attempt(work.definition, work.cell, measured)


def _missed(work: AttemptContext, evidence: Evidence, judgement: Judgement) -> Iterator[MissedInterval]:
    """Every interval in which the attempt missed, by whatever makes it count as missed."""
    level, started_at = work.definition.service_levels[0], evidence.summary.started_at
    yield from judgement.missed
    if isinstance(work.definition.strategy, Ramp) and judgement.rate_achieved is False:
        yield from short_of_rate(judgement, work.cell.load_ops_s, level)
    if started_at is not None and error_share(evidence.summary) >= ERROR_LIMIT:
        yield from with_failures(judgement, evidence.seconds, started_at, level)


def _ahead_ms(evidence: Evidence, fingerprint: Fingerprint | None) -> dict[str, float]:
    """How far each host's clock is ahead of the (first) load generator's, ms."""
    return {
        **(fingerprint.ahead_ms() if fingerprint else {}),
        **(evidence.start.ahead_ms if evidence.start else {}),
    }


def _reasons(manifest: Manifest, judged: Judged) -> Iterator[str]:
    if manifest.failure:
        # What the logs of a failed attempt lack follows from its failure.
        yield manifest.failure
        return
    yield from judged.judgement.reasons
    if judged.quality is not None:
        yield from judged.quality.reasons


def _store_circumstances(
    work: AttemptContext,
    evidence: Evidence,
    fingerprint: Fingerprint | None,
    intervals: pd.DataFrame,
    started_at: datetime,
) -> None:
    """Store pauses, and what else happened in each judged interval, on the load generator's clock."""
    store, key = work.toolkit.store, work.key
    ahead_ms = _ahead_ms(evidence, fingerprint)
    pauses = pauses_frame(evidence.pauses, started_at, ahead_ms)
    collected = Collected(
        started_at=started_at,
        ahead_ms=ahead_ms,
        pauses=pauses if evidence.pauses else None,
        events=evidence.events,
        seconds=evidence.seconds,
        samples=evidence.samples,
        load_cpus=min(host.cpus for host in fingerprint.load_hosts.values()) if fingerprint else None,
    )
    level = work.definition.service_levels[0]
    bound_ms, interval = level.bound_ms, level.interval
    write_table(store, key, "pauses", pauses)
    write_table(store, key, "coincidences", coincidence_frame(intervals, occurrences(collected), bound_ms))
    timing = work.definition.timing
    judged = started_at + timing.warmup, started_at + timing.duration
    cpus = {node.host: node.facts.cpus for node in fingerprint.nodes} if fingerprint else {}
    write_table(store, key, "hosts", hosts_frame(evidence.samples, judged, interval, ahead_ms))
    write_table(store, key, "jvms", jvms_frame(evidence.pauses, judged, ahead_ms, cpus))
    starts_s = intervals[intervals["operation"] == ALL_OPERATIONS]["start_s"].sort_values().tolist()
    lines = log_lines_frame(intervals, evidence.lines, started_at, ahead_ms, bound_ms)
    write_table(store, key, "log_lines", lines)
    activity = activity_frame(starts_s, interval.total_seconds(), collected, evidence.pauses)
    write_table(store, key, "activity", activity)
    write_table(store, key, "backlog", backlog_frame(evidence.seconds, started_at, work.cell.load_ops_s, starts_s))
