"""A campaign in the store, typed: definition, attempts, verdicts, manifests."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TypeVar

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Attempt, AttemptKey, campaign_id_problem
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.strategy import StageStart, StageStarts
from plimsoll.domain.keys.trigger import Approval, ApprovalQuestion, BegunBy
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import DefinitionError, NotFound, Problem, Refused
from plimsoll.domain.text.wording import meant
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.definitions.continuing import changed_keys, continued_as, with_sliding_windows
from plimsoll.services.definitions.reference import dump_definition, parse_definition
from plimsoll.services.store import layout
from plimsoll.services.store.judged import unmark_in_trends, void_summaries
from plimsoll.services.store.layout import Record
from plimsoll.services.store.listing import campaign_exists, campaign_folders, note_definition

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
        taking = (stage.id for stage in campaign.stages if stage.first.taken)
        return campaign.with_stage_starts(self.stage_starts(taking))

    def stage_starts(self, stages: Iterable[str]) -> StageStarts:
        """Return the loads that these stages of the campaign took from earlier stages' results so far."""
        read = layout.STAGE_START.read
        return {stage: start for stage in stages if (start := read(self.store, self.campaign_id, stage))}

    def approvals(self) -> tuple[Approval, ...]:
        """Return what people have approved, by their time."""
        return tuple(sorted(layout.APPROVAL.read_all(self.store, self.campaign_id), key=lambda approval: approval.at))

    def begun_by(self, campaign: Campaign) -> BegunBy | None:
        """Return the event by which the campaign began; None where a person or a schedule began it."""
        return layout.BEGUN_BY.read_sound(self.store, self.campaign_id) if campaign.trigger else None

    def declared(self) -> Definition:
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
        """Return the definition that this text of the campaign's own copy declares. Raises DefinitionError."""
        where = self.store.url(layout.DEFINITION.key(self.campaign_id))
        try:
            return parse_definition(text.decode(), where)
        except UnicodeDecodeError as error:
            problem = Problem("the whole file", "is not UTF-8 text", "put it back from a copy of the store")
            raise DefinitionError([problem], where=where) from error

    def definition_text(self) -> bytes:
        """Return the text of the campaign's own copy of its definition, as it is stored."""
        self.require_id()
        try:
            return self.store.read(layout.DEFINITION.key(self.campaign_id))
        except NotFound as error:
            raise self.not_there() from error

    def require_id(self) -> None:
        """Raise NotFound for a text that can be no campaign's id, such as a path: it would lead to other files."""
        if campaign_id_problem(self.campaign_id):
            raise self.not_there()

    def not_there(self) -> NotFound:
        """Return the error that there is no such campaign, with the one that may have been meant."""
        known = "`plimsoll campaigns` lists the campaigns of this store"
        mend = f"{meant(self.campaign_id, campaign_folders(self.store))} {known}".strip()
        return NotFound(f"there is no campaign {self.campaign_id!r}", where=self.store.url(), mend=mend)

    def definition_sha256(self) -> str:
        """Return the digest of the campaign's own copy, in hexadecimal digits."""
        return sha256(self.definition_text()).hexdigest()

    def attempts(self, cell_id: str) -> tuple[AttemptKey, ...]:
        """Return the keys of the cell's attempts, oldest first."""
        names = self.store.folders(layout.ATTEMPTS.folder(self.campaign_id, cell_id))
        return tuple(self.key(cell_id, number) for number in sorted(int(name) for name in names if name.isdigit()))

    def newest_attempt(self, cell_id: str) -> AttemptKey | None:
        """Return the attempt that was started last; None where there is none."""
        return next(reversed(self.attempts(cell_id)), None)

    def key(self, cell_id: str, attempt: int) -> AttemptKey:
        return AttemptKey(campaign_id=self.campaign_id, cell_id=cell_id, attempt=attempt)

    def cells_with_attempts(self) -> tuple[str, ...]:
        return self.store.folders(layout.ATTEMPTS.folder(self.campaign_id))

    def all_attempts(self) -> Iterator[AttemptKey]:
        """Yield the keys of all attempts, by cell and number."""
        return (key for cell_id in self.cells_with_attempts() for key in self.attempts(cell_id))

    def verdicts(self) -> Iterator[Verdict]:
        """Yield every verdict of every attempt, by cell and attempt."""
        return (layout.VERDICT.parse(self.store, key, text) for key, text in self.verdict_files())

    def verdict_names(self) -> str:
        """Return a digest of the names of all verdicts, earlier ones too: judging anew or again changes them."""
        own = layout.VERDICT.path, layout.EARLIER_VERDICT.folder("")
        keys = (key.split("/") for key in self.store.keys(layout.ATTEMPTS.folder(self.campaign_id)))
        names = ("/".join(key) for key in keys if len(key) > 4 and key[4] in own)
        return sha256("\n".join(names).encode()).hexdigest()

    def judged_again(self) -> tuple[AttemptKey, ...]:
        """Return the attempts with earlier verdicts: one listing tells."""
        kept = layout.EARLIER_VERDICT.folder("")
        keys = (key.split("/") for key in self.store.keys(layout.ATTEMPTS.folder(self.campaign_id)))
        return tuple(dict.fromkeys(self.key(key[2], int(key[3])) for key in keys if len(key) > 5 and key[4] == kept))

    def verdict_files(self) -> Iterator[tuple[str, bytes]]:
        """Yield key and text of every verdict of every attempt, by cell and attempt."""
        for name in map(layout.VERDICT.key, self.all_attempts()):
            with suppress(NotFound):
                yield name, self.store.read(name)


