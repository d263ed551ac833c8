"""Read an attempt's collected files from the store, by host, process and name, and the logs among them: pauses of
JVMs, events and lines of the processes' own logs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo
from pathlib import PurePosixPath
from typing import NamedTuple

from plimsoll.analysis.logs.gc.pauses import Pauses, gc_lines, joined
from plimsoll.analysis.logs.gc.unified import parse_gc_log
from plimsoll.domain.attempt.result import Manifest, ManifestEntry
from plimsoll.domain.hosts.fingerprint import Fingerprint
from plimsoll.domain.keys.process import CUT, Event, EventKind, LogLine, Process, ProcessOnHost
from plimsoll.domain.text.errors import LogError
from plimsoll.ports.product import Evidence
from plimsoll.ports.store import ReadableStore
from plimsoll.services.store import layout


@dataclass(frozen=True, eq=False)
class ProcessLogs:
    """The contents of the logs of the nodes' processes.

    `events`: entries of a process's own log, of `kinds`; `lines`: the lines of that log in order of time, with
    lines of its GC log on long pauses. `gc_problems`: a sentence for each GC log that is missing or was not read
    whole. `remarks`: what the logs tell of the cluster as a whole.
    """

    pauses: Mapping[ProcessOnHost, Pauses]
    gc_problems: Sequence[str]
    remarks: Sequence[str]
    events: Mapping[ProcessOnHost, Sequence[Event]]
    kinds: Sequence[EventKind]
    lines: Mapping[ProcessOnHost, Sequence[LogLine]]


_STRANGE = "no line of its log is in the form that is read"


class _GcLog(NamedTuple):
    """The content of one GC log. `pauses`: None where it can't be read; `problem`: empty where it was read whole."""

    pauses: Pauses | None
    problem: str
    long_pauses: Sequence[LogLine]


class _OwnLog(NamedTuple):
    events: Sequence[Event] = ()
    lines: Sequence[LogLine] = ()
    remarks: Sequence[str] = ()
    is_known: bool = True
    """Whether any of its lines is in the form that is read, if it has one."""


@dataclass(frozen=True, eq=False)
class CollectedFiles:
    """The files that a manifest lists, which are below `raw/<host>/<process>`, or `raw/<host>` if of no process."""

    store: ReadableStore
    manifest: Manifest

    @property
    def hosts(self) -> Sequence[str]:
        """Return the names of the hosts with files, in the manifest's order."""
        return tuple(dict.fromkeys(PurePosixPath(entry.path).parts[1] for entry in self.manifest.files))

    def of(self, host: str, process: str = "") -> dict[str, ManifestEntry]:
        """Return the files of that process of a host by name; of the host itself where no process is named."""
        folder = str(PurePosixPath(layout.RAW, host, process))
        parts = ((entry, *entry.path.rpartition("/")) for entry in self.manifest.files)
        return {name: entry for entry, parent, _, name in parts if parent == folder}

    def read(self, entry: ManifestEntry) -> bytes:
        return self.store.read(layout.attempt_file(self.manifest.key, entry.path))

    def text(self, entry: ManifestEntry | None) -> str:
        """Return the file's content, with marks in place of bytes that are no text; empty where there is no file."""
        return self.read(entry).decode(errors="replace") if entry else ""


