"""A campaign in the store, typed: definition, attempts, verdicts, manifests."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TypeVar

from plimsoll.domain.attempt.result import Manifest, Verdict
from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Attempt, AttemptKey, Cancellation, campaign_id_problem
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.hosts.fingerprint import Fingerprint
from plimsoll.domain.keys.action import ActionBegin, ActionEnd, RecordedAction
from plimsoll.domain.keys.origins import Provenance
from plimsoll.domain.keys.stage import StageStart, StageStarts
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import NotFound, Problem, Refused, StoreError
from plimsoll.domain.text.wording import meant
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.definitions.continuing import changed_keys, continued_as, with_sliding_windows
from plimsoll.services.definitions.reference import dump_definition, parse_definition
from plimsoll.services.store import layout
from plimsoll.services.store.records import find_record, parse_record

_M = TypeVar("_M", bound=Model)


@dataclass(frozen=True)
class StoredCampaign:
    """One campaign's part of a store, to be read. Reads return None where nothing is stored yet."""

    store: ReadableStore
    campaign_id: str

    def resolved(self) -> Campaign:
        """Return the campaign that its own copy of the definition declares, with the loads that are known by now.

        Raises NotFound when the campaign does not exist.
        """
        return self.with_stage_starts(resolve(self.declared()))

    def with_stage_starts(self, campaign: Campaign) -> Campaign:
        """Return the campaign with the loads that its stages took from earlier stages' results so far."""
        taking = (stage.id for stage in campaign.stages if stage.first.taken)
        return campaign.with_stage_starts(self.stage_starts(taking))

    def stage_starts(self, stages: Iterable[str]) -> StageStarts:
        """Return the loads that these stages of the campaign took from earlier stages' results so far."""
        return {stage: start for stage in stages if (start := self._stage_start(stage))}

    def declared(self) -> Definition:
        """Return the campaign's own copy of its definition."""
        return self.parsed(self.definition_text())

    def continued(self, definition: Definition) -> Definition:
        """Return the campaign's own definition as a run of that definition continues it.

        Keys that do not affect the measurement may change, such as the budget. Raises Refused where the campaign was
        started with another definition, and NotFound when it does not exist.
        """
        stored = self.declared()
        wanted = continued_as(stored, definition)
        if wanted is not None:
            return wanted
        if stored.name != definition.name:
            what = f"belongs to another definition, {stored.name!r}"
            mend = f"go on with {stored.name!r} (DAG {stored.dag_id}), or take another id for a new campaign"
        else:
            what = f"was started with another definition; changed since: {', '.join(changed_keys(stored, definition))}"
            mend = "start a new campaign, or bring the definition back to what the campaign was started with"
        raise Refused([Problem(f"campaign {self.campaign_id!r}", what, mend)], where=f"campaign {self.campaign_id!r}")

    def parsed(self, text: bytes) -> Definition:
        """Return the definition that this text of the campaign's own copy declares."""
        where = self.store.url(layout.definition_key(self.campaign_id))
        return parse_definition(text.decode(), where)

    def definition_text(self) -> bytes:
        """Return the text of the campaign's own copy of its definition, as it is stored."""
        try:
            return self.store.read(layout.definition_key(self.campaign_id))
        except (NotFound, StoreError) as error:
            if isinstance(error, StoreError) and campaign_id_problem(self.campaign_id) is None:
                raise
            known = "`plimsoll campaigns` lists the campaigns of this store"
            raise NotFound(
                f"there is no campaign {self.campaign_id!r}",
                where=self.store.url(),
                mend=f"{meant(self.campaign_id, self.store.folders(''))} {known}".strip(),
            ) from error

    def definition_sha256(self) -> str:
        """Return the digest of the campaign's own copy, in hexadecimal digits."""
        return sha256(self.definition_text()).hexdigest()

    def attempts(self, cell_id: str) -> tuple[AttemptKey, ...]:
        """Return the keys of the cell's attempts, oldest first."""
        names = self.store.folders(layout.cell_prefix(self.campaign_id, cell_id))
        return tuple(self.key(cell_id, number) for number in sorted(int(name) for name in names if name.isdigit()))

    def newest_attempt(self, cell_id: str) -> AttemptKey | None:
        """Return the attempt that was started last."""
        return next(reversed(self.attempts(cell_id)), None)

    def key(self, cell_id: str, attempt: int) -> AttemptKey:
        return AttemptKey(campaign_id=self.campaign_id, cell_id=cell_id, attempt=attempt)

    def cells_with_attempts(self) -> tuple[str, ...]:
        """Return the ids of all cells with at least one attempt."""
        return self.store.folders(layout.cells_prefix(self.campaign_id))

    def verdicts(self) -> Iterator[Verdict]:
        """Yield every verdict of every attempt, by cell and attempt."""
        return (parse_record(self.store, key, text, Verdict) for key, text in self.verdict_files())

    def verdict_files(self) -> Iterator[tuple[str, bytes]]:
        """Yield key and text of every verdict of every attempt, by cell and attempt."""
        for cell_id in self.cells_with_attempts():
            for key in self.attempts(cell_id):
                name = layout.attempt_file(key, layout.VERDICT)
                with suppress(NotFound):
                    yield name, self.store.read(name)

    def _stage_start(self, stage: str) -> StageStart | None:
        return find_record(self.store, layout.stage_key(self.campaign_id, stage), StageStart)


