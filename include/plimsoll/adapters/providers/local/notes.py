"""Notes for a person who is about to measure a definition on this machine."""

from collections.abc import Iterator

from plimsoll.adapters.hosts.machine import activity_now, in_words
from plimsoll.adapters.providers.local import NODE_NICENESS
from plimsoll.adapters.providers.local.checks import LocalOptions, cell_bytes
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.keys.host_bounds import Disturbance, HostActivity, noise
from plimsoll.domain.text.units import format_size

_MIB = 1 << 20


def notes(spec: HostsSpec, disturbance: Disturbance) -> Iterator[str]:
    """Yield sentences without a full stop: what gives way to what, and what keeps the machine busy now."""
    return notes_on(spec, disturbance, activity_now())


def notes_on(spec: HostsSpec, disturbance: Disturbance, now: HostActivity) -> Iterator[str]:
    """Yield the same for a machine with that activity. Pure."""
    if spec.node_hosts:
        yield (
            f"nodes on this machine run at niceness {NODE_NICENESS}, so that the load generator keeps to its schedule: "
            "they give way to every other program, too"
        )
    if spec.max_parallel > 1:
        yield (
            f"`max_parallel: {spec.max_parallel}` on one machine: cells that run at the same time disturb each "
            "other, and a miss beside another cell may not count"
        )
    if busy := noise(now, disturbance):
        yield f"this machine is busy ({in_words(now)}): {busy}; a miss that is measured now may not count"
    needed = max((cell_bytes(spec, LocalOptions(), heap) for heap in spec.needs.heaps.values()), default=0)
    if needed > now.memory_available_bytes:
        free = format_size(int(now.memory_available_bytes) // _MIB * _MIB)
        yield f"{free} of memory are free, and a cell may take {format_size(needed // _MIB * _MIB)}: end other programs"
