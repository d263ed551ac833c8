"""Read the logs of the nodes' processes: pauses of their JVMs, events and lines of their own logs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.analysis.logs.gc.long_pauses import gc_lines
from plimsoll.analysis.logs.gc.pauses import joined
from plimsoll.analysis.logs.gc.unified import parse_gc_log
from plimsoll.domain.errors import LogError
from plimsoll.domain.process import ProcessOnHost

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import tzinfo

    from plimsoll.analysis.logs.gc.pauses import Pauses
    from plimsoll.domain.fingerprint import Fingerprint
    from plimsoll.domain.log_events import Event, EventKind, LogLine
    from plimsoll.domain.process import Process
    from plimsoll.ports.product import Evidence
    from plimsoll.services.judge.collected import CollectedFiles


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


class _GcLog(NamedTuple):
    """The content of one GC log. `pauses`: None where it can't be read; `problem`: empty where it was read whole."""

    pauses: Pauses | None
    problem: str
    long_pauses: Sequence[LogLine]


class _OwnLog(NamedTuple):
    events: Sequence[Event] = ()
    lines: Sequence[LogLine] = ()
    remarks: Sequence[str] = ()


def read_logs(
    evidence: Evidence, processes: Sequence[Process], fingerprint: Fingerprint | None, files: CollectedFiles
) -> ProcessLogs:
    """Read the logs of these processes on every host that has files of theirs, one text at a time."""
    declared = {ProcessOnHost(host, one.name): one for host in files.hosts for one in processes}
    collected = {place: own for place in declared if (own := files.of(*place))}
    gc_logs = {
        place: _gc_log(place.shown(several=len(processes) > 1), [files.text(own[log]) for log in there])
        for place, own in collected.items()
        if (there := [log for log in (declared[place].gc_log, declared[place].gc_log_again) if log in own])
    }
    pauses = {place: log.pauses for place, log in gc_logs.items() if log.pauses is not None}
    zones = _zones(fingerprint, pauses)
    own_logs = {
        place: _own_log(evidence, place, files.text(own[log]), zones[place.host])
        for place, own in collected.items()
        if (log := declared[place].log) in own and place.host in zones
    }
    problems = [log.problem for log in gc_logs.values() if log.problem]
    return ProcessLogs(
        pauses=pauses,
        gc_problems=[*problems, *_missing(processes, fingerprint, gc_logs)],
        remarks=[remark for log in own_logs.values() for remark in log.remarks],
        events={place: log.events for place, log in own_logs.items()},
        kinds=evidence.kinds,
        lines={
            place: sorted([*own_logs.get(place, _OwnLog()).lines, *long_pauses], key=lambda line: line.at)
            for place in collected
            for long_pauses in [gc_logs[place].long_pauses if place in gc_logs else ()]
        },
    )


def _gc_log(name: str, texts: Sequence[str]) -> _GcLog:
    """Read the GC logs of the JVMs that ran one after the other."""
    lines = [line for text in texts for line in gc_lines(text)]
    try:
        found = joined([parse_gc_log(text) for text in texts])
    except LogError as error:
        return _GcLog(None, f"the pauses of {name} are not known: its GC log {error.what}", lines)
    problem = f"pauses of {name} may be missing: of its GC log, {found.unread}" if found.unread else ""
    return _GcLog(found, problem, lines)


def _own_log(evidence: Evidence, place: ProcessOnHost, text: str, zone: tzinfo) -> _OwnLog:
    of_log = (place.process, text, zone)
    return _OwnLog(evidence.events(*of_log), evidence.lines(*of_log), evidence.remarks(*of_log))


def _missing(
    processes: Sequence[Process], fingerprint: Fingerprint | None, gc_logs: Collection[ProcessOnHost]
) -> Sequence[str]:
    """Return a sentence for each GC log that is missing, of the nodes that the attempt got to know.

    None where no node has a GC log of that process: its JVM writes none then.
    """
    writing = {place.process for place in gc_logs}
    nodes = fingerprint.nodes if fingerprint else ()
    places = [
        ProcessOnHost(node.host, one.name)
        for number, node in enumerate(nodes)
        for one in processes
        if one.name in writing and (number == 0 or not one.only_on_first)
    ]
    return [
        f"the pauses of {place.shown(several=len(processes) > 1)} are not known: it has no GC log"
        for place in places
        if place not in gc_logs
    ]


def _zones(fingerprint: Fingerprint | None, pauses: Mapping[ProcessOnHost, Pauses]) -> dict[str, tzinfo]:
    """Return the time zone of each host's logs, which these lack: from its GC logs, else from the host's facts."""
    offsets = {node.host: node.facts.utc_offset_s for node in fingerprint.nodes} if fingerprint else {}
    zones = {host: timezone(timedelta(seconds=offset)) for host, offset in offsets.items() if offset is not None}
    return {**zones, **{place.host: found.zone for place, found in pauses.items() if found.zone is not None}}
