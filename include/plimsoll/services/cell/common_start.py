"""The common start of load hosts that share a load.

Each host populates its part of the rows and is then ready. When all are ready, their clocks are compared, a common
start is recorded, and each host is told that start by its own clock. Every look at the load's status does this.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from plimsoll.domain.attempt.load_summary import ClockReading, LeftoverWork, LoadStart, most_apart_ms
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import LoadError
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell.before_load import awaited_before_load
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.rows.sizing import bytes_on_disk
from plimsoll.services.store import layout

_LEAD = timedelta(seconds=10)
"""The time from the comparison of clocks to the start: by then every host must have its start."""
_OVERDUE = timedelta(seconds=60)

_S = TypeVar("_S")
_T = TypeVar("_T")


def clocks(hosts: Sequence[Host]) -> dict[str, ClockReading]:
    """Return the differences of the hosts' clocks from the controller's, read at about the same time."""
    return dict(zip((host.info.name for host in hosts), at_once(hosts, lambda host: host.clock()), strict=True))


def note_clocks_after(work: AttemptContext, hosts: Sequence[Host]) -> None:
    """Record the clocks after the load, where several hosts share it."""
    start = read_start(work)
    if start is not None and not start.clocks_after:
        after = start.model_copy(update={"clocks_after": clocks(hosts)})
        layout.LOAD_START.write(work.toolkit.store, work.key, after)


def read_start(work: AttemptContext) -> LoadStart | None:
    """Return the recorded common start of the load hosts; None for a single load host, and before the start is set."""
    return layout.LOAD_START.read(work.toolkit.store, work.key)


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
    found = clocks(hosts)
    earliest = _now(work.toolkit.clock, found) + _LEAD
    at = datetime.fromtimestamp(int(earliest.timestamp()) + 1, UTC)  # the next whole second
    start = LoadStart(start=at, clocks=found, leftover_work=leftover_work, data_bytes=data_bytes)
    most_ms = most_apart_ms(level.interval for level in work.part.service_levels)
    if start.error_ms > most_ms:
        raise LoadError(
            f"the load hosts' clocks can be compared to {start.error_ms:.1f} ms only, their start must be known to "
            f"{most_ms:g} ms",
            where=", ".join(f"{host} ±{reading.error_ms:.1f} ms" for host, reading in found.items()),
            mend="run the cell again over a quicker link to the hosts, or judge longer intervals",
        )
    return _recorded(work, start)


def _recorded(work: AttemptContext, start: LoadStart) -> LoadStart:
    """Record that start, or return the one that another process recorded first."""
    before, store = read_start(work), work.toolkit.store
    if before is not None and before.start < _now(work.toolkit.clock, before.clocks):
        store.delete(layout.LOAD_START.key(work.key))
    return layout.LOAD_START.settle(store, work.key, start)


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


def _now(clock: Clock, found: Mapping[str, ClockReading]) -> datetime:
    """Return the current time by the first load host's clock."""
    first = next(iter(found.values()))
    return clock.now() + timedelta(milliseconds=first.offset_ms)


def at_once(items: Sequence[_S], work: Callable[[_S], _T]) -> list[_T]:
    """Call the function for all hosts at the same time. The first error is raised after all calls have ended."""
    with ThreadPoolExecutor(len(items)) as pool:
        return list(pool.map(work, items))
