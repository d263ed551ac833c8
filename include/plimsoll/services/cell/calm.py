"""Wait for calm hosts before a cell's database starts, where the definition asks for it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from plimsoll.domain.host_activity import noise
from plimsoll.domain.units import format_duration
from plimsoll.ports.host import Host
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.waiting import report_waiting

_PAUSE_S = 10.0


def await_calm(work: AttemptContext, hosts: Sequence[Host]) -> None:
    """Return once all hosts are calm, or after `wait_for_calm`. Tells what it waits for, and when it gives up.

    A cell whose hosts stay busy is measured all the same: it may be met beside noise, and a miss does not count then.
    """
    longest = work.part.wait_for_calm
    if longest is None:
        return
    until = work.toolkit.clock.now() + longest
    while busy := "; ".join(_busy(work, hosts)):
        if work.toolkit.clock.now() >= until:
            report_waiting(f"the hosts are not calm after {format_duration(longest)}, the cell goes on: {busy}")
            return
        report_waiting(f"waiting for calm hosts until {until:%H:%M:%S} UTC at most: {busy}")
        work.toolkit.clock.sleep(_PAUSE_S)


def _busy(work: AttemptContext, hosts: Sequence[Host]) -> Iterator[str]:
    """Yield a phrase for each host with more noise than the definition tolerates."""
    own = work.environments if work.keeps_hosts else frozenset[str]()
    with ThreadPoolExecutor(len(hosts)) as pool:
        found = list(pool.map(partial(work.toolkit.sampler.look, environments=own), hosts))
    for host, activity in zip(hosts, found, strict=True):
        if activity and (phrase := noise(activity, work.part.disturbance)):
            yield f"{host.info.name}: {phrase}"
