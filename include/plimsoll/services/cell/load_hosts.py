"""The load hosts of an attempt, which share one load, and their common start.

All state is in the store and on the hosts, so another process can continue at any moment. Each host populates its part
of the rows and is then ready. When all are ready, rows are written to disk, nodes finish what they began, an action
ends; then the clocks are compared, a common start is recorded, and each host is told that start by its own clock. Once
a stop rule has ended the load on one host, the others are told to end it. Every look at the load's status does this.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from plimsoll.domain.attempt.load_summary import ClockReading, LeftoverWork, LoadStart, first_broken, most_apart_ms
from plimsoll.domain.attempt.status import LoadPhase
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import OF_HOSTS, LoadError, PlimsollError
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host, at_once
from plimsoll.ports.load_generator import LoadGenerator, LoadRequest, LoadStatus
from plimsoll.services.cell.action_beside_load import is_all_done, left_before_load
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.sizing import bytes_on_disk, flush_once
from plimsoll.services.store import layout

_LEAD = timedelta(seconds=10)
"""The time from the comparison of clocks to the start: by then every host must have its start."""
_OVERDUE = timedelta(seconds=60)

_T = TypeVar("_T")


def clocks(hosts: Sequence[Host]) -> dict[str, ClockReading]:
    """Return the differences of the hosts' clocks from the controller's, read at about the same time."""
    return dict(zip((host.info.name for host in hosts), at_once(hosts, lambda host: host.clock()), strict=True))


def note_clocks_after(work: AttemptContext, hosts: Sequence[Host]) -> None:
    """Record the clocks after the load, where several hosts share it."""
    start = read_start(work)
    if start is not None and not start.clocks_after:
        after = start.model_copy(update={"clocks_after": clocks(hosts)})
        layout.LOAD_START.write(work.store, work.key, after)


def read_start(work: AttemptContext) -> LoadStart | None:
    """Return the recorded common start of the load hosts; None for a single load host, and before the start is set."""
    return layout.LOAD_START.read(work.store, work.key)


def start_together(
    work: AttemptContext, cluster: Cluster, hosts: Sequence[Host], job_id: str, statuses: Mapping[str, LoadStatus]
) -> str:
    """Set the common start, or return what is still awaited, in words. Raises LoadError where it is too late."""
    ready = [host for host in hosts if statuses[host.info.name].is_ready]
    start = read_start(work)
    if len(ready) == len(hosts) and (start is None or start.start < _now(work.toolkit.clock, start.clocks)):
        # None was told of an earlier start, else it would not wait.
        awaited, leftover_work = awaited_before_load(work, cluster)
        if awaited is not None:
            return awaited
        start = _new_start(work, hosts, leftover_work, bytes_on_disk(work, cluster))
    if start is None:
        return ""
    if ready:
        _begin_together(work, ready, job_id, start)
    elif _now(work.toolkit.clock, start.clocks) > start.start + _OVERDUE:
        _require_begun(statuses)
    return ""


def _new_start(
    work: AttemptContext, hosts: Sequence[Host], leftover_work: LeftoverWork | None, data_bytes: Mapping[str, int]
) -> LoadStart:
    readings = clocks(hosts)
    earliest = _now(work.toolkit.clock, readings) + _LEAD
    at = datetime.fromtimestamp(int(earliest.timestamp()) + 1, UTC)  # the next whole second
    start = LoadStart(start=at, clocks=readings, leftover_work=leftover_work, data_bytes=data_bytes)
    most_ms = most_apart_ms(level.interval for level in work.part.service_levels)
    if start.error_ms > most_ms:
        raise LoadError(
            f"the load hosts' clocks can be compared to {start.error_ms:.1f} ms only, their start must be known to "
            f"{most_ms:g} ms",
            where=", ".join(f"{host} ±{reading.error_ms:.1f} ms" for host, reading in readings.items()),
            mend="run the cell again over a quicker link to the hosts, or judge longer intervals",
        )
    before, store = read_start(work), work.store
    if before is not None and before.start < _now(work.toolkit.clock, before.clocks):
        store.delete(layout.LOAD_START.key(work.key))
    return layout.LOAD_START.settle(store, work.key, start)  # or what another process recorded first


def _begin_together(work: AttemptContext, hosts: Sequence[Host], job_id: str, start: LoadStart) -> None:
    def begin(host: Host) -> None:
        ahead = timedelta(milliseconds=start.ahead_ms[host.info.name])
        work.load_generator.begin(host, job_id, start.start, start.start + ahead)

    at_once(hosts, begin)


def _require_begun(statuses: Mapping[str, LoadStatus]) -> None:
    idle = [host for host, status in statuses.items() if status.state == "running" and status.phase == "populate"]
    if idle:
        what = f"{', '.join(idle)} did not start {_OVERDUE.total_seconds():g} s after the time to start"
        raise LoadError(what, where="load hosts", mend="run the cell again")


def _now(clock: Clock, readings: Mapping[str, ClockReading]) -> datetime:
    """Return the current time by the first load host's clock."""
    first = next(iter(readings.values()))
    return clock.now() + timedelta(milliseconds=first.offset_ms)


