"""The places of files in the result store, as docs/contributing/architecture.md lists them. Records whose models belong
to a use-case are declared beside these models. Nothing else builds keys.
"""

from plimsoll.domain.attempt.load_summary import LoadStart
from plimsoll.domain.attempt.populated_data import CountedRows, DataOrigin
from plimsoll.domain.attempt.result import Manifest, Note, RawRemoval, Verdict
from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.campaign.cell import Attempt, AttemptKey, Cancellation
from plimsoll.domain.hosts.cluster import Cluster, Launch, SetUp
from plimsoll.domain.hosts.cost import Cost, Tariff
from plimsoll.domain.hosts.fingerprint import Fingerprint, Provenance
from plimsoll.domain.keys.action import ActionBegin, ActionEnd
from plimsoll.domain.keys.host_bounds import CanaryReport
from plimsoll.domain.keys.strategy import StageStart
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.keys.trigger import Approval, ApprovalQuestion, BegunBy
from plimsoll.services.store.records import Place, Record, folder_of

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
