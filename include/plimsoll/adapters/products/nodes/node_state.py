"""The state of a node: what runs there, whether its process runs, how it ended, and whether its disk is full. And the
wait until starting nodes are up: if one of their processes ends meanwhile, it fails at once.

Of its logs the last lines that matter are shown, errors first, with advice where their words are known.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from plimsoll.adapters.products.nodes.node_process import LogWords, NodeProcess
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.variant import Archive
from plimsoll.domain.text.errors import DeployError
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host, JobStatus

# The size of a commit log segment. A disk counts as full if less is free. A little space is free again after the node's
# end, because its deleted libraries are no longer open.
_LEAST_ROOM = 32 << 20
_DISK_PATIENCE = timedelta(seconds=20)
FULL = "free disk space on the host"
_KILLED = 137
"""The exit code of a process that signal 9 ended. The kernel sends it when memory runs out."""
OUT_OF_MEMORY = "see whether the host was out of memory (`dmesg` shows it); a smaller heap or a larger host helps then"
_TAIL_BYTES = 65_536
# The lines waited for are among the first few hundred that a node ever writes.
_LOG_BYTES = 1 << 20
_POLL_S = 0.2
_MORE_TIME = "see what else its host does; for a busy machine write `start_within` below system"
_COMPLAINTS = 6
_OTHERS = 4
_NOISE = (
    r"\s+(at |\.\.\. \d+ )",
    r"#\s*$|# (JRE version|Java VM|Problematic frame|If you would|https?:|An error report file|/)",
)
"""Lines that explain nothing: frames of stack traces, and separators and advice in crash reports of the JVM."""

_COMPLAINT = re.compile(
    r"^(ERROR|FATAL|Error)\b|^(Caused by: |Suppressed: |Exception )|^[\w.$]+(Exception|Error)(:|$)"
    r"|^# |^(Unrecognized|Conflicting|Multiple|Invalid|Improperly|Missing|Unexpected) .*(option|collector|heap|setting)"
    r"|must be enabled via|outside the allowed range|^Could not reserve"
)

_REMEDIES: Sequence[tuple[str, str]] = (
    (
        r"in use by another process|Address already in use|Failed to bind|Port already in use",
        "end what listens there: `ss -ltnp` names it",
    ),
    (r"Cannot assign requested address", "name an address that the host itself has"),
    (r"No space left on device|Disk quota exceeded", "free disk space on the host"),
    (r"Not a directory", "remove the file that lies on the host where a folder should be"),
    (
        r"Permission denied|AccessDenied|Operation not permitted|[Ii]nsufficient permissions|Read-only file system"
        r"|not writable|Unable to create directory|necessary permissions",
        "give the user who runs the node the right to write there, on the host",
    ),
    (r"Too many open files", "raise the host's limit of open files (`ulimit -n`)"),
    (r"unable to create (new )?native thread", "raise the host's limit of processes (`ulimit -u`)"),
    (
        r"insufficient (physical )?memory|Cannot allocate memory|OutOfMemoryError|Failed to (reserve|commit)"
        r"|Could not reserve enough|exceeds the (maximum|physical)",
        "give the nodes a smaller heap, or the host more memory",
    ),
    (
        r"VM option|Unrecognized option|Conflicting collector|Multiple garbage collectors|Invalid .*heap"
        r"|must be enabled via|outside the allowed range|Could not create the Java",
        "correct the `flags`, `collector` or `heap` of the variant's `jvm`",
    ),
    (r"UnsupportedClassVersionError|requires Java", "choose a `jdk` that this release runs on"),
)
"""Patterns of the system's and a JVM's errors, and advice. They come before a product's own, which may be wider."""


@dataclass(frozen=True)
class LastLines:
    """The last lines of a node that matter, shortened: its errors (`complaints`), and `others`."""

    complaints: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def of_a_signal(self) -> str:
        """Return errors and warnings as one text; empty where there are none."""
        warnings = tuple(line for line in self.others if line.startswith("WARN"))
        return str(LastLines(self.complaints, warnings)) if self.complaints or warnings else ""

    def __str__(self) -> str:
        """Return both as one text, errors first; `it said nothing` where there is neither."""
        parts = [*self.complaints]
        if self.others:
            parts += ["its log's last lines:", *self.others]
        return "\n".join(parts) or "it said nothing"


def state_of(status: JobStatus) -> str:
    """Return the status of a job in words."""
    if status.state != "exited":
        return "was never started" if status.state == "missing" else "is running"
    code = status.exit_code
    if code is None:
        return "was killed"
    return f"ended with signal {code - 128}" if code > 128 else f"ended with exit code {code}"


def name_of(host: Host) -> str:
    """Return the name and address of a host: `node2 (127.0.9.2)`."""
    return f"{host.info.name} ({host.info.address})"


