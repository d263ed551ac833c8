"""Judge an imported attempt by the same rules as any other, as far as its files allow. Pure.

Remarks name what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.judgement import Judgement, Run, rate_fault, unreadable
from plimsoll.analysis.attempt.service_level_evaluation import judge_reading
from plimsoll.analysis.attempt.several_load_hosts import over_common_time
from plimsoll.analysis.logs.formats import Reading, ReadOptions, read_run
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.keys.loads import rate_tolerance
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.keys.strategy import Ramp
from plimsoll.domain.text.errors import LogError
from plimsoll.quality.attempt_checks import TimedAttempt, check_imported
from plimsoll.services.judge.verdicts import Judged, JudgedAttempt, tables_of, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from plimsoll.quality.expectation import Quality
    from plimsoll.services.judge.evidence import ImportedEvidence

_NOT_CHECKED = (
    "imported, not run by Plimsoll: nodes, hosts, load generator, errors of the judged time and the environment could "
    "not be checked"
)


def judge_imported(evidence: ImportedEvidence) -> JudgedAttempt:
    """Return the verdict, with what was found about the files' format added to the provenance."""
    reading, judgement = _judgement(evidence)
    intervals = judgement.intervals.frame()
    judged = Judged(judgement, intervals, _quality(evidence, reading, judgement, intervals))
    # Errors of the whole run, warm-up included, because files of other tools give no others.
    answered = sum(row.count for row in judgement.intervals.rows if row.operation == ALL_OPERATIONS)
    verdict = verdict_of(
        evidence,
        judged,
        reasons=_reasons(evidence, reading, judged),
        warnings=(_NOT_CHECKED, *_warnings(evidence.cell.load_ops_s, judgement)),
        errors=LoadSummary(complete=True, operations={ALL_OPERATIONS: answered}, errors=dict(judgement.errors or {})),
        started_at=reading.started_at if reading else None,
    )
    provenance = evidence.provenance.model_copy(update={"format": judgement.format, "unit_taken": judgement.unit_taken})
    return JudgedAttempt(verdict, tables_of(judged), judged.quality.data_docs if judged.quality else {}, provenance)


def _judgement(evidence: ImportedEvidence) -> tuple[Reading | None, Judgement]:
    provenance = evidence.provenance
    kinds = {name.lower(): kind for name, kind in provenance.operations.items()}
    timing = evidence.part.timing
    run = Run(
        warmup=timing.warmup,
        duration=timing.duration,
        attempted_ops_s=evidence.cell.load_ops_s,
        rate_tolerance=_rate_tolerance(evidence),
    )
    try:
        options = ReadOptions(provenance.unit, kinds, provenance.tags, provenance.columns)
        reading = _reading(evidence, options)
        return reading, judge_reading(reading, run, evidence.part.service_levels)
    except LogError as error:
        return None, unreadable(error)


def _reading(evidence: ImportedEvidence, options: ReadOptions) -> Reading:
    """Return the content of the files; of several load generators over the time that all of them ran.

    Raises LogError.
    """
    provenance = evidence.provenance
    if not provenance.loaders:
        return read_run(evidence.files, options, provenance.forced_format)
    if silent := [name for name, files in provenance.loaders.items() if not files]:
        raise LogError(f"there are no files of {' and '.join(silent)}, which shared the load", mend="import them too")
    by_name = dict(zip(provenance.files, evidence.files, strict=True))
    return over_common_time(
        {
            loader: read_run([by_name[name] for name in files], options, provenance.forced_format)
            for loader, files in provenance.loaders.items()
        }
    )


def _rate_tolerance(evidence: ImportedEvidence) -> float:
    """Return the tolerance of a random schedule, since it is not known how the others drew theirs."""
    return rate_tolerance(evidence.cell.load_ops_s * evidence.part.timing.judged.total_seconds())


def _quality(
    evidence: ImportedEvidence, reading: Reading | None, judgement: Judgement, intervals: pd.DataFrame
) -> Quality | None:
    if reading is None or intervals.empty:
        return None
    imported = TimedAttempt(intervals, judgement.stalls_s, histograms=bool(reading.tracks))
    return check_imported(evidence.part, evidence.cell, imported)


def _reasons(evidence: ImportedEvidence, reading: Reading | None, judged: Judged) -> Iterator[str]:
    yield from judged.judgement.reasons
    requested = reading.attempted_ops_s if reading else None
    if requested is not None and requested != evidence.cell.load_ops_s:
        yield f"the files say that {requested:g} ops/s were asked for, not the cell's {evidence.cell.load_ops_s}"
    # A ramp misses where it does not reach its rate.
    if evidence.part.rate is None and not isinstance(evidence.part.strategy, Ramp):
        yield from rate_fault(judged.judgement, evidence.cell.load_ops_s, _rate_tolerance(evidence))
    if judged.quality is not None:
        yield from judged.quality.reasons


def _warnings(load_ops_s: int, judgement: Judgement) -> Iterator[str]:
    if judgement.unit_taken:
        yield f"values are taken to be in {judgement.unit_taken}"
    yield from judgement.remarks
    if judgement.rate_achieved is False and judgement.achieved_ops_s is not None:
        share, achieved = judgement.achieved_ops_s / load_ops_s, float(f"{judgement.achieved_ops_s:.2g}")
        yield (
            f"only {share:.0%} of the cell's {load_ops_s:,} ops/s were answered: whatever the outcome, it is about "
            f"{achieved:,.6g} ops/s"
        )
    if judgement.failures_remark:
        yield judgement.failures_remark
