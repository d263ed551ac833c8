"""Bring runs that others made into a campaign of the store: raw files, provenance, manifest, verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from plimsoll import __version__
from plimsoll.analysis.formats import FORMATS
from plimsoll.domain.cell import Attempt, AttemptKey
from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.provenance import Provenance
from plimsoll.domain.result import Manifest, ManifestEntry, Verdict
from plimsoll.services import layout
from plimsoll.services.campaigns import CampaignStore, read_manifest, read_provenance, read_verdict, write_model
from plimsoll.services.import_description import (
    ImportDescription,
    WantedRun,
    imported_definition,
    unknown_facts,
    wanted_runs,
)
from plimsoll.services.judging_imports import ImportedCell, LocalFile, judge_imported
from plimsoll.services.progress import note_phase

if TYPE_CHECKING:
    from plimsoll.ports.clock import Clock
    from plimsoll.ports.store import ResultStore

_OWNER = "import"
Say = Callable[[str], None]
FindFiles = Callable[[WantedRun], Sequence[LocalFile]]


def import_runs(
    store: ResultStore, clock: Clock, description: ImportDescription, find: FindFiles, say: Say
) -> tuple[Verdict, ...]:
    """Import every run whose files are found. Run again, cells whose files are the same are left as they are.

    Refused where the campaign exists with another definition, where no file at all is found, and for an unknown format.
    """
    _require_format(description)
    found = [(wanted, find(wanted)) for wanted in wanted_runs(description)]
    if not any(files for _, files in found):
        raise Refused(
            [Problem("files", "no pattern finds any file", "see docs/importing.md")], where=description.source
        )
    campaign = CampaignStore(store, description.campaign)
    definition = campaign.open(imported_definition(description))
    imports = [ImportedCell(store, clock, description, definition, wanted, files) for wanted, files in found if files]
    return tuple(_imported(campaign, one, say) for one in imports)


def _require_format(description: ImportDescription) -> None:
    names = [one.name for one in FORMATS]
    if description.format is not None and description.format not in names:
        raise Refused([Problem("format", f"{description.format!r} is unknown", f"there is: {', '.join(names)}")])


def _imported(campaign: CampaignStore, one: ImportedCell, say: Say) -> Verdict:
    newest = campaign.newest_attempt(one.cell.id)
    if newest is not None and _is_same(one, newest):
        verdict = read_verdict(one.store, newest) or judge_imported(one, newest)
        say(f"{newest}: there already, {verdict.outcome}")
        return verdict
    key = _begun(campaign, one)
    _store_files(one, key)
    verdict = judge_imported(one, key)
    say(f"{key}: {verdict.outcome} {'; '.join(verdict.reasons)}".rstrip())
    return verdict


def _is_same(one: ImportedCell, key: AttemptKey) -> bool:
    """Whether the attempt holds these very files, to be read in the same way."""
    manifest, provenance = read_manifest(one.store, key), read_provenance(one.store, key)
    if manifest is None or provenance is None:
        return False
    stored = {entry.path: entry.sha256 for entry in manifest.files}
    fresh = _provenance(one).model_copy(update={"imported_at": provenance.imported_at, "format": provenance.format})
    return stored == {one.paths[file.name]: file.sha256 for file in one.files} and fresh == provenance


def _begun(campaign: CampaignStore, one: ImportedCell) -> AttemptKey:
    number = len(campaign.attempts(one.cell.id))
    while True:
        number += 1
        key = campaign.key(one.cell.id, number)
        attempt = Attempt(key=key, owner=_OWNER, started_at=one.clock.now(), code_version=__version__)
        # Creating the file is the race: of two who import at once, each gets a number of its own.
        if one.store.create(layout.attempt_file(key, layout.ATTEMPT), attempt.model_dump_json(indent=1).encode()):
            return key


def _store_files(one: ImportedCell, key: AttemptKey) -> None:
    note_phase(one.store, one.clock, key, "collect")
    entries = []
    for file in one.files:
        stored = one.store.upload(layout.attempt_file(key, one.paths[file.name]), file.path)
        entries.append(ManifestEntry(path=one.paths[file.name], size_bytes=stored.size_bytes, sha256=stored.sha256))
    write_model(one.store, key, layout.PROVENANCE, _provenance(one))
    manifest = Manifest(key=key, files=tuple(entries), written_at=one.clock.now())
    write_model(one.store, key, layout.MANIFEST, manifest)


def _provenance(one: ImportedCell) -> Provenance:
    told = one.description
    return Provenance(
        source=told.source,
        licence=told.licence,
        files=tuple(file.name for file in one.files),
        forced_format=told.format,
        unit=told.unit,
        operations=dict(told.operations),
        environment=dict(one.wanted.environment),
        unknown=unknown_facts(told.definition, one.wanted.environment),
        imported_at=one.clock.now(),
    )
