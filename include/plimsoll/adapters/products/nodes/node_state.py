"""The state of a node: what runs there, whether its process runs, how it ended, and whether its disk is full."""

from collections.abc import Sequence
from datetime import timedelta

from plimsoll.adapters.products.nodes.last_lines import last_lines
from plimsoll.adapters.products.nodes.node_process import NodeProcess
from plimsoll.domain.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.ports.host import Host, JobStatus

# The size of a commit log segment. A disk counts as full if less is free. A little space is free again after the node's
# end, because its deleted libraries are no longer open.
_LEAST_ROOM = 32 << 20
_DISK_PATIENCE = timedelta(seconds=20)
FULL = "free disk space on the host"
_KILLED = 137
"""The exit code of a process that signal 9 ended. The kernel sends it when memory runs out."""
OUT_OF_MEMORY = "see whether the host was out of memory (`dmesg` shows it); a smaller heap or a larger host helps then"


def state_of(status: JobStatus) -> str:
    """Return the status of a job in words."""
    if status.state != "exited":
        return "was never started" if status.state == "missing" else "is running"
    return "was killed" if status.exit_code is None else f"ended with {_exit(status.exit_code)}"


def _exit(code: int) -> str:
    return f"signal {code - 128}" if code > 128 else f"exit code {code}"


def name_of(host: Host) -> str:
    """Return the name and address of a host: `node2 (127.0.9.2)`."""
    return f"{host.info.name} ({host.info.address})"


def node_fingerprint(
    host: Host, database: str, version: str, processes: Sequence[ProcessFingerprint]
) -> NodeFingerprint:
    """Return what a node runs, on a host that is asked for its facts and its clock."""
    return NodeFingerprint(
        host=host.info.name,
        address=host.info.address,
        facts=host.facts(),
        processes=tuple(processes),
        database=database,
        database_version=version,
        clock_offset_ms=host.clock().offset_ms,
    )


def down(host: Host, process: NodeProcess, *, several: bool = False) -> str | None:
    """Return a sentence with the last lines of the process's logs; None while it is running.

    If a signal ended the process, only errors and warnings are quoted.
    `several`: the product runs further processes on the host, so the sentence names this one.
    """
    status = host.status(process.name)
    if status.state == "running":
        return None
    why = "; a person sent it, or the kernel: " + OUT_OF_MEMORY if was_killed(status) else ""
    why += f"; its disk is full: {FULL}" if is_disk_full(host) else ""
    said = last_lines(host, process)
    told = said.of_a_signal if _was_signalled(status) else str(said)
    name = f"{process.name} of {name_of(host)}" if several else name_of(host)
    return f"{name} {state_of(status)}{why}" + (f":\n{told}" if told else "")


def _was_signalled(status: JobStatus) -> bool:
    return status.exit_code is None or status.exit_code > 128


def was_killed(status: JobStatus) -> bool:
    """Tell whether a person or the kernel ended the process with signal 9."""
    return status.state == "exited" and status.exit_code in (None, _KILLED)


def is_disk_full(host: Host) -> bool:
    """Tell whether the host's disk is full.

    A node without room for a mapped file is killed; its log does not say why.
    """
    asked = host.run(
        ("df", "--block-size=1", "--output=avail", str(host.root)), timeout=_DISK_PATIENCE, check=False
    ).stdout.split()
    return bool(asked) and asked[-1].isdigit() and int(asked[-1]) < _LEAST_ROOM
