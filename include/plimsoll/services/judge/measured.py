"""Judge an attempt that ran here by its evidence. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.around_action import action_result, during_action, failed_by_phase, times_of
from plimsoll.analysis.attempt.judgement import Judgement, MissedInterval, Run, answered_more, rate_fault
from plimsoll.analysis.attempt.missed_intervals import distinct, short_of_rate, when_stopped, with_failures
from plimsoll.analysis.attempt.service_level_evaluation import judge_load_hosts, judge_logs
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT, opening_backlog
from plimsoll.analysis.logs.formats import ReadOptions
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.keys.strategy import Ramp
from plimsoll.domain.text.errors import LASTS, NotFound
from plimsoll.domain.text.units import format_duration
from plimsoll.quality.attempt_checks import MeasuredAttempt, check_attempt
from plimsoll.quality.miss_cause import foreign_error_share, tolerance_of
from plimsoll.services.cell.sizing import size_remark
from plimsoll.services.judge.verdicts import (
    Judged,
    JudgedAttempt,
    circumstances,
    failed_too_often,
    stopped_words,
    tables_of,
    verdict_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from plimsoll.domain.attempt.load_summary import LoadSummary
    from plimsoll.domain.attempt.result import OpeningBacklog
    from plimsoll.domain.keys.action import ActionResult
    from plimsoll.quality.expectation import Quality
    from plimsoll.services.judge.evidence import Evidence


def judge_measured(evidence: Evidence) -> JudgedAttempt:
    """Return the verdict, with tables of what else happened where the timed run began.

    Raises NotFound where an attempt without a failure has no fingerprint.
    """
    judgement = _judgement(evidence)
    # Only its files tell when a command's run began, from which the times of the action are counted; and what failed
    # on each of several load hosts until a stop rule ended the load on one of them
    if evidence.part.load_generator.command or (evidence.summary.stopped and len(evidence.summaries) > 1):
        evidence = replace(evidence, summary=by_files(evidence.summary, judgement))
    judgement, action = _around_action(evidence, judgement)
    judged = Judged(judgement, judgement.intervals.frame(), None, _opening_backlog(evidence), action)
    if not evidence.manifest.failure and "load" in evidence.part.knows:
        # Some load generators do not report the counts by which the mix is checked
        evidence = replace(evidence, summary=counted(evidence.summary, judged.intervals))
        judged = replace(judged, quality=_quality(evidence, judged))
    started_at, failures = evidence.summary.started_at, evidence.summary.failures
    of_files = judgement.failures_remark if evidence.part.load_generator.command else ""
    # Failed operations of an attempt that failed follow from its failure.
    are_reasons = not evidence.manifest.failure and foreign_error_share(evidence.summary) >= ERROR_LIMIT
    verdict = verdict_of(
        evidence,
        judged,
        reasons=(*_reasons(evidence, judged), *(failures if are_reasons else ())),
        warnings=(
            *evidence.limits,
            *judgement.remarks,
            *filter(None, [of_files, evidence.summary.gave_up]),
            *(() if are_reasons else failures),
            *evidence.summary.remarks,
            *_ended_early(evidence),
            *_left_to_do(evidence),
            *_data_size(evidence),
            *evidence.manifest.unseen,
            *evidence.unread_samples,
            *evidence.logs.remarks,
            *evidence.logs.gc_problems,
        ),
        errors=evidence.summary,
        started_at=started_at,
    )
    happened = circumstances(evidence, judged.intervals, started_at) if started_at is not None else {}
    return JudgedAttempt(verdict, happened | tables_of(judged), judged.quality.data_docs if judged.quality else {})


def _rate_tolerance(evidence: Evidence) -> float:
    return tolerance_of(evidence.part, evidence.cell.load_ops_s * evidence.part.timing.judged.total_seconds())


def _ended_early(evidence: Evidence) -> Iterator[str]:
    if evidence.summary.stopped:
        yield stopped_words(evidence.summary.stopped)
    elif (ended_s := evidence.summary.decided_s) is not None:
        ended = format_duration(timedelta(seconds=ended_s))
        yield f"the load was ended after {ended}, once an interval had missed (`timing.stop: decided`)"


def _left_to_do(evidence: Evidence) -> Iterator[str]:
    """Yield the work that the nodes had left when the timed run began, as load generator or nodes report it.

    It is left by populating, or by the earlier loads on the same data.
    """
    work_of = "earlier loads" if evidence.fingerprint and evidence.fingerprint.data_of else "populating"
    if evidence.summary.compactions_left:
        yield f"compactions of {work_of} were left when the timed run began: {evidence.summary.compactions_left}"
    leftover_work = evidence.start.leftover_work if evidence.start else None
    if leftover_work is None or leftover_work.settled:
        return
    left = ", ".join(f"{node} {count}" for node, count in leftover_work.left.items() if count)
    if left:
        yield f"compactions of {work_of} were left when the timed run began: {left}"
    if leftover_work.problem:
        yield f"whether compactions of {work_of} were left is not known: {leftover_work.problem}"


def _data_size(evidence: Evidence) -> Iterator[str]:
    """Yield a remark where the populated rows have another size on disk than was requested.

    None for a load that never started, as nobody has measured its rows, and for one that goes on with the data of
    earlier loads, which have made them larger.
    """
    asked_bytes = evidence.part.workload.data_per_node
    goes_on = evidence.fingerprint is not None and bool(evidence.fingerprint.data_of)
    if evidence.start and not goes_on and (remark := size_remark(asked_bytes, evidence.start.data_bytes)):
        yield remark


def _judgement(evidence: Evidence) -> Judgement:
    if "load" not in evidence.part.knows:
        return Judgement(reasons=tuple(evidence.manifest.nodes_down))
    if not evidence.response_times:
        return Judgement(reasons=("no response times were recorded",))
    if silent := [host for host in evidence.summaries if host not in evidence.response_times]:
        return Judgement(reasons=(f"no response times were recorded on {', '.join(silent)}",))
    run = Run(
        warmup=evidence.part.timing.warmup,
        duration=evidence.part.timing.duration,
        attempted_ops_s=evidence.cell.load_ops_s if "rate" in evidence.part.knows else None,
        started_at=evidence.summary.started_at,
        operations=evidence.summary.answered,
        due=evidence.part.timing.duration,
        rate_tolerance=_rate_tolerance(evidence),
    )
    levels = evidence.part.service_levels
    if command := evidence.part.load_generator.command:
        # The first record begins the run: the command began before, with connections or a start of its JVM.
        gave_up, stopped = all(one.gave_up for one in evidence.summaries.values()), bool(evidence.summary.stopped)
        run = replace(run, started_at=None, aborted=gave_up or stopped, stopped=stopped)
        options = ReadOptions(command.unit, tags=command.tags, columns=command.columns)
        ahead_ms = evidence.start.ahead_ms if evidence.start else {}
        judgement = judge_load_hosts(evidence.response_times, run, levels, options, ahead_ms)
        # A form that can't be read is what the program always writes, unless it did not come to its end.
        lasts = "" if judgement.format or evidence.summary.gave_up else f"; {LASTS}"
        return replace(judgement, reasons=tuple(f"{reason}{lasts}" for reason in judgement.reasons))
    # Its own operations keep their names: `scans` are reads only where another tool has no better name for them.
    names = {operation: operation for operation in evidence.operations}
    if len(evidence.summaries) > 1:
        return judge_load_hosts(evidence.response_times, run, levels, ReadOptions(kinds=names))
    return judge_logs(next(iter(evidence.response_times.values())), run, levels, kinds=names)


def by_files(summary: LoadSummary, judgement: Judgement) -> LoadSummary:
    """Return the summary with what only the files tell.

    Failed operations are those of the judged time, or of the whole run where not all of their times are known.
    """
    known = {
        "started_at": judgement.started_at,
        "errors": judgement.errors if judgement.judged_errors is None else judgement.judged_errors,
        "schedule_lag_p99_ms": judgement.own_lag_p99_ms,
    }
    return summary.model_copy(update={key: value for key, value in known.items() if value is not None})


def _around_action(evidence: Evidence, judgement: Judgement) -> tuple[Judgement, ActionResult | None]:
    """Return the judgement with service levels of the action judged during it alone, and the action's result."""
    recorded, started_at = evidence.action, evidence.summary.started_at
    if recorded is not None and "load" not in evidence.part.knows:
        started_at = recorded.begin.at
    if evidence.part.action is None:
        return judgement, None
    if recorded is None or started_at is None:
        return replace(judgement, reasons=(*judgement.reasons, "there is no record that the action ended")), None
    ahead_ms = evidence.fingerprint.load_clock_offset_ms if evidence.fingerprint else 0.0
    times = times_of(recorded.begin, recorded.end, started_at, timedelta(milliseconds=ahead_ms))
    failed = failed_by_phase(evidence.seconds, times, started_at, evidence.part.timing.warmup)
    result = action_result(recorded.begin, recorded.end, times, judgement, failed)
    return during_action(judgement, times), result


