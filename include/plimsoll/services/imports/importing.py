"""Import runs that others measured into a campaign of the store: raw files, provenance, manifest, verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from plimsoll.analysis.logs.formats import FORMATS
from plimsoll.domain.attempt.result import Manifest, ManifestEntry, Verdict
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.fingerprint import Provenance
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.ports.controller import Log
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.imports.description import (
    DescribedRun,
    ImportDescription,
    described_runs,
    unknown_facts,
    with_loader,
)
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.ownership import held
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit


class LocalFile(Protocol):
    """A file to import.

    `name`: its path at the source, relative to the folder of the import's description; `path`: the file on this
    machine; `sha256`: of its content.
    """

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def sha256(self) -> str: ...


FindFiles = Callable[[DescribedRun], Sequence[LocalFile]]


@dataclass(frozen=True)
class _Import:
    """The import of one cell."""

    toolkit: Toolkit
    description: ImportDescription
    wanted: DescribedRun
    of_loaders: Mapping[str, Sequence[LocalFile]]
    """The files of each load generator; all under an empty name where nobody tells several apart."""

    @property
    def files(self) -> Sequence[LocalFile]:
        return [file for files in self.of_loaders.values() for file in files]

    @property
    def paths(self) -> dict[str, str]:
        """Return the path of each file within the attempt, by its name at the source."""
        return {file.name: layout.imported_file(file.name) for file in self.files}

    def run(self, campaign: CampaignStore, log: Log) -> Verdict:
        """Import the cell's files and judge them, unless the newest attempt at the cell has them already."""
        newest = campaign.newest_attempt(self.wanted.cell.id)
        if newest is not None and self._is_same(newest):
            verdict = judge(AttemptContext(self.toolkit, newest))
            log(f"{newest}: there already, {verdict.outcome}")
            return verdict
        owner, now, store = self.toolkit.owners.me(), self.toolkit.clock.now(), self.toolkit.store
        key = campaign.begin_attempt(self.wanted.cell.id, owner, now, self.toolkit.code_version)
        note_phase(self.toolkit, key, "collect")
        entries = []
        for file in self.files:
            path = self.paths[file.name]
            stored = store.upload(layout.attempt_file(key, path), file.path)
            entries.append(ManifestEntry(path=path, size_bytes=stored.size_bytes, sha256=stored.sha256))
        # Before the manifest: an attempt without provenance is judged as one that ran here
        layout.PROVENANCE.write(store, key, self._provenance())
        manifest = Manifest(key=key, files=tuple(entries), written_at=self.toolkit.clock.now())
        layout.MANIFEST.write(store, key, manifest)
        verdict = judge(AttemptContext(self.toolkit, key))
        judged = layout.PROVENANCE.read(store, key)
        unit = f" (values in {judged.unit_taken})" if judged and judged.unit_taken else ""
        log(f"{key}: {verdict.outcome} {'; '.join(verdict.reasons)}".rstrip() + unit)
        return verdict

    def _is_same(self, key: AttemptKey) -> bool:
        """Tell whether the attempt holds exactly these files, read in the same way."""
        store = self.toolkit.store
        manifest, provenance = layout.MANIFEST.read(store, key), layout.PROVENANCE.read(store, key)
        if manifest is None or provenance is None:
            return False
        stored = {entry.path: entry.sha256 for entry in manifest.files}
        # The time is another one at each import, and judging adds the other two
        kept = {name: getattr(provenance, name) for name in ("imported_at", "format", "unit_taken")}
        fresh = self._provenance().model_copy(update=kept)
        return stored == {self.paths[file.name]: file.sha256 for file in self.files} and fresh == provenance

    def _provenance(self) -> Provenance:
        description = self.description
        return Provenance(
            source=description.source,
            licence=description.licence,
            files=tuple(file.name for file in self.files),
            forced_format=description.format,
            unit=self.wanted.unit,
            tags=description.tags,
            columns=description.columns,
            operations=dict(description.operations),
            environment=dict(self.wanted.environment),
            loaders={name: tuple(file.name for file in own) for name, own in self.of_loaders.items() if name},
            unknown=unknown_facts(description.definition, self.wanted.environment),
            imported_at=self.toolkit.clock.now(),
        )


def import_runs(toolkit: Toolkit, description: ImportDescription, find: FindFiles, log: Log) -> tuple[Verdict, ...]:
    """Import every run whose files are found. Run again, cells with unchanged files are left as they are.

    Raises Refused where the campaign exists with another definition, where no file is found or one belongs to several
    cells, for an unknown format, and while another process imports into the campaign.
    Raises StoreError where the store can't be written, or its folder does not exist.
    """
    formats, where = [known.name for known in FORMATS], f"the import of {description.campaign}"
    if description.format is not None and description.format not in formats:
        unknown = Problem("format", f"{description.format!r} is unknown", f"there is: {', '.join(formats)}")
        raise Refused([unknown], where=where)
    runs = [(wanted, _by_loader(wanted, description, find)) for wanted in described_runs(description)]
    if not any(files for _, own in runs for files in own.values()):
        tried = f": {', '.join(description.files)}" if description.files else ""
        mend = "they count from the description's folder; docs/guides/importing.md has their placeholders"
        raise Refused([Problem("files", f"no pattern finds any file{tried}", mend)], where=where)
    _require_own_files(runs, where)
    toolkit.store.check()
    campaign = CampaignStore(toolkit.store, description.campaign)
    campaign.open(description.definition)
    imports = [_Import(toolkit, description, wanted, own) for wanted, own in runs if any(own.values())]
    with held(toolkit, description.campaign):
        return tuple(cell_import.run(campaign, log) for cell_import in imports)


def _by_loader(
    wanted: DescribedRun, description: ImportDescription, find: FindFiles
) -> Mapping[str, Sequence[LocalFile]]:
    """Return the files of each load generator. One of several may have none, which the cell's verdict then says."""
    if not description.loaders:
        return {"": find(wanted)}
    asked = {name: replace(wanted, patterns=with_loader(wanted.patterns, name)) for name in description.loaders}
    by_loader = {name: find(replace(run, required=False)) for name, run in asked.items()}
    if wanted.required and not any(by_loader.values()):
        find(asked[description.loaders[0]])  # which says what was not found
    return by_loader


def _require_own_files(runs: Sequence[tuple[DescribedRun, Mapping[str, Sequence[LocalFile]]]], where: str) -> None:
    """Refuse a file for several cells: one measurement would be judged as that of several loads or variants."""
    cells: dict[str, str] = {}
    for wanted, own in runs:
        for file in (file for files in own.values() for file in files):
            if cells.get(file.name) == wanted.cell.id:
                what, mend = f"{file.name} is found for two of the `loaders`", "tell their files apart by {loader}"
                raise Refused([Problem("files", what, mend)], where=where)
            if file.name in cells:
                what = f"{file.name} is found for the cells {cells[file.name]} and {wanted.cell.id}"
                mend = "tell each cell's files apart: by {variant}, {load_k}, {repeat} … in `files`, or by `runs`"
                raise Refused([Problem("files", what, mend)], where=where)
            cells[file.name] = wanted.cell.id