@dataclass(frozen=True)
class CampaignStore(StoredCampaign):
    """One campaign's part of the result store, which is written to, too."""

    store: ResultStore

    def record_stage_start(self, stage_start: StageStart) -> None:
        """Record a stage's loads. Recorded loads never change: of two callers at once, the first one wins.

        Raises Refused while the campaign is being deleted, and NotFound where it was deleted meanwhile; then nothing is
        left of it.
        """
        self._create(layout.STAGE_START, stage_start, stage_start.stage)

    def record_approval(self, approval: Approval) -> None:
        """Record that a person approved an amount. Of two who approve the same amount, the first one counts.

        Raises as `record_stage_start` does.
        """
        amount = "unknown" if approval.usd is None else f"{approval.usd:.6f}"
        self._create(layout.APPROVAL, approval, amount)

    def record_question(self, question: ApprovalQuestion, digest: str) -> ApprovalQuestion:
        """Record what the run with that digest asks a person to approve, or return what it asked already.

        Raises as `record_stage_start` does.
        """
        return self._create(layout.QUESTION, question, digest)

    def _create(self, place: Record[_M], record: _M, *names: str) -> _M:
        """Create the record, or return that which is there. Nothing is left of it in a campaign that is deleted now."""
        self.require_kept()
        settled = place.settle(self.store, self.campaign_id, record, *names)
        if not campaign_exists(self.store, self.campaign_id):  # a deletion that began after the look has ended by now
            self.store.delete(place.key(self.campaign_id, *names))
            raise NotFound(f"campaign {self.campaign_id!r} was deleted meanwhile", where=self.store.url())
        return settled

    def open(self, definition: Definition, begun_by: BegunBy | None = None) -> Definition:
        """Create the campaign, or continue an existing one. Returns the campaign's own copy, as it is now.

        `begun_by`: the event by which a new campaign begins.

        Raises Refused as `continued` does, and for a malformed id.
        """
        if problem := campaign_id_problem(self.campaign_id):
            raise Refused([problem])
        self.require_kept()
        unmark_in_trends(self.store, self.campaign_id)  # of another campaign with this id, or an interrupted change
        if begun_by and not campaign_exists(self.store, self.campaign_id):
            # First, since the event of a campaign without its record would be measured again. A folder with the record
            # alone is no campaign, and whoever plans it again replaces the record.
            layout.BEGUN_BY.write(self.store, self.campaign_id, begun_by)
        key = layout.DEFINITION.key(self.campaign_id)
        if self.store.create(key, dump_definition(definition).encode()):
            note_definition(self.store, self.campaign_id, definition.name)
            return definition
        wanted = self.continued(definition)
        if wanted != self.declared():
            # Each attempt has the digest of the text by which it ran.
            earlier = layout.EARLIER_DEFINITION.key(self.campaign_id, self.definition_sha256())
            self.store.create(earlier, self.definition_text())
            self._replace_definition(wanted)
        return wanted

    def _replace_definition(self, wanted: Definition) -> None:
        """Replace the campaign's own copy. A trend's record of it, which has the label, ends: who is killed in between
        leaves none, nor does a report that has read the earlier copy and records it now.
        """
        unmark_in_trends(self.store, self.campaign_id)
        self.store.delete(layout.FIGURES.key(self.campaign_id))
        self.store.write(layout.DEFINITION.key(self.campaign_id), dump_definition(wanted).encode())
        self.store.delete(layout.FIGURES.key(self.campaign_id))
        unmark_in_trends(self.store, self.campaign_id)
        self.store.delete(layout.AT_REST.folder("", self.campaign_id))  # whose mark has the provider of before

    def require_kept(self) -> None:
        """Raise Refused while the campaign is being deleted, and after an interrupted deletion."""
        if self.store.exists(layout.DELETING.key(self.campaign_id)):
            command = f"`plimsoll campaigns delete {self.campaign_id}`"
            mend = f"{command}, or its page, finishes it; then the id is free again"
            raise Refused([Problem(f"campaign {self.campaign_id!r}", "is being deleted", mend)])

    def add_sliding_windows(self) -> None:
        """Judge the first service level by sliding windows too, in addition to aligned intervals, from now on.

        Earlier verdicts lack these windows until the attempts are judged again, and no report is made until then.
        """
        stored = self.declared()
        amended = with_sliding_windows(stored)
        if amended != stored:
            self._replace_definition(amended)

    def begin_attempt(self, cell_id: str, owner: str, at: datetime, code_version: str) -> AttemptKey:
        """Record a new attempt at the cell with its owner. Two callers at once get different numbers."""
        void_summaries(self.store, self.campaign_id)
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
            if layout.ATTEMPT.create(self.store, attempt.key, attempt):
                return attempt.key