def counted(summary: LoadSummary, intervals: pd.DataFrame) -> LoadSummary:
    """Return the summary with the logs' counts of operations in the judged intervals, where it has none itself."""
    if summary.operations:
        return summary
    rows = intervals[(intervals["phase"] == "judged") & (intervals["operation"] != ALL_OPERATIONS)]
    counts = {str(name): int(count) for name, count in rows.groupby("operation")["count"].sum().items()}
    return summary.model_copy(update={"operations": counts})


def _opening_backlog(evidence: Evidence) -> OpeningBacklog | None:
    if evidence.summary.started_at is None:
        return None
    warmup = evidence.part.timing.warmup
    return opening_backlog(evidence.seconds, evidence.summary.started_at + warmup, evidence.cell.load_ops_s, warmup)


def _quality(evidence: Evidence, judged: Judged) -> Quality:
    if evidence.fingerprint is None:
        raise NotFound("there is no fingerprint of this attempt", where=str(evidence.key), mend="run the cell again")
    measured = MeasuredAttempt(
        intervals=judged.intervals,
        summary=evidence.summary,
        summaries=evidence.summaries,
        load_start=evidence.start,
        fingerprint=evidence.fingerprint,
        processes=evidence.processes,
        samples=evidence.samples,
        nodes_down=evidence.manifest.nodes_down,
        stalls_s=judged.judgement.stalls_s,
        opening_backlog=judged.opening_backlog,
        missed=distinct(_missed(evidence, judged.judgement)),
        seconds=evidence.seconds,
        ahead_ms=evidence.ahead_ms,
        histograms=bool(judged.judgement.counts),
    )
    return check_attempt(evidence.part, evidence.cell, measured)


