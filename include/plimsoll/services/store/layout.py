"""The keys of all files in the result store. No other module builds keys.

`<campaign_id>/definition.yaml`, `<campaign_id>/bundles/…`, `<campaign_id>/cells/<cell>/<attempt>/…`,
`<campaign_id>/costs/…`, `<campaign_id>/stages/…`, `<campaign_id>/report/…`, `<campaign_id>/settled.json`.
"""

import hashlib

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import ClusterId

_UNENDED = "unended.txt"
_UNFIT = "unfit"
ACTION = "action.json"
ACTION_END = "action-end.json"
ATTEMPT = "attempt.json"
BUNDLE = "bundle.zip"
CANARY = "canary.json"
CANCELLED = "cancelled.json"
CLUSTER = "cluster.json"
FAILURE = "failure.txt"
FINGERPRINT = "fingerprint.json"
FLUSHED = "flushed"
LAUNCHES = "launches"
LOAD_START = "load-start.json"
MANIFEST = "manifest.json"
ORIGIN = "data-origin.json"
PROGRESS = "progress.json"
PROVENANCE = "provenance.json"
QUALITY = "quality"
RAW = "raw"
REPORT = "report.html"
UNDESTROYED = "undestroyed.txt"
ASSIGNMENT = "use.json"
VERDICT = "verdict.json"
EARLIER_VERDICTS = "verdicts"


def definition_key(campaign_id: str) -> str:
    """Return the key of a campaign's own copy of its definition."""
    return f"{campaign_id}/definition.yaml"


def earlier_definition_key(campaign_id: str, sha256: str) -> str:
    """Return the key of the definition before keys were changed that do not affect the measurement, by its digest."""
    return f"{campaign_id}/earlier-definitions/{sha256}.yaml"


def totals_key(campaign_id: str) -> str:
    """Return the key of a complete campaign's recorded totals."""
    return f"{campaign_id}/settled.json"


def stages_prefix(campaign_id: str) -> str:
    """Return the folder of loads that stages took from earlier stages' results: `<stage>.json` for each such stage."""
    return f"{campaign_id}/stages"


def stage_key(campaign_id: str, stage: str) -> str:
    """Return the key of a stage's loads. The file is created exclusively and never written again."""
    return f"{stages_prefix(campaign_id)}/{stage}.json"


def rows_key(campaign_id: str, workload: str) -> str:
    """Return the key of the rows that make a workload's size, counted once. `workload`: its id, where several are."""
    return f"{campaign_id}/rows/{workload or 'workload'}.json"


def note_key(campaign_id: str) -> str:
    return f"{campaign_id}/note.json"


def deleting_key(campaign_id: str) -> str:
    """Return the key of a file that exists while the campaign is being deleted, and after an interrupted deletion."""
    return f"{campaign_id}/deleting.json"


PLACES = ".places"
"""The folder of places where hosts were ever paid for. It is outside of campaigns, and outlives them."""


FULL_ZONES = ".full-zones"
"""The folder of zones of clouds that were found to be full."""


def place_key(content: bytes) -> str:
    return f"{PLACES}/{hashlib.sha256(content).hexdigest()[:32]}.json"


def deletion_key(campaign_id: str, moment: str) -> str:
    """Return the key of the record of a deletion at that moment. It is outside; no campaign's id has a dot."""
    return f".deleted/{moment}-{campaign_id}.json"


def request_key(campaign_id: str) -> str:
    """Return the key of the record of cells that the campaign's newest run was asked for."""
    return f"{campaign_id}/asked.json"


def runs_prefix(campaign_id: str) -> str:
    """Return the folder of runs: a file for each run of a program, such as Airflow, that works on the campaign."""
    return f"{campaign_id}/runs"


def run_of_owner_key(campaign_id: str, owner: str) -> str:
    """Return the key of that run's record. Its name is a digest, for names of runs may hold any character."""
    return f"{runs_prefix(campaign_id)}/{hashlib.sha256(owner.encode()).hexdigest()[:16]}.json"


def holds_prefix(campaign_id: str) -> str:
    """Return the folder of holds: a numbered file for each time that a process took the campaign. The newest counts."""
    return f"{campaign_id}/holds"


def hold_key(campaign_id: str, number: int) -> str:
    return f"{holds_prefix(campaign_id)}/{number}.json"


def databases_prefix(campaign_id: str) -> str:
    """Return the folder with a file for each cluster that may have something in a database of somebody else."""
    return f"{campaign_id}/databases"


def database_key(cluster_id: ClusterId) -> str:
    """Return the key of that file for one cluster."""
    return f"{databases_prefix(cluster_id.campaign_id)}/{cluster_id.name}"


def cells_prefix(campaign_id: str) -> str:
    """Return the folder with one folder for each cell."""
    return f"{campaign_id}/cells"


def cell_prefix(campaign_id: str, cell_id: str) -> str:
    """Return the folder with one folder for each attempt at the cell."""
    return f"{cells_prefix(campaign_id)}/{cell_id}"


def attempt_prefix(key: AttemptKey) -> str:
    """Return the folder of one attempt. Numbers have no leading zeros."""
    return f"{cell_prefix(key.campaign_id, key.cell_id)}/{key.attempt}"