@dataclass(frozen=True)
class CampaignStore(StoredCampaign):
    """One campaign's part of the result store, which is written to, too."""

    store: ResultStore

    def record_stage_start(self, stage_start: StageStart) -> None:
        """Record a stage's loads. Recorded loads never change: of two callers at once, the first one wins.

        Raises Refused while the campaign is being deleted, and NotFound where it was deleted meanwhile; then nothing is
        left of it.
        """
        self.require_kept()
        key = layout.stage_key(self.campaign_id, stage_start.stage)
        self.store.create(key, stage_start.model_dump_json(indent=1).encode())
        if not campaign_exists(self.store, self.campaign_id):  # a deletion that began after the look has ended by now
            self.store.delete(key)
            raise NotFound(f"campaign {self.campaign_id!r} was deleted meanwhile", where=self.store.url())

    def open(self, definition: Definition) -> Definition:
        """Create the campaign, or continue an existing one. Returns the campaign's own copy, as it is now.

        Raises Refused as `continued` does, and for a malformed id.
        """
        if problem := campaign_id_problem(self.campaign_id):
            raise Refused([problem])
        self.require_kept()
        key = layout.definition_key(self.campaign_id)
        if self.store.create(key, dump_definition(definition).encode()):
            return definition
        wanted = self.continued(definition)
        if wanted != self.declared():
            # Each attempt has the digest of the text by which it ran.
            earlier = layout.earlier_definition_key(self.campaign_id, self.definition_sha256())
            self.store.create(earlier, self.definition_text())
            self.store.write(key, dump_definition(wanted).encode())
        return wanted

    def require_kept(self) -> None:
        """Raise Refused while the campaign is being deleted, and after an interrupted deletion."""
        if self.store.exists(layout.deleting_key(self.campaign_id)):
            mend = (
                f"`plimsoll campaigns delete {self.campaign_id}`, or its page, finishes it; then the id is free again"
            )
            raise Refused([Problem(f"campaign {self.campaign_id!r}", "is being deleted", mend)])

    def add_sliding_windows(self) -> None:
        """Judge the first service level by sliding windows too, in addition to aligned intervals, from now on.

        Earlier verdicts lack these windows until the attempts are judged again, and no report is made until then.
        """
        stored = self.declared()
        amended = with_sliding_windows(stored)
        if amended != stored:
            self.store.write(layout.definition_key(self.campaign_id), dump_definition(amended).encode())

    def begin_attempt(self, cell_id: str, owner: str, at: datetime, code_version: str) -> AttemptKey:
        """Record a new attempt at the cell with its owner. Two callers at once get different numbers."""
        self.store.delete(layout.totals_key(self.campaign_id))
        number = len(self.attempts(cell_id))
        while True:
            number += 1
            attempt = Attempt(
                key=self.key(cell_id, number),
                owner=owner,
                started_at=at,
                code_version=code_version,
                definition_sha256=self.definition_sha256(),
            )
            # Creating the file is the race.
            name = layout.attempt_file(attempt.key, layout.ATTEMPT)
            if self.store.create(name, attempt.model_dump_json(indent=1).encode()):
                return attempt.key


def campaign_ids(store: ReadableStore) -> tuple[str, ...]:
    return tuple(name for name in store.folders("") if campaign_exists(store, name))


def campaign_exists(store: ReadableStore, campaign_id: str) -> bool:
    """Tell whether the campaign was created."""
    return store.exists(layout.definition_key(campaign_id))


def read_model(store: ReadableStore, key: AttemptKey, name: str, kind: type[_M]) -> _M | None:
    """Read a stored model of an attempt; None where there is none."""
    return find_record(store, layout.attempt_file(key, name), kind)


def write_model(store: ResultStore, key: AttemptKey, name: str, model: Model) -> None:
    """Store a model of an attempt as JSON."""
    store.write(layout.attempt_file(key, name), model.model_dump_json(indent=1).encode())


def read_attempt(store: ReadableStore, key: AttemptKey) -> Attempt | None:
    """Read the attempt's record, with its owner and start."""
    return read_model(store, key, layout.ATTEMPT, Attempt)


def read_cancellation(store: ReadableStore, key: AttemptKey) -> Cancellation | None:
    """Read who cancelled the attempt; None where nobody did."""
    return read_model(store, key, layout.CANCELLED, Cancellation)


def read_verdict(store: ReadableStore, key: AttemptKey) -> Verdict | None:
    """Read the attempt's verdict; None while it is not judged."""
    return read_model(store, key, layout.VERDICT, Verdict)


def read_manifest(store: ReadableStore, key: AttemptKey) -> Manifest | None:
    """Read the attempt's manifest; None while the attempt does not count yet."""
    return read_model(store, key, layout.MANIFEST, Manifest)


def read_cluster(store: ReadableStore, key: AttemptKey) -> Cluster | None:
    """Read the cluster that the attempt was given; None before it was provisioned."""
    return read_model(store, key, layout.CLUSTER, Cluster)


def read_fingerprint(store: ReadableStore, key: AttemptKey) -> Fingerprint | None:
    """Read the attempt's real environment; None before it was deployed."""
    return read_model(store, key, layout.FINGERPRINT, Fingerprint)


def read_action(store: ReadableStore, key: AttemptKey) -> RecordedAction | None:
    """Read what was done to the attempt's cluster; None where nothing was, or where it has not ended."""
    begin = read_model(store, key, layout.ACTION, ActionBegin)
    end = read_model(store, key, layout.ACTION_END, ActionEnd)
    return RecordedAction(begin, end) if begin and end else None


def read_provenance(store: ReadableStore, key: AttemptKey) -> Provenance | None:
    """Read the origin of an imported attempt; None where Plimsoll ran the attempt."""
    return read_model(store, key, layout.PROVENANCE, Provenance)


def read_progress(store: ReadableStore, key: AttemptKey) -> AttemptProgress | None:
    """Read the attempt's progress; None where there is none."""
    return read_model(store, key, layout.PROGRESS, AttemptProgress)
