"""The load hosts of an attempt, which share one load.

All state is in the store and on the hosts, so another process can continue at any moment.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from plimsoll.domain.attempt.status import LoadPhase
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import OF_HOSTS, LoadError, PlimsollError
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadGenerator, LoadRequest, LoadStatus
from plimsoll.services.cell.action_beside_load import is_all_done
from plimsoll.services.cell.common_start import at_once, start_together
from plimsoll.services.cell.context import AttemptContext

_ORDER: Sequence[LoadPhase] = ("populate", "warm-up", "load")


def load_hosts(work: AttemptContext, cluster: Cluster) -> list[Host]:
    """Return access to the load hosts of the attempt's cluster, the first one first."""
    return [work.host(cluster, info) for info in cluster.load_hosts]


def start_all(generator: LoadGenerator, hosts: Sequence[Host], request: LoadRequest) -> None:
    """Start each host's part of the load, or attach to it if it is running already."""
    parts = [(host, replace(request, part=number, parts=len(hosts))) for number, host in enumerate(hosts, start=1)]
    at_once(parts, lambda one: generator.start(*one))


def stop_all(generator: LoadGenerator, hosts: Sequence[Host], job_id: str) -> dict[str, PlimsollError]:
    """Stop the load on all hosts at the same time. Returns errors by host; one does not stop the others."""

    def stop(host: Host) -> PlimsollError | None:
        try:
            generator.stop(host, job_id)
        except OF_HOSTS as error:
            return error
        return None

    found = zip(hosts, at_once(hosts, stop), strict=True)
    return {host.info.name: error for host, error in found if error is not None}


def look(work: AttemptContext, cluster: Cluster, job_id: str) -> LoadStatus:
    """Return the load's status over all hosts. When all of them are ready, they are told when to start."""
    hosts = load_hosts(work, cluster)
    if is_all_done(work):
        stop_all(work.load_generator, hosts, job_id)  # it waits for a load that does not begin
        return LoadStatus("complete", "load", seconds_left=0.0)
    told = at_once(hosts, lambda host: work.load_generator.status(host, job_id))
    statuses = dict(zip((host.info.name for host in hosts), told, strict=True))
    status = told[0] if len(hosts) == 1 else together(statuses)
    has_begun = status.phase != "populate" or (len(hosts) == 1 and not status.is_ready)
    if status.state != "running" or has_begun:
        return status
    try:
        note = start_together(work, cluster, hosts, job_id, statuses)
    except LoadError as error:
        return LoadStatus("failed", status.phase, reason=error.text())
    return replace(status, note=note or status.note)


def together(statuses: Mapping[str, LoadStatus]) -> LoadStatus:
    """Return the status of a load that several hosts share, from their own statuses by name. Pure."""
    every = list(statuses.values())
    phase = min((one.phase for one in every), key=_ORDER.index)
    failed = [f"{host}: {one.reason}" for host, one in statuses.items() if one.state == "failed"]
    if failed:
        return LoadStatus("failed", phase, reason="; ".join(failed))
    if all(one.state == "complete" for one in every):
        return LoadStatus("complete", phase, seconds_left=0.0)
    running = [one for one in every if one.state == "running"]
    return LoadStatus(
        "running",
        min((one.phase for one in running), key=_ORDER.index),
        achieved_ops_s=_sum(one.achieved_ops_s for one in running),
        seconds_left=max((one.seconds_left for one in running if one.seconds_left is not None), default=None),
        errors=None if any(one.errors is None for one in every) else sum(one.errors or 0 for one in every),
        note=next((one.note for one in running if one.note), ""),
        is_ready=all(one.is_ready for one in every),
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None
