"""The places of files in the result store, as docs/contributing/architecture.md lists them, and the records there,
which are models as JSON.

Records whose models belong to a use-case are declared beside these models. Nothing else builds keys.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from pydantic import ValidationError

from plimsoll.domain.attempt.load_summary import LoadStart
from plimsoll.domain.attempt.populated_data import CountedRows, DataOrigin
from plimsoll.domain.attempt.result import Manifest, Note, RawRemoval, Verdict
from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.campaign.cell import Attempt, AttemptKey, Cancellation
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, Launch, SetUp
from plimsoll.domain.hosts.cost import Cost, Tariff
from plimsoll.domain.hosts.fingerprint import Fingerprint, Provenance
from plimsoll.domain.keys.action import ActionBegin, ActionEnd
from plimsoll.domain.keys.faults import fault_words
from plimsoll.domain.keys.host_bounds import CanaryReport
from plimsoll.domain.keys.strategy import StageStart
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.keys.trigger import Approval, ApprovalQuestion, BegunBy
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import DamagedRecord, NotFound
from plimsoll.ports.store import ReadableStore, ResultStore

_M = TypeVar("_M", bound=Model)
Subject = str | AttemptKey | ClusterId
"""What a file is about: a campaign, by its id; an attempt; a cluster. An empty text: the store as a whole."""
_GAP = re.compile(r"<\w+>")
_MEND = (
    "use the newer Plimsoll that wrote it, if one did; else put the file back from a copy of the store. Where there is "
    "no copy, see with `plimsoll clusters list` that nothing of the campaign lives. Then delete the file, or the "
    "folder of the attempt that it belongs to, and run that cell again"
)


def folder_of(subject: Subject) -> str:
    """Return the folder of a subject. An attempt's own cluster is in its attempt's; kept hosts have folders beside."""
    attempt = subject.attempt if isinstance(subject, ClusterId) else subject
    if isinstance(attempt, AttemptKey):
        return f"{attempt.campaign_id}/cells/{attempt.cell_id}/{attempt.attempt}"
    return f"{subject.campaign_id}/clusters/{subject.name}" if isinstance(subject, ClusterId) else str(subject)


@dataclass(frozen=True)
class Place:
    """A file, or several: `path` is below the folder of their subject, and `<…>` stands for the names of each."""

    path: str

    def key(self, of: Subject, *names: object) -> str:
        """Return the key of the file with these names, one for each `<…>`."""
        remaining = iter(names)
        return "/".join(filter(None, (folder_of(of), _GAP.sub(lambda _: str(next(remaining)), self.path))))

    def folder(self, of: Subject, *names: object) -> str:
        """Return the folder of all files with these first names."""
        # No path has this character, so the text can be split where names belong
        left = _GAP.sub("\0", self.path).split("\0")[: len(names) + 1]
        path = "".join(f"{text}{name}" for text, name in zip(left, (*names, ""), strict=True))
        return "/".join(filter(None, (folder_of(of), path.rstrip("/"))))

    def exists(self, store: ReadableStore, of: Subject, *names: object) -> bool:
        return store.exists(self.key(of, *names))

    def numbered(self, store: ReadableStore, of: Subject, *names: object) -> list[tuple[int, str]]:
        """Return the number and the key of each file whose name is a number, in the order of the numbers."""
        stems = ((PurePosixPath(key).stem, key) for key in store.keys(self.folder(of, *names)))
        # A copy that a person left there, such as `1.json.bak`, has no number
        return sorted((int(stem), key) for stem, key in stems if stem.isdecimal())

    def newest_number(self, store: ReadableStore, of: Subject) -> int:
        """Return the greatest number that the name of a file is; 0 where there is none."""
        return max((number for number, _ in self.numbered(store, of)), default=0)


@dataclass(frozen=True)
class Record(Place, Generic[_M]):
    """A place whose files hold a model each. `indent`: by how much JSON is indented; None: it is one line."""

    model: type[_M]
    indent: int | None = 1

    def content(self, record: _M) -> bytes:
        return record.model_dump_json(indent=self.indent).encode()

    def parse(self, store: ReadableStore, key: str, text: bytes) -> _M:
        """Return the record with that key and text. Raises DamagedRecord where it can't be understood."""
        try:
            return self.model.model_validate_json(text)
        except ValidationError as error:
            fault = error.errors()[0]
            field = ".".join(map(str, fault["loc"]))
            what = f"is damaged: {field}: {fault_words(fault)}" if field else f"is damaged: {fault_words(fault)}"
            raise DamagedRecord(what, where=store.url(key), mend=_MEND) from error

    def at(self, store: ReadableStore, key: str) -> _M:
        """Return the record with that key. Raises NotFound where there is none, and DamagedRecord."""
        return self.parse(store, key, store.read(key))

    def read(self, store: ReadableStore, of: Subject, *names: object) -> _M | None:
        """Return the record; None where there is none. Raises DamagedRecord where it can't be understood."""
        try:
            return self.at(store, self.key(of, *names))
        except NotFound:
            return None

    def read_sound(self, store: ReadableStore, of: Subject, *names: object) -> _M | None:
        """Return the record; None where there is none that can be understood. For what can do without it."""
        try:
            return self.read(store, of, *names)
        except DamagedRecord:
            return None

    def read_all(self, store: ReadableStore, of: Subject) -> Iterator[_M]:
        """Yield all records of the subject, by their keys."""
        return (self.at(store, key) for key in store.keys(self.folder(of)))

    def write(self, store: ResultStore, of: Subject, record: _M, *names: object) -> None:
        """Store the record in place of an earlier one."""
        store.write(self.key(of, *names), self.content(record))

    def create(self, store: ResultStore, of: Subject, record: _M, *names: object) -> bool:
        """Store the record unless there is one; False where there was. Of two callers at once, one succeeds."""
        return store.create(self.key(of, *names), self.content(record))

    def settle(self, store: ResultStore, of: Subject, record: _M, *names: object) -> _M:
        """Store the record, or return the one that somebody stored first."""
        created = self.create(store, of, record, *names)
        return record if created else self.read(store, of, *names) or record


