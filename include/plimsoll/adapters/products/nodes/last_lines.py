"""The last lines of a node's logs that matter: first its errors, then other lines."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.adapters.products.nodes.node_process import LogWords, NodeProcess
from plimsoll.domain.excerpts import shortened
from plimsoll.ports.host import Host

_TAIL_BYTES = 65_536
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
    return picked((line for log in logs for line in log.splitlines()), process.words)


def picked(lines: Iterable[str], words: LogWords) -> LastLines:
    """Return the last lines that matter among these lines of a node's log."""
    noise = re.compile("|".join([*_NOISE, *words.noise]))
    telling = [*dict.fromkeys(line.rstrip() for line in lines if line.strip() and not noise.match(line))]
    complaints = [line for line in telling if _COMPLAINT.search(line)]
    news = [line for place, line in enumerate(complaints) if not _is_repeated(line, complaints[:place], words)]
    others = [line for line in telling if not _COMPLAINT.search(line) and not _is_repeated(line, complaints, words)]
    return LastLines(tuple(map(shortened, news[-_COMPLAINTS:])), tuple(map(shortened, others[-_OTHERS:])))


def _is_repeated(line: str, others: Iterable[str], words: LogWords) -> bool:
    """Tell whether another line contains this one, without the beginning that only repeated errors have."""
    error = re.sub(words.repeats, "", line)
    return any(error in other for other in others)
