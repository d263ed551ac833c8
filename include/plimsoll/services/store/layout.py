"""Keys of the result store: the one place that knows where what lies.

`<campaign_id>/definition.yaml`, `<campaign_id>/bundles/…`, `<campaign_id>/cells/<cell>/<attempt>/…`,
`<campaign_id>/costs/…`, `<campaign_id>/stages/…`, `<campaign_id>/report/…`, `<campaign_id>/settled.json`.
"""

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import ClusterId

ACTIVITY = "activity.parquet"
ATTEMPT = "attempt.json"
BACKLOG = "backlog.parquet"
CANARY = "canary.json"
CANCELLED = "cancelled.json"
CLUSTER = "cluster.json"
COINCIDENCES = "coincidences.parquet"
FAILURE = "failure.txt"
FINGERPRINT = "fingerprint.json"
HOSTS = "hosts.parquet"
INTERVALS = "intervals.parquet"
JVMS = "jvms.parquet"
LAUNCHES = "launches"
LATENCIES = "latencies.parquet"
LOAD_START = "load-start.json"
LOG_LINES = "log-lines.parquet"
MANIFEST = "manifest.json"
PAUSES = "pauses.parquet"
PROGRESS = "progress.json"
PROVENANCE = "provenance.json"
QUALITY = "quality"
RAW = "raw"
UNDESTROYED = "undestroyed.txt"
USE = "use.json"
VERDICT = "verdict.json"
EARLIER_VERDICTS = "verdicts"


def definition_key(campaign_id: str) -> str:
    """Where a campaign's own copy of its definition lies."""
    return f"{campaign_id}/definition.yaml"


def settled_key(campaign_id: str) -> str:
    """Where it is on record what a complete campaign's attempts came to."""
    return f"{campaign_id}/settled.json"


def stages_prefix(campaign_id: str) -> str:
    """Below it, for each stage that took its loads from an earlier one's results, those loads: `<stage>.json`."""
    return f"{campaign_id}/stages"


def stage_key(campaign_id: str, stage: str) -> str:
    """The loads of a stage that was opened; created exclusively, and never written again."""
    return f"{stages_prefix(campaign_id)}/{stage}.json"


def note_key(campaign_id: str) -> str:
    """What somebody wrote about the campaign."""
    return f"{campaign_id}/note.json"


def deleting_key(campaign_id: str) -> str:
    """There while the campaign is being deleted, and after a deletion that was interrupted."""
    return f"{campaign_id}/deleting.json"


def deletion_key(campaign_id: str, moment: str) -> str:
    """Who deleted the campaign at that moment, and what; outside of the campaign. No campaign's id has a dot in it."""
    return f".deleted/{moment}-{campaign_id}.json"


def asked_key(campaign_id: str) -> str:
    """Which cells its newest run was asked for."""
    return f"{campaign_id}/asked.json"


def run_key(campaign_id: str) -> str:
    """Which run of another program, such as Airflow, works at it."""
    return f"{campaign_id}/run.json"


def holds_prefix(campaign_id: str) -> str:
    """Below it one file for each time that a process took the campaign, numbered; the newest counts."""
    return f"{campaign_id}/holds"


def hold_key(campaign_id: str, number: int) -> str:
    """Who took the campaign that time."""
    return f"{holds_prefix(campaign_id)}/{number}.json"


def cells_prefix(campaign_id: str) -> str:
    """Below it one folder a cell."""
    return f"{campaign_id}/cells"


def cell_prefix(campaign_id: str, cell_id: str) -> str:
    """Below it one folder an attempt."""
    return f"{cells_prefix(campaign_id)}/{cell_id}"


def attempt_prefix(key: AttemptKey) -> str:
    """Below it everything of one attempt. Numbers have no leading zeros."""
    return f"{cell_prefix(key.campaign_id, key.cell_id)}/{key.attempt}"


def attempt_file(key: AttemptKey, name: str) -> str:
    """One file of an attempt."""
    return f"{attempt_prefix(key)}/{name}"


def cluster_prefix(cluster_id: ClusterId) -> str:
    """Below it everything of one cluster: its attempt's folder, or a folder of its own where hosts are kept."""
    if cluster_id.attempt is not None:
        return attempt_prefix(cluster_id.attempt)
    return f"{clusters_prefix(cluster_id.campaign_id)}/{cluster_id.name}"


def clusters_prefix(campaign_id: str) -> str:
    """Below it, for each cluster that is kept from cell to cell, `<name>/<number>/…`."""
    return f"{campaign_id}/clusters"


def cluster_key(cluster_id: ClusterId) -> str:
    """The cluster as it was provided last, with its newest expiry."""
    return f"{cluster_prefix(cluster_id)}/{CLUSTER}"


def retired_key(cluster_id: ClusterId) -> str:
    """Why a kept cluster is used no more."""
    return f"{cluster_prefix(cluster_id)}/retired.json"


def replaced_prefix(cluster_id: ClusterId) -> str:
    """Which hosts of a kept cluster others have taken the place of."""
    return f"{cluster_prefix(cluster_id)}/replaced"


def replaced_key(cluster_id: ClusterId, number: int) -> str:
    """The so-manieth time that hosts of it were replaced."""
    return f"{replaced_prefix(cluster_id)}/{number}.json"


def uses_prefix(campaign_id: str, purpose: str) -> str:
    """Below it, numbered, each attempt's time on the hosts that are kept for that purpose."""
    return f"{clusters_prefix(campaign_id)}/{purpose}/uses"


def use_key(campaign_id: str, purpose: str, number: int) -> str:
    """Which attempt used the hosts that time."""
    return f"{uses_prefix(campaign_id, purpose)}/{number}.json"


def use_over_key(campaign_id: str, purpose: str, number: int, at: str) -> str:
    """There once nothing of that use is left on the hosts; its name tells since when. Earlier versions: `1.over`."""
    return f"{uses_prefix(campaign_id, purpose)}/{number}.{at}.over"


def launches_prefix(cluster_id: ClusterId) -> str:
    """Below it what was launched for the cluster, one file a request for hosts."""
    return f"{cluster_prefix(cluster_id)}/{LAUNCHES}"


def launch_file(cluster_id: ClusterId, token: str) -> str:
    """The record of one request; the beginning of its token tells it from the cluster's others."""
    return f"{launches_prefix(cluster_id)}/{token[:16]}.json"


def imported_file(name: str) -> str:
    """Where a file of an imported attempt lies below the attempt, by its name at the source."""
    return f"{RAW}/imported/{name}"


def bundles_prefix(campaign_id: str) -> str:
    """Below it what the campaign's hosts fetch: an archive for each JDK, database and program, named by content."""
    return f"{campaign_id}/bundles"


def costs_prefix(campaign_id: str) -> str:
    """Below it, for each attempt, `<cell>/<attempt>/begun`, and `<cell>/<attempt>/<usd>.json` once its cost is known.

    The same of kept hosts while no attempt uses them, below `<name>/<number>` of their cluster.

    Amounts stand in names: one listing tells what a campaign has cost.
    """
    return f"{campaign_id}/costs"


def cost_prefix(key: AttemptKey) -> str:
    """Below it the account of one attempt, or of idle hosts."""
    return f"{costs_prefix(key.campaign_id)}/{key.cell_id}/{key.attempt}"


def report_prefix(campaign_id: str) -> str:
    """Below it the report's files."""
    return f"{campaign_id}/report"


def campaign_quality_prefix(campaign_id: str) -> str:
    """Below it the campaign's own quality results."""
    return f"{campaign_id}/quality"
