"""Before the load, which takes hours: wait for the attempt's turn on a database of somebody else, on which attempts of
several campaigns of a store load one after the other; wait for calm hosts, where the definition asks for it; and check
that each host is fit for the measurement.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.keys.host_bounds import Canary, CanaryReport, HostFigures, noise
from plimsoll.domain.text.errors import DamagedRecord, NotFound, ProviderError, Refused, UnfitHosts
from plimsoll.domain.text.units import format_duration, format_size
from plimsoll.ports.host import Host, at_once
from plimsoll.services.cell.attempt_state import attempt_state
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.at_rest import note_used, stirred_campaigns, times_of_use
from plimsoll.services.retries import report_waiting
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

_LONGEST_TURN = timedelta(minutes=30)
_MIB = 1 << 20
_FIGURES: Mapping[str, str] = {
    "cpu": "hashes {figure}/s on all its processors",
    "disk_write": "writes {figure}/s to its disk",
    "disk_read": "reads {figure}/s from its disk",
    "network": "sends or receives {figure}/s at best",
}


def await_turn(work: AttemptContext) -> datetime:
    """Record that the attempt uses its database, and wait until no other campaign's attempt loads it before this one.

    Who recorded it first goes first; cells of one campaign run one after the other anyway. Returns since when it is the
    attempt's turn, from which on its hosts are counted; asked again, the same. Raises ProviderError after half an hour.
    """
    store, clock, turn = work.store, work.toolkit.clock, layout.TURN.key(work.key)
    # Before anything is made there: whoever looks for what was left logs in only where there is such a note
    note_used(store, work.cluster_id)
    addresses, until = work.provider.shared_addresses(), clock.now() + _LONGEST_TURN
    others = (CampaignStore(store, name) for name in stirred_campaigns(store) if name != work.key.campaign_id)
    sharing = [campaign for campaign in others if addresses & _addresses(work, campaign)]
    if sharing:
        # Times of a store may be whole seconds: whoever notes a use in the same one is seen after it.
        clock.sleep(2.0)
    told = None
    while first := next((key for campaign in sharing for key in _before(work, campaign)), None):
        what = f"{', '.join(sorted(addresses))} is loaded by {first}"
        if clock.now() >= until:
            mend = "run the cell again when that has ended; in Airflow, a pool `clusters` of one slot keeps them apart"
            raise ProviderError(what, where=str(work.key), mend=mend)
        if first != told:
            report_waiting(f"waiting until {until:%H:%M:%S} UTC at most: {what}")
        told = first
        clock.sleep(10.0)
    store.create(turn, clock.now().isoformat().encode())  # unless it was its turn before
    return datetime.fromisoformat(store.read(turn).decode())


def _addresses(work: AttemptContext, campaign: CampaignStore) -> frozenset[str]:
    with suppress(NotFound, Refused):  # what can't be read or provided here, nobody here runs
        return work.toolkit.provider(campaign.resolved()).shared_addresses()
    return frozenset()


def _before(work: AttemptContext, campaign: CampaignStore) -> Iterator[AttemptKey]:
    """Yield the campaign's attempts under way that recorded their use before this one."""
    store, own = work.store, work.cluster_id
    since_own = times_of_use(store, own.campaign_id).get(own)
    if since_own is None:
        raise ProviderError("it was destroyed while it waited", where=str(work.key), mend="run the cell again")
    for cluster_id, since in times_of_use(store, campaign.campaign_id).items():
        key = cluster_id.attempt
        if key and (since, str(cluster_id)) < (since_own, str(own)) and _is_under_way(work, campaign, key):
            yield key


def _is_under_way(work: AttemptContext, campaign: CampaignStore, key: AttemptKey) -> bool:
    try:
        state = attempt_state(work.toolkit, key, campaign.resolved())
    except DamagedRecord:  # nobody knows
        return True
    return state.attempt is not None and state.is_running


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


def examine(work: AttemptContext, hosts: Sequence[Host]) -> tuple[HostFigures, ...]:
    """Return the figures of every host, measured once per attempt; empty where the definition asks for no check.

    Raises UnfitHosts with each host, figure and floor where a host is below its floor.
    """
    canary, store = work.part.canary, work.store
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
