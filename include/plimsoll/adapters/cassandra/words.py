"""What a node said last, and what helps."""

import re
from collections.abc import Iterable
from datetime import timedelta

from plimsoll.adapters.cassandra.layout import JOB, NodeFiles
from plimsoll.ports.host import Host, JobStatus

LINES = 8
# A segment of the commit log. Less may be free once a node has ended: its libraries, open and deleted, are gone then.
_LEAST_ROOM = 32 << 20
_DISK_PATIENCE = timedelta(seconds=20)
_TAIL_BYTES = 32_768
# Frames of stack traces, and what a node says all the time about its own tables.
_NOISE = re.compile(r"\s+(at |\.\.\. \d+ )|INFO .* (Memtable|LogTransaction|ColumnFamilyStore|SSTable)\.java:\d+ ")

# The first that fits: Cassandra calls a port in use a fault of configuration, too.
_REMEDIES = (
    (
        r"in use by another process|Address already in use|Failed to bind|Port already in use",
        "end what listens there: `ss -ltnp` names it",
    ),
    (r"No space left on device", "free disk space"),
    (
        r"insufficient memory|Cannot allocate memory|OutOfMemoryError|Failed to (reserve|commit)",
        "give the nodes a smaller heap, or the host more memory",
    ),
    (r"VM option|Conflicting collector|Invalid .*heap|Could not create the Java", "mend the variant's `jvm`"),
    (r"Invalid yaml|ConfigurationException", "mend `settings` of the system or the variant"),
)


def said_last(host: Host) -> str:
    """The last telling lines of the node's log, and those of what its process printed."""
    files = NodeFiles(host.root)
    logs = (host.read_tail(path, max_bytes=_TAIL_BYTES) for path in (files.system_log, files.console))
    return "\n".join(line for log in logs for line in last_lines(log.splitlines()))


def last_lines(lines: Iterable[str]) -> list[str]:
    """The last few lines that tell something."""
    return [line for line in lines if line.strip() and not _NOISE.match(line)][-LINES:]


def remedy(said: str, otherwise: str) -> str:
    """How to mend what a node complained of."""
    return next((mend for pattern, mend in _REMEDIES if re.search(pattern, said)), otherwise)


def state_of(status: JobStatus) -> str:
    """A job's status in words."""
    if status.state != "exited":
        return "was never started" if status.state == "missing" else "is running"
    return "was killed" if status.exit_code is None else f"ended with {_exit(status.exit_code)}"


def _exit(code: int) -> str:
    return f"signal {code - 128}" if code > 128 else f"exit code {code}"


def name_of(host: Host) -> str:
    """`node2 (127.0.9.2)`."""
    return f"{host.info.name} ({host.info.address})"


def down(host: Host) -> str | None:
    """A sentence with the log's tail for a node that is not running."""
    status = host.status(JOB)
    if status.state == "running":
        return None
    full = "; its disk is full: free disk space" if _is_disk_full(host) else ""
    return f"{name_of(host)} {state_of(status)}{full}; its log's last lines:\n{said_last(host)}"


def _is_disk_full(host: Host) -> bool:
    """A node that finds no room for a mapped file is killed by the kernel, without a word in its log."""
    asked = host.run(
        ("df", "--block-size=1", "--output=avail", str(host.root)), timeout=_DISK_PATIENCE, check=False
    ).stdout.split()
    return bool(asked) and asked[-1].isdigit() and int(asked[-1]) < _LEAST_ROOM


def seconds(time: timedelta) -> str:
    """`300 s`."""
    return f"{time.total_seconds():g} s"
