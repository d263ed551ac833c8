"""The results of a cell's steps in sentences, for task logs."""

from collections.abc import Iterator
from datetime import datetime

from plimsoll.domain.attempt.result import Manifest, Verdict
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.hosts.cost import lacks_price, total
from plimsoll.domain.hosts.fingerprint import Fingerprint, JvmFacts, NodeFingerprint
from plimsoll.domain.keys.host_bounds import HostFigures
from plimsoll.domain.keys.process import by_prefix
from plimsoll.domain.keys.service_level import LevelVerdict
from plimsoll.domain.text.units import format_size, show_usd
from plimsoll.domain.text.wording import plural
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.reaping import Reaped
from plimsoll.services.steps.steps import Step


def provisioned(cluster: Cluster) -> Iterator[str]:
    for host in cluster.hosts:
        yield f"{host.name} ({host.role}) at {host.address}"
    hourly = sum(host.usd_per_hour or 0.0 for host in cluster.hosts)
    if lacks_price(cluster.hosts):
        yield "what the hosts cost is not known: one of them has no price"
    elif hourly:
        yield f"the hosts cost {show_usd(hourly)} an hour"
    whose = "own hosts" if cluster.observed else "hosts"
    yield f"the {whose} end themselves at {_moment(cluster.expires_at)} if nothing else does"


def deployed(fingerprint: Fingerprint) -> Iterator[str]:
    for node in fingerprint.nodes:
        yield _node(node)
    for first in fingerprint.nodes[:1]:
        for prefix, process in by_prefix(first.processes).items():
            if process.jvm:
                flags = " ".join(f"{name}={value}" for name, value in process.jvm.flags.items())
                yield f"{prefix}flags reported by the running JVM: {flags}"
    for reported in fingerprint.reported_nodes:
        yield f"{reported.address}: release {reported.release_version or 'not told'}, by the database's own word"
    yield f"load generator: {fingerprint.load_generator}"
    yield from (_fit(host) for host in fingerprint.canary)


def destroyed(work: AttemptContext) -> str:
    if work.keeps_hosts:
        return f"nothing of {work.key} is left on its hosts, which are kept for the campaign's other cells"
    return f"the cluster of {work.key} is gone"


def loading(status: LoadStatus, attempted_ops_s: int) -> str:
    """Return the progress of the load in one line. Rows are populated as fast as they go, not at the load's rate."""
    rate = (status.note or "no rate yet") if status.achieved_ops_s is None else f"{status.achieved_ops_s:,.0f} ops/s"
    left = f", {_minutes(status.seconds_left)} left" if status.seconds_left else ""
    attempted = "" if status.phase == "populate" else f" of {attempted_ops_s:,} attempted"
    note = f"; {status.note}" if status.note and status.achieved_ops_s is not None else ""
    return f"{status.phase}: {rate}{attempted}{left}{note}"


def collected(manifest: Manifest) -> Iterator[str]:
    size = sum(entry.size_bytes for entry in manifest.files)
    yield f"{plural(len(manifest.files), 'file')}, {size / 2**20:.1f} MiB"
    if manifest.failure:
        yield f"the attempt did not complete: {manifest.failure}"
    yield from manifest.unseen


def judged(verdict: Verdict) -> Iterator[str]:
    if not verdict.valid:
        yield f"invalid: {'; '.join(verdict.reasons)}"
    achieved = "unknown" if verdict.achieved_ops_s is None else f"{verdict.achieved_ops_s:,.1f}"
    yield f"achieved {achieved} of {verdict.attempted_ops_s:,.0f} ops/s"
    yield from (_level(level) for level in verdict.levels)
    yield from (f"warning: {warning}" for warning in verdict.warnings)
    if verdict.valid:
        yield f"{verdict.outcome}: cell {verdict.cell.id}, attempt {verdict.key.attempt}"


def came_of(step: Step, result: object) -> Iterator[str]:
    """Yield the result of a step's `run` in sentences; empty for results without any."""
    if step.polling is not None:
        yield f"the {step.name} is started; what follows is its progress, as the triggerer sees it"
    match result:
        case Cluster():
            yield from provisioned(result)
        case Fingerprint():
            yield from deployed(result)
        case Manifest():
            yield from collected(result)
        case Verdict():
            yield from judged(result)


def _fit(host: HostFigures) -> str:
    figures = {
        "hashing": host.cpu_bytes_s,
        "writing": host.disk_write_bytes_s,
        "reading": host.disk_read_bytes_s,
        "network": host.network_bytes_s,
    }
    words = ", ".join(f"{name} {figure / 2**20:.0f}M/s" for name, figure in figures.items())
    return f"{host.host} before its load: {words}"


def reaped(result: Reaped, now: datetime, *, dry_run: bool) -> Iterator[str]:
    """Yield the clusters that the reaper kept and destroyed (or would destroy), each with all its parts."""
    for cluster in result.kept:
        yield f"kept {_cluster(cluster, now)}"
    for cluster in result.destroyed:
        yield f"{'would destroy' if dry_run else 'destroyed'} {_cluster(cluster, now)}"
    if not (result.kept or result.destroyed or result.troubles):
        yield "no cluster is alive"


def _cluster(cluster: Cluster, now: datetime) -> str:
    usd = None if lacks_price(cluster.hosts) else total(cluster.hosts, now).usd
    cost = f", cost so far {show_usd(usd)}" if usd != 0 else ""
    resources = f": {', '.join(cluster.resources)}" if cluster.resources else ""
    return f"{cluster.id} of {cluster.owner or 'nobody'}, up since {_moment(cluster.created_at)}{cost}{resources}"


def _node(node: NodeFingerprint) -> str:
    database = f"{node.host} at {node.address}: {node.database} {node.database_version}".rstrip()
    jvms = {prefix: process.jvm for prefix, process in by_prefix(node.processes).items() if process.jvm}
    runtimes = "; ".join(f"{prefix}{_jvm(jvm)}" for prefix, jvm in jvms.items())
    return f"{database} on {runtimes}" if runtimes else database


def _jvm(jvm: JvmFacts) -> str:
    heap = format_size(jvm.heap_max_bytes)
    return f"{jvm.name} {jvm.version}, collector {jvm.collector or 'unknown'}, heap {heap}"


def _level(level: LevelVerdict) -> str:
    worst = "worst not known" if level.worst_ms is None else f"worst {level.worst_ms:.1f} ms"
    outcome = "met" if level.met else "missed" if level.missed else "left open"
    return f"{level.service_level}: {outcome}, {level.missed} of {plural(level.judged, 'interval')} missed it, {worst}"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
