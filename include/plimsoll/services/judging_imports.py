"""An imported attempt judged by the same rules as others, as far as its files tell; what they don't tell is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from plimsoll import __version__
from plimsoll.analysis.formats import Asked, Reading, RunFile, read_run
from plimsoll.analysis.intervals import ALL
from plimsoll.analysis.judgement import Judgement, Run, unreadable
from plimsoll.analysis.judging import judge_reading
from plimsoll.domain.errors import LogError
from plimsoll.domain.load_summary import LoadSummary
from plimsoll.domain.result import Verdict
from plimsoll.quality.attempt import ERROR_LIMIT, Imported, check_imported, error_share
from plimsoll.services import layout
from plimsoll.services.campaigns import read_provenance, write_model
from plimsoll.services.progress import note_phase
from plimsoll.services.results import write_table

if TYPE_CHECKING:
    from plimsoll.domain.cell import AttemptKey, Cell
    from plimsoll.domain.definition import Definition
    from plimsoll.ports.clock import Clock
    from plimsoll.ports.store import ResultStore
    from plimsoll.quality.expectation import Quality
    from plimsoll.services.import_description import ImportDescription, WantedRun

_FOLDER = f"{layout.RAW}/imported"
_NOT_CHECKED = (
    "imported, not run by Plimsoll: nodes, hosts, load generator, errors of the judged time and the environment could "
    "not be checked"
)


class LocalFile(Protocol):
    """A file to import; `name` is its path at the source."""

    @property
    def name(self) -> str:
        """Its path, from the folder of the import's description."""

    @property
    def path(self) -> Path:
        """Where it lies."""

    @property
    def sha256(self) -> str:
        """Checksum of its content."""


@dataclass(frozen=True)
class ImportedCell:
    """One cell's import at work."""

    store: ResultStore
    clock: Clock
    description: ImportDescription
    definition: Definition
    wanted: WantedRun
    files: Sequence[LocalFile]

    @property
    def cell(self) -> Cell:
        return self.wanted.cell

    @property
    def paths(self) -> dict[str, str]:
        """Where each file lies in the attempt, by its name at the source."""
        return {file.name: f"{_FOLDER}/{file.name}" for file in self.files}


def judge_imported(one: ImportedCell, key: AttemptKey) -> Verdict:
    """The verdict of an imported attempt whose files are in the store, stored with its intervals and Data Docs."""
    note_phase(one.store, one.clock, key, "judge")
    run = Run(
        warmup=one.definition.timing.warmup,
        duration=one.definition.timing.duration,
        attempted_ops_s=one.cell.load_ops_s,
    )
    reading, judgement = _judgement(one, key, run)
    quality = _quality(one, reading, judgement)
    verdict = _verdict(one, key, reading, judgement, quality)
    _store_results(one, key, judgement, quality, verdict)
    note_phase(one.store, one.clock, key, "done")
    return verdict


def _judgement(one: ImportedCell, key: AttemptKey, run: Run) -> tuple[Reading | None, Judgement]:
    names = _short_names([file.name for file in one.files])
    files = [RunFile(names[name], one.store.read(layout.attempt_file(key, path))) for name, path in one.paths.items()]
    kinds = {name.lower(): kind for name, kind in one.description.operations.items()}
    try:
        reading = read_run(files, Asked(one.description.unit, kinds), one.description.format)
        return reading, judge_reading(reading, run, one.definition.service_levels)
    except LogError as error:
        return None, unreadable(error)


def _short_names(names: Sequence[str]) -> Mapping[str, str]:
    """File names without folders where they tell the files apart, so that remarks of many cells read alike."""
    short = {name: PurePosixPath(name).name for name in names}
    return short if len(set(short.values())) == len(names) else {name: name for name in names}


def _quality(one: ImportedCell, reading: Reading | None, judgement: Judgement) -> Quality | None:
    if reading is None or not judgement.intervals.rows:
        return None
    imported = Imported(judgement.intervals.frame(), judgement.stalls_s, histograms=bool(reading.tracks))
    return check_imported(one.definition, one.cell, imported)


def _verdict(
    one: ImportedCell, key: AttemptKey, reading: Reading | None, judgement: Judgement, quality: Quality | None
) -> Verdict:
    reasons = tuple(dict.fromkeys(_reasons(one, reading, judgement, quality)))
    return Verdict(
        key=key,
        cell=one.cell,
        valid=not reasons,
        reasons=reasons,
        warnings=(_NOT_CHECKED, *_warnings(judgement), *(quality.warnings if quality else ())),
        met=None if reasons else bool(judgement.met) and _error_share(judgement) < ERROR_LIMIT,
        levels=judgement.levels,
        attempted_ops_s=one.cell.load_ops_s,
        achieved_ops_s=judgement.achieved_ops_s,
        rate_achieved=judgement.rate_achieved,
        errors=dict(judgement.errors or {}),
        operations=judgement.operations,
        maxima=judgement.maxima,
        maxima_by_operation=dict(judgement.maxima_by_operation),
        started_at=reading.started_at if reading else None,
        checks=tuple(quality.checks) if quality else (),
        code_version=__version__,
    )


def _reasons(
    one: ImportedCell, reading: Reading | None, judgement: Judgement, quality: Quality | None
) -> Iterator[str]:
    yield from judgement.reasons
    asked = reading.attempted_ops_s if reading else None
    if asked is not None and asked != one.cell.load_ops_s:
        yield f"the files say that {asked:g} ops/s were asked for, not the cell's {one.cell.load_ops_s}"
    if quality is not None:
        yield from quality.reasons


def _warnings(judgement: Judgement) -> Iterator[str]:
    yield from judgement.notes
    if judgement.errors is None:
        yield "the files do not tell how many operations failed"


def _error_share(judgement: Judgement) -> float:
    """Of the whole run, warm-up included: that is all that files of others tell of errors."""
    answered = sum(row.count for row in judgement.intervals.rows if row.operation == ALL)
    errors = dict(judgement.errors or {})
    return error_share(LoadSummary(complete=True, operations={ALL: answered}, errors=errors))


def _store_results(
    one: ImportedCell, key: AttemptKey, judgement: Judgement, quality: Quality | None, verdict: Verdict
) -> None:
    write_table(one.store, key, layout.INTERVALS, judgement.intervals.frame())
    for path, content in (quality.data_docs if quality else {}).items():
        one.store.write(layout.attempt_file(key, f"{layout.QUALITY}/{path}"), content)
    provenance = read_provenance(one.store, key)
    if provenance is not None:
        found = provenance.model_copy(update={"format": judgement.format})
        write_model(one.store, key, layout.PROVENANCE, found)
    write_model(one.store, key, layout.VERDICT, verdict)
