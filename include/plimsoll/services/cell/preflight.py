"""Before the load, which takes hours: wait for calm hosts, where the definition asks for it, and check that each
host is fit for the measurement.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.keys.host_bounds import Canary, CanaryReport, HostFigures, noise
from plimsoll.domain.text.errors import UnfitHosts
from plimsoll.domain.text.units import format_duration, format_size
from plimsoll.ports.host import Host
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.load_hosts import at_once
from plimsoll.services.retries import report_waiting
from plimsoll.services.store import layout

_MIB = 1 << 20
_FIGURES: Mapping[str, str] = {
    "cpu": "hashes {figure}/s on all its processors",
    "disk_write": "writes {figure}/s to its disk",
    "disk_read": "reads {figure}/s from its disk",
    "network": "sends or receives {figure}/s at best",
}


def examine(work: AttemptContext, hosts: Sequence[Host]) -> tuple[HostFigures, ...]:
    """Return the figures of every host, measured once per attempt; empty where the definition asks for no check.

    Raises UnfitHosts with each host, figure and floor where a host is below its floor.
    """
    canary, store = work.part.canary, work.toolkit.store
    if canary is None or work.toolkit.canary is None:
        return ()
    # Measured again, what a killed try of this phase has started would be in the way.
    report = layout.CANARY.read(store, work.key)
    if report is None:
        report = CanaryReport(hosts=tuple(work.toolkit.canary.examine(hosts)))
        layout.CANARY.write(store, work.key, report)
    failing = shortfalls(canary, [host.info for host in hosts], report.hosts)
    if failing:
        mend = "run the cell again on other hosts; if all are alike, correct the definition's canary"
        raise UnfitHosts(failing, where="canary", mend=mend)
    return report.hosts


def shortfalls(canary: Canary, hosts: Sequence[HostInfo], figures: Sequence[HostFigures]) -> dict[str, str]:
    """Map the name of each host with a figure below its floor to a sentence with host, figure and floor."""
    measured = zip(hosts, figures, strict=True)
    below = {info.name: "; ".join(_below(canary, info, own)) for info, own in measured}
    return {name: sentences for name, sentences in below.items() if sentences}


def _below(canary: Canary, info: HostInfo, figures: HostFigures) -> Iterator[str]:
    floors = canary.node if info.role == "node" else canary.load
    kind = info.facts.get("instance_type", "")
    for name, words in _FIGURES.items():
        figure, floor = getattr(figures, f"{name}_bytes_s"), getattr(floors, name)
        if floor is not None and figure < floor:
            measured = words.format(figure=f"{figure / _MIB:.0f}M")
            yield f"{info.name} ({kind or info.address}) {measured}, the floor is {format_size(floor)}/s"


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
        work.toolkit.clock.sleep(10.0)


def _busy(work: AttemptContext, hosts: Sequence[Host]) -> Iterator[str]:
    """Yield a phrase for each host with more noise than the definition tolerates."""
    activities = at_once(hosts, partial(work.toolkit.sampler.look, environments=work.environments))
    for host, activity in zip(hosts, activities, strict=True):
        if activity and (phrase := noise(activity, work.part.disturbance)):
            yield f"{host.info.name}: {phrase}"