def read_logs(
    evidence: Evidence, processes: Sequence[Process], fingerprint: Fingerprint | None, files: CollectedFiles
) -> ProcessLogs:
    """Read the logs of these processes on every host that has files of theirs, one text at a time."""
    declared = {ProcessOnHost(host, process.name): process for host in files.hosts for process in processes}
    collected = {source: own for source in declared if (own := files.of(*source))}
    gc_logs = {
        source: _gc_log(_shown(source, processes), [files.text(own[log]) for log in there])
        for source, own in collected.items()
        if (there := [log for log in (declared[source].gc_log, declared[source].gc_log_again) if log in own])
    }
    pauses = {source: log.pauses for source, log in gc_logs.items() if log.pauses is not None}
    zones = _zones(fingerprint, pauses)
    own_logs = {
        source: _own_log(evidence, source, files.text(own[log]), zones[source.host])
        for source, own in collected.items()
        if (log := declared[source].log) in own and source.host in zones
    }
    strange = [source for source, log in own_logs.items() if not log.is_known]
    problems = [log.problem for log in gc_logs.values() if log.problem]
    return ProcessLogs(
        pauses=pauses,
        gc_problems=[*problems, *_missing(processes, fingerprint, gc_logs)],
        remarks=[
            *(remark for log in own_logs.values() for remark in log.remarks),
            *(f"the events of {_shown(source, processes)} are not known: {_STRANGE}" for source in strange),
        ],
        events={source: log.events for source, log in own_logs.items() if source not in strange},
        kinds=evidence.kinds,
        lines={
            source: sorted([*own_logs.get(source, _OwnLog()).lines, *long_pauses], key=lambda line: line.at)
            for source in collected
            for long_pauses in [gc_logs[source].long_pauses if source in gc_logs else ()]
        },
    )


def _shown(source: ProcessOnHost, processes: Sequence[Process]) -> str:
    return source.shown(several=len(processes) > 1)


def _taken(text: str) -> tuple[str, str]:
    """Return a log without the line that says why it was not taken whole, and that reason; empty where it was."""
    body, _, last = text.rstrip("\n").rpartition("\n")
    return (f"{body}\n", last.removeprefix(f"{CUT}: ")) if last.startswith(CUT) else (text, "")


def _gc_log(name: str, logs: Sequence[str]) -> _GcLog:
    """Read the GC logs of the JVMs that ran one after the other."""
    texts, cuts = zip(*map(_taken, logs), strict=True)
    lines = [line for text in texts for line in gc_lines(text)]
    if not any(text.strip() for text in texts):
        return _GcLog(None, f"the pauses of {name} are not known: its GC log is empty", lines)
    try:
        pauses = joined([parse_gc_log(text) for text in texts])
    except LogError as error:
        return _GcLog(None, f"the pauses of {name} are not known: its GC log {error.what}", lines)
    why = [f"of its GC log, {pauses.unread}"] if pauses.unread else []
    why += [f"its GC log was not taken whole: {cut}" for cut in cuts if cut]
    return _GcLog(pauses, f"pauses of {name} may be missing: {'; '.join(why)}" if why else "", lines)


def _own_log(evidence: Evidence, source: ProcessOnHost, text: str, zone: tzinfo) -> _OwnLog:
    taken, cut = _taken(text)
    of_log = (source.process, taken, zone)
    lines, remarks = evidence.lines(*of_log), list(evidence.remarks(*of_log))
    if cut:
        remarks.append(f"what {source.host} logged is not known whole: {cut}")
    # A log that is empty, or that is read for no events, is in no wrong form
    is_known = bool(lines) or not taken.strip() or not evidence.kinds
    return _OwnLog(evidence.events(*of_log), lines, remarks, is_known)


def _missing(
    processes: Sequence[Process], fingerprint: Fingerprint | None, gc_logs: Collection[ProcessOnHost]
) -> Sequence[str]:
    """Return a sentence for each GC log that is missing, of the nodes that the attempt got to know.

    There is none for a process of which no node has a GC log: its JVM writes none then.
    """
    writing = {source.process for source in gc_logs}
    nodes = fingerprint.nodes if fingerprint else ()
    return [
        f"the pauses of {_shown(source, processes)} are not known: it has no GC log"
        for number, node in enumerate(nodes)
        for process in processes
        if process.name in writing and (number == 0 or not process.only_on_first)
        if (source := ProcessOnHost(node.host, process.name)) not in gc_logs
    ]


def _zones(fingerprint: Fingerprint | None, pauses: Mapping[ProcessOnHost, Pauses]) -> dict[str, tzinfo]:
    """Return the time zone of each host's logs, which these lack: from its GC logs, else from the host's facts."""
    offsets = {node.host: node.facts.utc_offset_s for node in fingerprint.nodes} if fingerprint else {}
    zones = {host: timezone(timedelta(seconds=offset)) for host, offset in offsets.items() if offset is not None}
    return {**zones, **{source.host: own.zone for source, own in pauses.items() if own.zone is not None}}