def node_fingerprint(
    host: Host, database: str, version: str, processes: Sequence[ProcessFingerprint], archive: Archive | None = None
) -> NodeFingerprint:
    """Return what a node runs, on a host that is asked for its facts and its clock."""
    return NodeFingerprint(
        host=host.info.name,
        address=host.info.address,
        facts=host.facts(),
        processes=tuple(processes),
        database=database,
        database_version=version,
        archive=str(archive or ""),
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
    lines = last_lines(host, process)
    # What a process logged last has nothing to do with a signal that ended it
    quoted = lines.of_a_signal if status.exit_code is None or status.exit_code > 128 else str(lines)
    name = f"{process.name} of {name_of(host)}" if several else name_of(host)
    return f"{name} {state_of(status)}{why}" + (f":\n{quoted}" if quoted else "")


OnHost = tuple[Host, NodeProcess]
"""A process of a host."""


def ended(place: OnHost, status: JobStatus, when: str) -> DeployError:
    """Return the error that a process ended, with its last log lines and advice.

    Where the log does not say why it ended, its host is asked for a full disk, and its status for a kill.
    """

    def guess() -> str:
        return FULL if is_disk_full(place[0]) else OUT_OF_MEMORY if was_killed(status) else ""

    return failed(place, f"{state_of(status)} {when}", guess)


def failed(place: OnHost, what: str, otherwise: Callable[[], str]) -> DeployError:
    """Return the error that says `what` of a process, with its last log lines and advice.

    The advice is on these lines; where none is known, it is that of `otherwise`.
    """
    node, process = place
    lines = last_lines(node, process)
    mend = remedy("\n".join(lines.complaints), process.words) or otherwise()
    return DeployError(f"{what}:\n{lines}", where=f"{process.name} on {name_of(node)}", mend=mend)


def was_killed(status: JobStatus) -> bool:
    """Tell whether a person or the kernel ended the process with signal 9."""
    return status.state == "exited" and status.exit_code in (None, _KILLED)


def is_disk_full(host: Host) -> bool:
    """Tell whether the host's disk is full. A node without room for a mapped file is killed; its log is silent."""
    argv = ("df", "--block-size=1", "--output=avail", str(host.root))
    words = host.run(argv, timeout=_DISK_PATIENCE, check=False).stdout.split()
    # `df` prints `-` where a file system does not tell its room
    return bool(words) and words[-1].isdigit() and int(words[-1]) < _LEAST_ROOM


def last_lines(host: Host, process: NodeProcess) -> LastLines:
    """Return the last lines that matter of a node's own log and of its process's output."""
    logs = (host.read_tail(path, max_bytes=_TAIL_BYTES) for path in process.logs(host.root))
    return picked((line for log in logs for line in log.splitlines()), process.words)


def picked(lines: Iterable[str], words: LogWords) -> LastLines:
    """Return the last lines that matter among these lines of a node's log."""
    noise = re.compile("|".join([*_NOISE, *words.noise]))
    telling = [*dict.fromkeys(line.rstrip() for line in lines if line.strip() and not noise.match(line))]
    complaints = [line for line in telling if _COMPLAINT.search(line)]
    news = [line for number, line in enumerate(complaints) if not _is_repeated(line, complaints[:number], words)]
    others = [line for line in telling if not _COMPLAINT.search(line) and not _is_repeated(line, complaints, words)]
    return LastLines(tuple(map(shortened, news[-_COMPLAINTS:])), tuple(map(shortened, others[-_OTHERS:])))


def _is_repeated(line: str, others: Iterable[str], words: LogWords) -> bool:
    """Tell whether another line contains this one, without the beginning that only repeated errors have."""
    error = re.sub(words.repeats, "", line)
    return any(error in other for other in others)


def remedy(complaint: str, words: LogWords) -> str:
    """Return the advice for a node's error messages; empty where none is known."""
    return next((mend for pattern, mend in (*_REMEDIES, *words.remedies) if re.search(pattern, complaint)), "")


class Obstacle(NamedTuple):
    """The process that keeps others waiting, and why: `it never said …`."""

    place: OnHost
    why: str


@dataclass(frozen=True)
class Patience:
    """The clock, and the time until which to wait."""

    clock: Clock
    until: datetime

    def await_line(self, places: Sequence[OnHost], text: str) -> None:
        """Return once each process's log has a line with that text. Raises DeployError when one or time ends."""
        waiting = list(places)

        def obstacle() -> Obstacle | None:
            waiting[:] = [place for place in waiting if not _has_logged(place, text)]
            return Obstacle(waiting[0], f"it never said {text!r}") if waiting else None

        self.await_none(obstacle, places)

    def await_none(self, obstacle: Callable[[], Obstacle | None], places: Sequence[OnHost]) -> None:
        """Return once there is no obstacle, and all processes run. Raises DeployError when one or time ends."""
        while True:
            began = self.clock.now()
            present = obstacle()
            # Looked at after the obstacle: a process may have ended since it logged that it is up
            for node, process in places:
                status = node.status(process.name)
                if status.state != "running":
                    raise ended((node, process), status, "before it was up")
            if present is None:
                return
            if self.clock.now() >= self.until:
                (node, process), why = present
                what = f"{state_of(node.status(process.name))} but was not up at {self.until:%H:%M:%S} UTC: {why}"
                raise failed(present.place, what, lambda: _MORE_TIME)
            # Asking over a network takes a while. A longer pause keeps it from going on all the time.
            self.clock.sleep(max(_POLL_S, 2 * (self.clock.now() - began).total_seconds()))


def _has_logged(place: OnHost, text: str) -> bool:
    node, process = place
    own, *_ = process.logs(node.root)
    return text in node.read_tail(own, max_bytes=_LOG_BYTES)