def _missed(evidence: Evidence, judgement: Judgement) -> Iterator[MissedInterval]:
    """Yield every interval in which the attempt missed, by whatever makes it count as missed."""
    level = evidence.part.service_levels[0]
    yield from judgement.missed
    if isinstance(evidence.part.strategy, Ramp) and judgement.rate_achieved is False:
        yield from short_of_rate(judgement, evidence.cell.load_ops_s, level)
    if failed_too_often(evidence.part, judgement, evidence.summary):
        yield from with_failures(judgement, level)
    if broken := evidence.summary.stopped:
        yield when_stopped(evidence.part.stop_when[broken.rule], broken)


def _reasons(evidence: Evidence, judged: Judged) -> Iterator[str]:
    if evidence.manifest.failure:
        # What the logs of a failed attempt lack follows from its failure.
        yield evidence.manifest.failure
        return
    yield from judged.judgement.reasons
    if judged.judgement.reasons and evidence.summary.gave_up:
        yield evidence.summary.gave_up
    # What held back a rate that was not reached is a check of its own. Plimsoll's own generator may answer in the
    # judged time what was due in warm-up.
    attempted, part = evidence.cell.load_ops_s, evidence.part
    is_asked, tolerance = part.load_generator.command and part.rate is None, _rate_tolerance(evidence)
    if is_asked and answered_more(judged.judgement.achieved_ops_s, attempted, tolerance):
        yield from rate_fault(judged.judgement, attempted, tolerance)
    if evidence.summary.decided_s is not None and not evidence.summary.stopped and judged.judgement.met:
        yield "the load generator ended the load because an interval had missed, but its logs hold none that did"
    if judged.quality is not None:
        yield from judged.quality.reasons
