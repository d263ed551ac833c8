"""Judge an imported attempt by the same rules as any other, as far as its files allow. Remarks name what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.judgement import Judgement, Run, unreadable
from plimsoll.analysis.attempt.service_level_evaluation import judge_reading
from plimsoll.analysis.logs.formats import Asked, Reading, RunFile, read_run
from plimsoll.domain.errors import LogError
from plimsoll.domain.load_summary import LoadSummary
from plimsoll.domain.service_level import ALL_OPERATIONS
from plimsoll.quality.attempt import check_imported
from plimsoll.quality.measured import ImportedAttempt
from plimsoll.services.judge.verdicts import Judged, store_verdict, verdict_of
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import write_model

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.provenance import Provenance
    from plimsoll.domain.result import Verdict
    from plimsoll.quality.expectation import Quality
    from plimsoll.services.cell.context import AttemptContext

_NOT_CHECKED = (
    "imported, not run by Plimsoll: nodes, hosts, load generator, errors of the judged time and the environment could "
    "not be checked"
)


def judge_imported(work: AttemptContext, provenance: Provenance) -> Verdict:
    """The verdict of an imported attempt with its files in the store, stored with its intervals and Data Docs."""
    reading, judgement = _judgement(work, provenance)
    intervals = judgement.intervals.frame()
    judged = Judged(judgement, intervals, _quality(work, reading, judgement, intervals))
    verdict = verdict_of(
        work,
        judged,
        reasons=_reasons(work, reading, judged),
        warnings=(_NOT_CHECKED, *_warnings(work.cell.load_ops_s, judgement)),
        errors=_errors(judgement),
        started_at=reading.started_at if reading else None,
    )
    found = provenance.model_copy(update={"format": judgement.format, "unit_taken": judgement.unit_taken})
    write_model(work.toolkit.store, work.key, layout.PROVENANCE, found)
    store_verdict(work, judged, verdict)
    return verdict


def _judgement(work: AttemptContext, provenance: Provenance) -> tuple[Reading | None, Judgement]:
    names, store = _short_names(provenance.files), work.toolkit.store
    files = [
        RunFile(names[name], store.read(layout.attempt_file(work.key, layout.imported_file(name))))
        for name in provenance.files
    ]
    kinds = {name.lower(): kind for name, kind in provenance.operations.items()}
    timing = work.definition.timing
    run = Run(warmup=timing.warmup, duration=timing.duration, attempted_ops_s=work.cell.load_ops_s)
    try:
        reading = read_run(files, Asked(provenance.unit, kinds, provenance.tags), provenance.forced_format)
        return reading, judge_reading(reading, run, work.definition.service_levels)
    except LogError as error:
        return None, unreadable(error)


def _short_names(names: Sequence[str]) -> Mapping[str, str]:
    """File names without folders where these are unique, so that remarks of many cells have the same text."""
    short = {name: PurePosixPath(name).name for name in names}
    return short if len(set(short.values())) == len(names) else {name: name for name in names}


def _quality(
    work: AttemptContext, reading: Reading | None, judgement: Judgement, intervals: pd.DataFrame
) -> Quality | None:
    if reading is None or intervals.empty:
        return None
    imported = ImportedAttempt(intervals, judgement.stalls_s, histograms=bool(reading.tracks))
    return check_imported(work.definition, work.cell, imported)


def _reasons(work: AttemptContext, reading: Reading | None, judged: Judged) -> Iterator[str]:
    yield from judged.judgement.reasons
    asked = reading.attempted_ops_s if reading else None
    if asked is not None and asked != work.cell.load_ops_s:
        yield f"the files say that {asked:g} ops/s were asked for, not the cell's {work.cell.load_ops_s}"
    if judged.quality is not None:
        yield from judged.quality.reasons


def _warnings(load_ops_s: int, judgement: Judgement) -> Iterator[str]:
    if judgement.unit_taken:
        yield f"values are taken to be in {judgement.unit_taken}"
    yield from judgement.remarks
    if judgement.rate_achieved is False and judgement.achieved_ops_s is not None:
        share = judgement.achieved_ops_s / load_ops_s
        yield (
            f"only {share:.0%} of the cell's {load_ops_s:,} ops/s were answered: whatever the outcome, it is about "
            f"{float(f'{judgement.achieved_ops_s:.2g}'):,.6g} ops/s"
        )
    if judgement.errors is None:
        yield "the files do not tell how many operations failed"


def _errors(judgement: Judgement) -> LoadSummary:
    """The errors of the whole run, warm-up included, because files of other tools give no others."""
    answered = sum(row.count for row in judgement.intervals.rows if row.operation == ALL_OPERATIONS)
    return LoadSummary(complete=True, operations={ALL_OPERATIONS: answered}, errors=dict(judgement.errors or {}))
