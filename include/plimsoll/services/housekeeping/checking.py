"""Check a campaign: every recorded checksum against the bytes that are there, records that can't be read, and files
that nobody refers to. Nothing is changed.

Raw files are read in blocks. What is kept in memory is one campaign's listing and the bundle of its report, which
making the report takes too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from hashlib import sha256
from pathlib import PurePosixPath

from plimsoll.domain.attempt.result import Manifest
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import DefinitionError, NotFound, PlimsollError, StoreError
from plimsoll.domain.text.wording import plural
from plimsoll.services.cell.attempt_state import attempt_state_of
from plimsoll.services.definitions.continuing import with_sliding_windows
from plimsoll.services.housekeeping.faults import (
    CampaignFiles,
    Checked,
    Fault,
    OnBytes,
    Remedy,
    archive_digest,
    campaign_files,
)
from plimsoll.services.housekeeping.known import TABLE_PLACES, attempt_and_name, kind_of, place_of
from plimsoll.services.housekeeping.published import Published, check_published
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign
from plimsoll.services.store.layout import Record
from plimsoll.services.store.tables import read_table, table_file
from plimsoll.services.toolkit import Toolkit

YOUNG = timedelta(days=1)
"""The age up to which a file that nobody refers to counts as being written: longer than any upload takes."""
LOOK = "no program of Plimsoll put it there, or none knows it any more: look at it, then delete it by hand"
_ARCHIVE = "delete it: a cell that needs it uploads it again"
_INTERVALS = table_file("intervals")
_REMEDIES: Mapping[str, Remedy] = {
    layout.TOTALS.path: "totals",
    layout.FIGURES.path: "publish",
    layout.VERDICT.path: "rejudge",
}
_FROM_COPY = "put the file back from a copy of the store"
_RAW = (
    "put the file back from a copy of the store, or from a bundle with raw files; without one the attempt keeps its "
    "verdict, but can't be judged again"
)


def check_campaign_files(toolkit: Toolkit, campaign_id: str, on_bytes: OnBytes, *, raw: bool = True) -> Checked:
    """Check one campaign; `on_bytes` is told how much was read. Not `raw`: the content of raw files is not looked at.

    Raises NotFound where there is no such campaign, StoreError where the store can't be reached.
    """
    campaign = StoredCampaign(toolkit.store, campaign_id)
    campaign.require_id()
    files = campaign_files(toolkit.store, campaign_id, on_bytes)
    if not files.listed:
        raise campaign.not_there()
    if not any(map(place_of, files.listed)):
        newest = max(file.changed_at for file in files.listed.values())
        if toolkit.clock.now() - newest < YOUNG:
            return Checked(campaign_id, in_progress=tuple(files.listed), files=len(files.listed))
        fault = Fault("unreferenced", campaign_id, "", "the folder has nothing of a campaign", LOOK)
        return Checked(campaign_id, (fault,), files=len(files.listed))
    # Whatever else is missing is missing because of that
    if layout.DELETING.path in files.listed:
        what, mend = "its deletion was interrupted", f"`plimsoll campaigns delete {campaign_id}` finishes it"
        fault = Fault("unfinished", campaign_id, layout.DELETING.path, what, mend)
        return Checked(campaign_id, (fault,), files=len(files.listed))
    check = _Check(toolkit, files, check_published(files), raw)
    by_path = {fault.path: fault for fault in check.faults()}
    for fault in check.published.faults:  # which knows what a file should be, and the other one why it can't be read
        by_path[fault.path] = fault.after(by_path.get(fault.path))
    unreferenced = check.unreferenced()
    in_progress = tuple(filter(check.may_be_written, unreferenced))
    for path in unreferenced:
        if path not in in_progress:
            by_path[path] = Fault("unreferenced", campaign_id, path, "no record and no manifest names it", LOOK)
    return Checked(campaign_id, tuple(by_path[path] for path in sorted(by_path)), in_progress, len(files.listed))


@dataclass(frozen=True)
class _Check:
    """The check of one campaign's own files. `manifests`: those that can be read, once the records were."""

    toolkit: Toolkit
    files: CampaignFiles
    published: Published
    raw: bool
    manifests: dict[AttemptKey, Manifest] = field(default_factory=dict)

    @cached_property
    def attempts(self) -> Mapping[AttemptKey, frozenset[str]]:
        """Return the names of each attempt's files."""
        names_of: dict[AttemptKey, set[str]] = {}
        for path in self.files.listed:
            if of_attempt := attempt_and_name(self.files.campaign_id, path):
                names_of.setdefault(of_attempt[0], set()).add(of_attempt[1])
        return {key: frozenset(names) for key, names in names_of.items()}

    @cached_property
    def campaign(self) -> Campaign:
        return StoredCampaign(self.files.store, self.files.campaign_id).resolved()

    def faults(self) -> Iterator[Fault]:
        """Yield the faults of what the campaign's own records tell."""
        yield from self._definitions()
        for path in self.files.listed:
            yield from self._record(path)
        for key, names in self.attempts.items():
            yield from self._missing(key, names)
        for key, manifest in self.manifests.items():
            yield from self._raw_files(key, manifest)
        if self.raw:
            archives = [path for path in self.files.listed if place_of(path) is layout.BUNDLES]
            yield from filter(None, map(self._archive, archives))

    def unreferenced(self) -> tuple[str, ...]:
        """Return the files that no record, manifest or report names, and that have no place in the store either."""
        named = {_path(key, entry.path) for key, manifest in self.manifests.items() for entry in manifest.files}
        # Of an attempt whose manifest can't be read nobody knows which files it names
        unread = {key for key, names in self.attempts.items() if layout.MANIFEST.path in names} - self.manifests.keys()
        return tuple(
            path
            for path in self.files.listed
            if path not in named
            and (place_of(path) is None or (kind_of(path) == "report" and path not in self.published.report))
            and not ((of_attempt := attempt_and_name(self.files.campaign_id, path)) and of_attempt[0] in unread)
        )

    def may_be_written(self, path: str) -> bool:
        """Tell whether somebody may still be at work at a file that nobody refers to; also where that is unknown."""
        now = self.toolkit.clock.now()
        if now - self.files.listed[path].changed_at < YOUNG:
            return True
        of_attempt = attempt_and_name(self.files.campaign_id, path)
        if of_attempt is None:
            return False
        key, store = of_attempt[0], self.files.store
        try:
            state = attempt_state_of(store, key, self.attempts[key], self.campaign, now, self.toolkit.owners)
        except PlimsollError:
            return True
        return state.attempt is not None and state.is_running

    def _record(self, path: str) -> Iterator[Fault]:
        """Read a record or a table, unless the bundle has the same bytes."""
        of_attempt, place = attempt_and_name(self.files.campaign_id, path), place_of(path)
        remedy: Remedy = "nothing"
        try:
            if of_attempt and place is layout.MANIFEST:
                text = self.published.files.get(path) or self.files.read(path)
                self.manifests[of_attempt[0]] = layout.MANIFEST.parse(self.files.store, self.files.key(path), text)
            elif path in self.published.verified:
                return
            elif of_attempt and (table := TABLE_PLACES.get(of_attempt[1])):
                remedy = "rejudge"
                read_table(self.files.store, of_attempt[0], table)
            elif isinstance(place, Record):
                remedy = _REMEDIES.get(place.path, "nothing")
                place.parse(self.files.store, self.files.key(path), self.files.read(path))
        except NotFound:  # it was replaced or removed meanwhile, as records of runs and holds are
            return
        except StoreError as error:
            self.files.require_store(error)
            yield Fault("unreadable", self.files.campaign_id, path, error.what, error.mend, remedy=remedy)

    def _raw_files(self, key: AttemptKey, manifest: Manifest) -> Iterator[Fault]:
        expected = {_path(key, entry.path): entry.sha256 for entry in manifest.files}
        if layout.RAW_REMOVED.path in self.attempts[key]:
            removal = layout.RAW_REMOVED.read_sound(self.files.store, key)
            if removal and (left := expected.keys() & self.files.listed.keys()):
                what = f"its {removal}, and {plural(len(left), 'file')} of {len(expected)} are there"
                mend = "`plimsoll store prune` removes them; if you have put them back, delete this record"
                path = _path(key, layout.RAW_REMOVED.path)
                yield Fault("unfinished", key.campaign_id, path, what, mend)
        elif self.raw:
            yield from self.files.faults(expected, "the attempt's manifest", _RAW)

    def _archive(self, path: str) -> Fault | None:
        """Return the fault of an archive of software whose content is not what its name says."""
        expected, where = PurePosixPath(path).stem.rpartition("-")[2], self.files.key(path)
        try:
            actual = archive_digest(self.files.blocks(path), where)
        except NotFound:
            return None
        except StoreError as error:
            self.files.require_store(error)
            return Fault("unreadable", self.files.campaign_id, path, error.what, _ARCHIVE, expected, remedy="drop")
        if actual == expected:
            return None
        what = "its content is not what its name says"
        return Fault("differs", self.files.campaign_id, path, what, _ARCHIVE, expected, actual, "drop")

    def _missing(self, key: AttemptKey, names: frozenset[str]) -> Iterator[Fault]:
        """Yield records that others of the attempt presuppose."""
        presupposed = {layout.ATTEMPT.path: names, layout.MANIFEST.path: names & {layout.VERDICT.path}}
        for name, dependents in presupposed.items():
            if dependents and name not in names:
                what = f"{min(dependents)} is there, which is written after it"
                yield Fault("missing", key.campaign_id, _path(key, name), what, _FROM_COPY)
        if layout.VERDICT.path in names and _INTERVALS not in names:
            verdict = layout.VERDICT.read_sound(self.files.store, key)
            if verdict is not None and verdict.outcome != "invalid":
                what, mend = "its verdict was reached by them", f"`plimsoll rejudge {key.campaign_id}` makes them again"
                yield Fault("missing", key.campaign_id, _path(key, _INTERVALS), what, mend, remedy="rejudge")

    def _definitions(self) -> Iterator[Fault]:
        """Yield what is wrong with the definition and the earlier ones, whose names are their checksums."""
        campaign_id, listed, own = self.files.campaign_id, self.files.listed, layout.DEFINITION.path
        earlier = {path: PurePosixPath(path).stem for path in listed if place_of(path) is layout.EARLIER_DEFINITION}
        yield from self.files.faults(earlier, "its name", _FROM_COPY)
        if own not in listed:
            yield Fault("missing", campaign_id, own, "a campaign has one", _FROM_COPY)
            return
        if own in self.published.verified:
            return
        try:
            text = self.files.read(own)
            declared = StoredCampaign(self.files.store, campaign_id).parsed(text)
        except (DefinitionError, StoreError) as error:
            yield Fault("unreadable", campaign_id, own, error.what, _FROM_COPY)
            return
        digest = sha256(text).hexdigest()
        attempts = (layout.ATTEMPT.read_sound(self.files.store, key) for key in self.attempts)
        ran_by = {attempt.definition_sha256 for attempt in attempts if attempt} - {"", digest, *earlier.values()}
        # Sliding windows that were added later replaced the definition without a trace in older versions.
        if ran_by and with_sliding_windows(declared) != declared:
            what = "attempts ran by a definition with another checksum, which was not kept"
            yield Fault("differs", campaign_id, own, what, _FROM_COPY, expected=min(ran_by), actual=digest)


def _path(key: AttemptKey, name: str) -> str:
    return f"cells/{key.cell_id}/{key.attempt}/{name}"
