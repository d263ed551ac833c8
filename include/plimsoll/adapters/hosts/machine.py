"""The requirements on a machine that runs campaigns, each tested on the machine itself."""

import os
import resource
import shutil
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from plimsoll.adapters.hosts.base import memory_bytes
from plimsoll.adapters.hosts.onhost import readings
from plimsoll.adapters.hosts.sampler import activity, sample
from plimsoll.domain.keys.host_bounds import Disturbance, HostActivity, noise
from plimsoll.domain.text.errors import Finding

_MIB, _GIB = 1 << 20, 1 << 30
_OPEN_FILES = 4096
PYTHONS = ((3, 11), (3, 14))
"""The oldest and the newest that Plimsoll supports, as `requires-python` in pyproject.toml has them."""


def examine(work: Path, cache: Path, ports: Sequence[int], memory: int) -> Sequence[Finding]:
    """Return all checks, in the order in which a person would mend them.

    `ports`: those of a cluster's nodes; `memory`: what the demo needs of the machine's, bytes.
    """
    cores = len(os.sched_getaffinity(0))
    return [
        _system(),
        _python(),
        Finding("processor", cores >= 2, f"{cores} cores", "two cores at least: nodes and load generator share them"),
        memory_in_all(memory, work),
        _memory(),
        calm(),
        _disk("disk for clusters", work, 10),
        _disk("disk for the cache", cache, 2),
        _writable("cluster folder", work),
        _writable("cache folder", cache),
        _loopback(),
        _ports(ports),
        _open_files(),
        _coreutils(),
    ]


def _system() -> Finding:
    ok = sys.platform == "linux"
    return Finding("operating system", ok, sys.platform, "run on Linux: clusters are found and ended through /proc")


def _python() -> Finding:
    oldest, newest = PYTHONS
    mend = f"make the virtual environment with Python {_dotted(oldest)} to {_dotted(newest)}"
    return Finding("Python", oldest <= sys.version_info[:2] <= newest, _dotted(sys.version_info[:3]), mend)


def _dotted(version: Sequence[int]) -> str:
    return ".".join(str(part) for part in version)


def memory_in_all(needed: int, work: Path) -> Finding:
    """Tell whether the machine has what `plimsoll plan` asks for: free memory does not count there."""
    there = memory_bytes(readings.read(existing_part(work)))
    shown = f"{there // _MIB} MiB, of which the demo needs {needed // _MIB} MiB"
    return Finding("memory in all", there >= needed, shown, "use a larger machine, or raise the control group's limit")


def _memory() -> Finding:
    free = psutil.virtual_memory().available / _GIB
    mend = "free memory: the demo's cluster takes about 4 GiB, Airflow 2 GiB"
    return Finding("free memory", free >= 6, f"{free:.1f} GiB available", mend)


def calm() -> Finding:
    """Tell whether other programs leave the processors to a measurement. Worth a note, as campaigns run anyhow."""
    now = activity_now()
    busy = noise(now, Disturbance())
    mend = "end other programs before you measure: a miss beside them may not count"
    return Finding("calm", True, f"{in_words(now)}{f': {busy}' if busy else ''}", mend, is_note=bool(busy))


def activity_now() -> HostActivity:
    """Measure for half a second what this machine is busy with. Every program counts, those of clusters too."""
    return activity(f"{','.join(sample.COLUMNS)}\n{sample.look(seconds=0.5)}")


def in_words(now: HostActivity) -> str:
    """Load and use of the machine in a few words."""
    load, processors = os.getloadavg()[0], os.cpu_count()
    use = "use not known" if now.foreign_cpu is None else f"{now.foreign_cpu:.0%} in use"
    return f"load {load:.1f} on {processors} processors, {use}, {now.steal:.0%} stolen"


def _disk(name: str, folder: Path, needed_gib: int) -> Finding:
    free = shutil.disk_usage(existing_part(folder)).free / _GIB
    return Finding(name, free >= needed_gib, f"{free:.0f} GiB free", f"free at least {needed_gib} GiB below {folder}")


def _writable(name: str, folder: Path) -> Finding:
    existing = existing_part(folder)
    ok = os.access(existing, os.W_OK | os.X_OK)
    return Finding(name, ok, str(folder), f"give {os.getenv('USER', 'the user')} the right to write to {existing}")


def existing_part(folder: Path) -> Path:
    """Return the folder itself, or the nearest folder above that is there."""
    return next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())


def _loopback() -> Finding:
    # Nodes of local clusters have addresses like the second one, each cluster in a subnet of its own
    taken = [address for address in ("127.0.0.1", "127.10.20.1") if not _can_bind(address, 0)]
    mend = "loopback must answer for all of 127.0.0.0/8, as it does on Linux unless it was narrowed"
    return Finding("loopback addresses", not taken, f"can't bind {', '.join(taken)}" if taken else "bindable", mend)


def _ports(ports: Sequence[int]) -> Finding:
    taken = [str(port) for port in ports if not _can_bind("127.10.20.1", port)]
    shown = f"taken: {', '.join(taken)}" if taken else f"{' and '.join(map(str, ports))} are free"
    mend = "stop what listens on all addresses (0.0.0.0) at these ports: `ss -ltnp` names it"
    return Finding("ports", not taken, shown, mend)


def _can_bind(address: str, port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: connections that linger from an ended cluster are no obstacle
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True


def _open_files() -> Finding:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    ok = limit == resource.RLIM_INFINITY or limit >= _OPEN_FILES
    return Finding("open files", ok, f"limit {limit}", f"raise the hard limit to {_OPEN_FILES} or more (`ulimit -Hn`)")


def _coreutils() -> Finding:
    missing = [tool for tool in ("timeout", "setsid") if shutil.which(tool) is None]
    shown = f"missing: {', '.join(missing)}" if missing else "present"
    return Finding("system tools", not missing, shown, "install coreutils and util-linux")