# Of the store as a whole. No campaign's id has a dot.
NOTED_PLACE = Record(".places/<digest>.json", ProviderChoice, indent=None)
AT_REST = Record(".at-rest/<campaign>/<token>-<digest>.json", ProviderChoice, indent=None)
LOOK = Place(".at-rest/<campaign>/<token>.look")
FULL_ZONE = Place(".full-zones/<zone>")
# Says of which definition a campaign is, so that one listing gives a definition's campaigns: an id may be any.
CAMPAIGN_OF = Place(".definitions/<definition>/campaigns/<campaign_id>")
# Says that what a trend has gathered of the campaign, with that token, is up to date. All are in one folder, because a
# folder of each campaign would be removed while somebody writes there.
TREND_TOKEN = Place(".gathered/campaigns/<campaign>.<token>")

# Of a campaign.
DEFINITION = Place("definition.yaml")
EARLIER_DEFINITION = Place("earlier-definitions/<sha256>.yaml")
NOTE = Record("note.json", Note)
KEEP = Record("keep.json", Note)
# Each approval is named after its amount: of two people who approve the same at once, the first one counts.
APPROVAL = Record("approvals/<usd>.json", Approval)
LATE = Place("late")
QUESTION = Record("questions/<digest>.json", ApprovalQuestion)
BEGUN_BY = Record("begun-by.json", BegunBy)
DELETING = Place("deleting.json")
TOTALS = Place("settled.json")
FIGURES = Place("trend.json")
STAGE_START = Record("stages/<stage>.json", StageStart)
ROWS = Record("rows/<workload>.json", CountedRows)
DATABASE = Place("databases/<cell>/<attempt>")
SET_UP = Record("set-ups/<cell>/<attempt>.json", SetUp)
BUNDLES = Place("bundles/<name>-<sha256>.tar")
ATTEMPTS = Place("cells/<cell>/<attempt>")
KEPT_CLUSTERS = Place("clusters/<hosts>/<number>")
# The prices open an account. Amounts are part of the names of what follows, so that one listing gives all costs.
PRICES = Record("costs/<cell>/<attempt>/begun", Tariff)
COST = Record("costs/<cell>/<attempt>/<usd>.json", Cost)
REPORT = "report.html"
BUNDLE = "bundle.zip"
REPORT_FILES = Place("report/<file>")

# Of a campaign, and of an attempt.
QUALITY = "quality"
DATA_DOCS = Place("quality/<file>")

# Of an attempt. Numbers of attempts have no leading zeros.
ATTEMPT = Record("attempt.json", Attempt)
PROGRESS = Record("progress.json", AttemptProgress)
PROVENANCE = Record("provenance.json", Provenance)
ORIGIN = Record("data-origin.json", DataOrigin)
TURN = Place("turn")
CANARY = Record("canary.json", CanaryReport)
FLUSHED = Place("flushed")
ACTION = Record("action.json", ActionBegin)
ACTION_END = Record("action-end.json", ActionEnd)
LOAD_START = Record("load-start.json", LoadStart)
FINGERPRINT = Record("fingerprint.json", Fingerprint)
FAILURE = Place("failure.txt")
UNDESTROYED = Place("undestroyed.txt")
CANCELLED = Record("cancelled.json", Cancellation)
RAW = "raw"
MANIFEST = Record("manifest.json", Manifest)
RAW_REMOVED = Record("raw-removed.json", RawRemoval)
VERDICT = Record("verdict.json", Verdict)
EARLIER_VERDICT = Record("verdicts/<number>.json", Verdict)

# Of a cluster: of an attempt, or of kept hosts.
CLUSTER = Record("cluster.json", Cluster)
LAUNCH = Record("launches/<token>.json", Launch)
UNENDED = Place("unended.txt")


def attempt_file(key: AttemptKey, name: str) -> str:
    return f"{folder_of(key)}/{name}"


def imported_file(name: str) -> str:
    """Return the path of a file of an imported attempt, relative to the attempt, by its name at the source."""
    return f"{RAW}/imported/{name}"


def report_key(campaign_id: str, name: str = REPORT) -> str:
    """Return the key of a file of the campaign's report; of its page when no file is named."""
    return REPORT_FILES.key(campaign_id, name)