def _tried(hosts: Sequence[Host], work: Callable[[Host], _T]) -> list[_T | PlimsollError]:
    """Call the function for all hosts at the same time. An error of one is returned in the place of its answer."""

    def tried(host: Host) -> _T | PlimsollError:
        try:
            return work(host)
        except OF_HOSTS as error:
            return error

    return at_once(hosts, tried)


def waits_for_nodes(work: AttemptContext) -> bool:
    """Tell whether the load waits until the nodes themselves report that the work left by populating is done.

    A load generator that asks the nodes as their client does not need this, and one that can't be told when to start
    can't do it.
    Where the rows are to have a size on disk, it waits too: they are measured before it starts. So does a load that
    goes on with the data of an earlier one, as it does not populate, and one that begins after an action.
    """
    workload, generator, product = work.part.workload, work.load_generator, work.product
    if not generator.can_wait:
        return False
    if workload.data_per_node is not None or work.part.action_before_load is not None:
        return True
    if not generator.settles(workload) or not product.settles:
        return False
    return work.goes_on or product.hides_leftover_work(work.variant_spec)


def awaited_before_load(work: AttemptContext, cluster: Cluster) -> tuple[str | None, LeftoverWork | None]:
    """Go on with all that has to end before the load may begin.

    Returns what is awaited, in words or empty, and None once nothing is; then with the work that populating had left,
    where it was waited for. A cell without a load always awaits. Raises LoadError where an action failed.
    """
    flush_once(work, cluster)
    leftover_work, product = None, work.product
    if product.settles and waits_for_nodes(work):
        # Nodes may have the finished job of a lower load, which shared its data.
        leftover_work = product.leftover_work(work.nodes(cluster), f"settle-{work.key.environment}")
        if leftover_work is None:
            return "", None
    if (note := left_before_load(work, cluster)) or "load" not in work.part.knows:
        return note, None
    return None, leftover_work


def _asked(generator: LoadGenerator, hosts: Sequence[Host], job_id: str) -> dict[str, LoadStatus]:
    """Return the load's status on each host. Where a stop rule has ended it on one, all others that can be reached end
    it too, before the error of one that can't is raised.
    """
    answers = _tried(hosts, lambda host: generator.status(host, job_id))
    known = {host: answer for host, answer in zip(hosts, answers, strict=True) if isinstance(answer, LoadStatus)}
    if broken := first_broken({host.info.name: one.stopped for host, one in known.items()}):
        going = [host for host, one in known.items() if one.state == "running" and one.stopped is None]
        at_once(going, lambda host: generator.end(host, job_id, broken))
    for answer in answers:
        if isinstance(answer, PlimsollError):
            raise answer
    return {host.info.name: one for host, one in known.items()}


_ORDER: Sequence[LoadPhase] = ("populate", "warm-up", "load")


def start_all(generator: LoadGenerator, hosts: Sequence[Host], request: LoadRequest) -> None:
    """Start each host's part of the load, or attach to it if it is running already."""
    parts = [(host, replace(request, part=number, parts=len(hosts))) for number, host in enumerate(hosts, start=1)]
    at_once(parts, lambda part: generator.start(*part))


def stop_all(generator: LoadGenerator, hosts: Sequence[Host], job_id: str) -> dict[str, PlimsollError]:
    """Stop the load on all hosts at the same time. Returns errors by host; one does not stop the others."""
    results = zip(hosts, _tried(hosts, lambda host: generator.stop(host, job_id)), strict=True)
    return {host.info.name: error for host, error in results if error is not None}


def look(work: AttemptContext, cluster: Cluster, job_id: str) -> LoadStatus:
    """Return the load's status over all hosts. When all of them are ready, they are told when to start."""
    hosts = work.hosts(cluster, cluster.load_hosts)
    if is_all_done(work):
        stop_all(work.load_generator, hosts, job_id)  # it waits for a load that does not begin
        return LoadStatus("complete", "load", seconds_left=0.0)
    statuses = _asked(work.load_generator, hosts, job_id)
    status = statuses[hosts[0].info.name] if len(hosts) == 1 else together(statuses)
    if status.state == "running" and status.stopped:
        status = replace(status, note=f"a stop rule ends it: {status.stopped.words}")
    # Of several hosts some may have been told the start, and others not yet
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
    parts = list(statuses.values())
    phase = min((part.phase for part in parts), key=_ORDER.index)
    failed = [f"{host}: {part.reason}" for host, part in statuses.items() if part.state == "failed"]
    if failed:
        return LoadStatus("failed", phase, reason="; ".join(failed))
    stopped = first_broken({host: status.stopped for host, status in statuses.items()})
    if all(part.state == "complete" for part in parts):
        return LoadStatus("complete", phase, seconds_left=0.0, stopped=stopped)
    running = [part for part in parts if part.state == "running"]
    rates = [part.achieved_ops_s for part in running if part.achieved_ops_s is not None]
    return LoadStatus(
        "running",
        min((part.phase for part in running), key=_ORDER.index),
        achieved_ops_s=sum(rates) if rates else None,
        seconds_left=max((part.seconds_left for part in running if part.seconds_left is not None), default=None),
        # Unknown is not 0: the nodes are left unasked only where it is known that no operation fails
        errors=None if any(part.errors is None for part in parts) else sum(part.errors or 0 for part in parts),
        note=next((part.note for part in running if part.note), ""),
        is_ready=all(part.is_ready for part in parts),
        stopped=stopped,
    )
