"""Problems that would keep a definition's clusters from running on this machine, and the options that it gives:
`provider: {name: local, options: {…}}`.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from plimsoll.adapters.hosts.base import memory_bytes
from plimsoll.adapters.hosts.host_files import require_guarded
from plimsoll.adapters.hosts.machine import activity_now, existing_part, in_words
from plimsoll.adapters.hosts.onhost import readings
from plimsoll.adapters.providers.local.folders import mend
from plimsoll.adapters.providers.local.processors import LEAST, NODE_NICENESS, Groups
from plimsoll.adapters.providers.local.subnets import MOST_NODES, default_claims, free_subnet
from plimsoll.adapters.providers.requested import checked_options
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.keys.host_bounds import Disturbance, HostActivity, noise
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem, ProviderError
from plimsoll.domain.text.units import Size, format_size, parse_size
from plimsoll.domain.text.wording import plural

_MIB = 1 << 20
_GENERATOR_OVERHEAD = 256 * _MIB
_LEFT_TO_OTHERS = 0.5
"""The processors that nodes with processors of their own leave: without them they would not get what they are given."""


class LocalOptions(Model):
    """The resources that a cell is assumed to need when the machine's resources are checked."""

    memory_per_node_overhead: Annotated[
        Size, Field(description="Memory that a database node's process takes beyond its heap")
    ] = 512 * _MIB
    reserved_memory: Annotated[
        Size, Field(description="Memory that is left to the system, Airflow and everything else")
    ] = 2048 * _MIB
    disk_per_node: Annotated[Size, Field(description="Free disk that a database node must find")] = 1024 * _MIB
    processors_per_node: Annotated[
        float | None,
        Field(
            ge=LEAST,
            description="Processors that each node has for itself, where this machine's user may make control groups: "
            "it gets no more, and no other node gets them when it is gone; none: nodes share all processors",
        ),
    ] = None


@dataclass(frozen=True)
class Machine:
    """The machine's resources: memory that processes may use and free disk below the work folder, bytes; processors."""

    memory: int
    disk: int
    processors: int


def problems(spec: HostsSpec, work: Path) -> list[Problem]:
    options = checked_options(LocalOptions, spec.options)
    if not isinstance(options, LocalOptions):
        return options
    read = readings.read(work)
    machine = Machine(memory_bytes(read), shutil.disk_usage(existing_part(work)).free, read["cpus"])
    lacking = needs(spec, options, machine)
    return [*lacking, *_folder(work), *_addresses(spec, work)]


def needs(spec: HostsSpec, options: LocalOptions, machine: Machine) -> Iterator[Problem]:
    """Yield what exceeds the machine's resources. Pure."""
    if spec.node_hosts > MOST_NODES:
        most = f"at most {MOST_NODES} on one machine"
        yield Problem("system.nodes", f"{spec.node_hosts} nodes do not fit into a loopback subnet", most)
    yield from _memory(spec, options, machine.memory)
    needed = spec.max_parallel * spec.node_hosts * options.disk_per_node
    if needed > machine.disk:
        what = f"clusters need {_mib(needed)} of free disk, the work folder's has {_mib(machine.disk)}"
        yield Problem("max_parallel", what, "free disk space, or set PLIMSOLL_WORK to a folder on another disk")
    yield from _processors(spec, options.processors_per_node, machine.processors)


def _processors(spec: HostsSpec, of_each: float | None, there: int) -> Iterator[Problem]:
    """Yield a problem where the nodes at work would leave too little to load generators and everything else."""
    nodes, most = spec.max_parallel * spec.nodes, there - _LEFT_TO_OTHERS
    if of_each is not None and nodes * of_each > most:
        what = (
            f"{plural(nodes, 'node')} with {of_each:g} processors each leave less than {_LEFT_TO_OTHERS:g} of this "
            f"machine's {there} to the load"
        )
        mend = f"give at most {most / nodes:.2f} to each, or use fewer nodes or fewer cells at once (max_parallel)"
        yield Problem("provider.options.processors_per_node", what, mend)


