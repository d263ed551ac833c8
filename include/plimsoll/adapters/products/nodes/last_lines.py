"""The last lines of a node's logs that matter: first its errors, then other lines."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.adapters.products.nodes.node_process import NodeProcess
from plimsoll.domain.excerpts import shortened
from plimsoll.ports.host import Host

_TAIL_BYTES = 65_536
_COMPLAINTS = 6
_OTHERS = 4
# Lines that explain nothing: frames of stack traces, a node's usual lines on its tables and pools, at its start, its
# warning about JMX as Plimsoll configures it, and separators and advice in crash reports of the JVM.
_NOISE = re.compile(
    r"\s+(at |\.\.\. \d+ )"
    r"|INFO .* (Memtable|LogTransaction|ColumnFamilyStore|SSTable|CompactionTask|StatusLogger)\.java:\d+ "
    r"|INFO .*(Node configuration:\[|JVM Arguments: |Classpath: | memory: init = )"
    r"|.*cassandra\.jmx\.local\.port missing"
    r"|#\s*$|# (JRE version|Java VM|Problematic frame|If you would|https?:|An error report file|/)"
)
_COMPLAINT = re.compile(
    r"^(ERROR|FATAL|Error)\b|^(Caused by: |Suppressed: |Exception )|^[\w.$]+(Exception|Error)(:|$)"
    r"|^# |^(Unrecognized|Conflicting|Multiple|Invalid|Improperly|Missing|Unexpected) .*(option|collector|heap|setting)"
    r"|must be enabled via|outside the allowed range|^Could not reserve"
)
_STARTUP = re.compile(r"^Exception \(.*\) encountered during startup: ")


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


def last_lines(host: Host, process: NodeProcess) -> LastLines:
    """Return the last lines that matter of a node's own log and of its process's output."""
    logs = (host.read_tail(path, max_bytes=_TAIL_BYTES) for path in process.logs(host.root))
    return picked(line for log in logs for line in log.splitlines())


def picked(lines: Iterable[str]) -> LastLines:
    """Return the last lines that matter among these lines of a node's log."""
    telling = [*dict.fromkeys(line.rstrip() for line in lines if line.strip() and not _NOISE.match(line))]
    complaints = [line for line in telling if _COMPLAINT.search(line)]
    news = [line for place, line in enumerate(complaints) if not _is_repeated(line, complaints[:place])]
    others = [line for line in telling if not _COMPLAINT.search(line) and not _is_repeated(line, complaints)]
    return LastLines(tuple(map(shortened, news[-_COMPLAINTS:])), tuple(map(shortened, others[-_OTHERS:])))


def _is_repeated(line: str, others: Iterable[str]) -> bool:
    """Tell whether another line contains this one: Cassandra logs its final error three times."""
    return any(_STARTUP.sub("", line) in other for other in others)