def attempt_file(key: AttemptKey, name: str) -> str:
    return f"{attempt_prefix(key)}/{name}"


def cluster_prefix(cluster_id: ClusterId) -> str:
    """Return the folder of one cluster: its attempt's folder, or a folder of its own where hosts are kept."""
    if cluster_id.attempt is not None:
        return attempt_prefix(cluster_id.attempt)
    return f"{clusters_prefix(cluster_id.campaign_id)}/{cluster_id.name}"


def clusters_prefix(campaign_id: str) -> str:
    """Return the folder of clusters that are kept from cell to cell: `<name>/<number>/…` for each."""
    return f"{campaign_id}/clusters"


def cluster_key(cluster_id: ClusterId) -> str:
    """Return the key of the cluster as it was last provisioned, with its newest expiry."""
    return f"{cluster_prefix(cluster_id)}/{CLUSTER}"


def retired_key(cluster_id: ClusterId) -> str:
    """Return the key of the reason why a kept cluster is no longer used."""
    return f"{cluster_prefix(cluster_id)}/retired.json"


def replaced_prefix(cluster_id: ClusterId) -> str:
    """Return the folder of records of replaced hosts of a kept cluster."""
    return f"{cluster_prefix(cluster_id)}/replaced"


def replaced_key(cluster_id: ClusterId, number: int) -> str:
    """Return the key of the record of one replacement of hosts; replacements are counted."""
    return f"{replaced_prefix(cluster_id)}/{number}.json"


def unended_key(cluster_id: ClusterId) -> str:
    """Return the key of the reason why a kept cluster that was replaced could not be ended yet."""
    return f"{cluster_prefix(cluster_id)}/{_UNENDED}"


def is_unended(key: str) -> bool:
    """Tell whether that key is one of `unended_key`."""
    return key.endswith(f"/{_UNENDED}")


def unfit_prefix(cluster_id: ClusterId) -> str:
    """Return the folder of the records of hosts of a kept cluster that are not to be used again."""
    return f"{cluster_prefix(cluster_id)}/{_UNFIT}"


def unfit_key(cluster_id: ClusterId, number: int) -> str:
    """Return the key of the record of one time that hosts were found unfit; these are counted."""
    return f"{unfit_prefix(cluster_id)}/{number}.json"


def is_unfit(key: str) -> bool:
    """Tell whether that key is one of `unfit_key`."""
    return key.rpartition("/")[0].endswith(f"/{_UNFIT}")


def assignments_prefix(campaign_id: str, purpose: str) -> str:
    """Return the folder of numbered records of the attempts that used the hosts kept for that purpose."""
    return f"{clusters_prefix(campaign_id)}/{purpose}/uses"


def assignment_key(campaign_id: str, purpose: str, number: int) -> str:
    """Return the key of the record with that number, which names the attempt that used the hosts."""
    return f"{assignments_prefix(campaign_id, purpose)}/{number}.json"


def assignment_end_key(campaign_id: str, purpose: str, number: int, at: str) -> str:
    """Return the key of a file that exists when nothing of it is left on the hosts. Its name contains the time."""
    return f"{assignments_prefix(campaign_id, purpose)}/{number}.{at}.over"


def launches_prefix(cluster_id: ClusterId) -> str:
    """Return the folder of launches for the cluster: one file for each request for hosts."""
    return f"{cluster_prefix(cluster_id)}/{LAUNCHES}"


def launch_file(cluster_id: ClusterId, token: str) -> str:
    """Return the key of the record of one request. It contains the beginning of the request's token."""
    return f"{launches_prefix(cluster_id)}/{token[:16]}.json"


def imported_file(name: str) -> str:
    """Return the path of a file of an imported attempt, relative to the attempt, by its name at the source."""
    return f"{RAW}/imported/{name}"


def bundles_prefix(campaign_id: str) -> str:
    """Return the folder of archives that its hosts fetch: a JDK, database or program each, named by content."""
    return f"{campaign_id}/bundles"


def costs_prefix(campaign_id: str) -> str:
    """Return the folder of costs: for each attempt `<cell>/<attempt>/begun`, then `<cell>/<attempt>/<usd>.json`.

    The second file is written when the cost is known. The costs of kept hosts while no attempt uses them are below
    `<name>/<number>` of their cluster. Amounts are part of the names, so that one listing gives the cost of a campaign.
    """
    return f"{campaign_id}/costs"


def cost_prefix(key: AttemptKey) -> str:
    """Return the folder of the costs of one attempt, or of idle hosts."""
    return f"{costs_prefix(key.campaign_id)}/{key.cell_id}/{key.attempt}"


def report_prefix(campaign_id: str) -> str:
    """Return the folder of the report's files."""
    return f"{campaign_id}/report"


def report_key(campaign_id: str, name: str = REPORT) -> str:
    """Return the key of a file of the campaign's report; of its page when no file is named."""
    return f"{report_prefix(campaign_id)}/{name}"


def pass_key(campaign_id: str) -> str:
    """Return the key of the record of the campaign's last pass of the gate."""
    return f"{campaign_quality_prefix(campaign_id)}/pass.json"


def campaign_quality_prefix(campaign_id: str) -> str:
    """Return the folder of the results of checks over the whole campaign."""
    return f"{campaign_id}/quality"