def _memory(spec: HostsSpec, options: LocalOptions, memory: int) -> Iterator[Problem]:
    nodes, parallel = spec.node_hosts, spec.max_parallel
    generator = _generator_bytes(spec)
    available = memory - options.reserved_memory
    allowed = (available // parallel - generator) // max(1, nodes) - options.memory_per_node_overhead
    for variant, heap in spec.needs.heaps.items():
        where = f"variants.{variant}.jvm.heap"
        needed = parallel * cell_bytes(spec, options, heap)
        if heap > memory:
            what = f"a heap of {_mib(heap)} is larger than this machine's memory of {_mib(memory)}"
            yield Problem(where, what, _allowed(allowed))
        elif needed > available:
            cells = f"{parallel} cells at once" if parallel > 1 else "a cell"
            what = (
                f"{cells} of {plural(nodes, 'node')} of {_mib(heap)} heap would take {_mib(needed)} with the load "
                f"generator; this machine has {_mib(memory)}, of which {_mib(options.reserved_memory)} are reserved"
            )
            yield Problem(where, what, _allowed(allowed))


def memory_needed(spec: HostsSpec, options: LocalOptions) -> int:
    """Return the memory of the smallest machine that `needs` does not refuse, bytes."""
    return options.reserved_memory + spec.max_parallel * _largest_cell_bytes(spec, options)


def _largest_cell_bytes(spec: HostsSpec, options: LocalOptions) -> int:
    return max((cell_bytes(spec, options, heap) for heap in spec.needs.heaps.values()), default=0)


def cell_bytes(spec: HostsSpec, options: LocalOptions, heap: int) -> int:
    """Return the memory of one cell: nodes with so much heap each, and the load generator."""
    return spec.node_hosts * (heap + options.memory_per_node_overhead) + _generator_bytes(spec)


def _generator_bytes(spec: HostsSpec) -> int:
    return spec.load_hosts * (parse_size(spec.load_heap) + _GENERATOR_OVERHEAD)


def _allowed(heap: int) -> str:
    least = "use fewer nodes or fewer cells at once (max_parallel)"
    return f"allowed here: a heap of {_mib(heap)} at most; or {least}" if heap >= _MIB else least


def _mib(size: int) -> str:
    return f"{size // _MIB}M"


def _folder(work: Path) -> Iterator[Problem]:
    """Yield problems with the work folder: others who could change it, and what writing shows, such as a full disk."""
    there = existing_part(work)
    try:
        require_guarded(work)
    except OSError as error:
        mending = "change that, or set PLIMSOLL_WORK to a folder that you alone may write"
        yield Problem(f"work folder {work}", f"can't be used: {error}", mending)
        return
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"x")
    except OSError as error:
        yield Problem(f"work folder {work}", f"can't be written: {error.strerror}", mend(error, there))


def _addresses(spec: HostsSpec, work: Path) -> Sequence[Problem]:
    if spec.node_hosts > MOST_NODES:
        return ()
    try:
        nodes, load_hosts = spec.node_hosts, spec.load_hosts
        free_subnet(frozenset(), str(work / spec.name), nodes, load_hosts, spec.needs.ports)
    except ProviderError as error:
        return (Problem(error.where, error.what, error.mend),)
    return ()


def notes(spec: HostsSpec, disturbance: Disturbance) -> Iterator[str]:
    """Yield sentences without a full stop: what gives way to what, and what keeps the machine busy now."""
    return notes_on(spec, disturbance, activity_now(), Groups(default_claims()).obstacle)


def notes_on(
    spec: HostsSpec, disturbance: Disturbance, now: HostActivity, no_groups: Callable[[], str]
) -> Iterator[str]:
    """Yield the same for a machine with that activity; `no_groups` tells why nodes can't have their own processors."""
    if spec.node_hosts:
        yield (
            f"nodes on this machine run at niceness {NODE_NICENESS}, so that the load generator keeps to its schedule: "
            "they give way to every other program, too"
        )
    if spec.options.get("processors_per_node") is not None and (obstacle := no_groups()):
        yield f"`processors_per_node` has no effect here, so nodes share all processors: {obstacle}"
    if spec.max_parallel > 1:
        yield (
            f"`max_parallel: {spec.max_parallel}` on one machine: cells that run at the same time disturb each "
            "other, and a miss beside another cell may not count"
        )
    if busy := noise(now, disturbance):
        yield f"this machine is busy ({in_words(now)}): {busy}; a miss that is measured now may not count"
    options = checked_options(LocalOptions, spec.options)
    if not isinstance(options, LocalOptions):  # which `problems` tells
        return
    needed = _largest_cell_bytes(spec, options)
    if needed > now.memory_available_bytes:
        free = format_size(int(now.memory_available_bytes) // _MIB * _MIB)
        yield f"{free} of memory are free, and a cell may take {format_size(needed // _MIB * _MIB)}: end other programs"
