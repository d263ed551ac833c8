"""Read the logs of the nodes' processes: pauses of their JVMs, events and lines of their own logs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta, timezone
from typing import TYPE_CHECKING

from plimsoll.analysis.logs.gc.long_pauses import gc_lines
from plimsoll.analysis.logs.gc.unified import parse_gc_log
from plimsoll.domain.errors import LogError
from plimsoll.domain.process import ProcessOnHost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from plimsoll.analysis.logs.gc.pauses import Pauses
    from plimsoll.domain.fingerprint import Fingerprint
    from plimsoll.domain.happening import Event, EventKind, LogLine
    from plimsoll.domain.process import Process
    from plimsoll.ports.database import Database
    from plimsoll.services.judge.collected import CollectedFiles


@dataclass(frozen=True, eq=False)
class ProcessLogs:
    """The contents of the logs of the nodes' processes.

    `events`: entries of a process's own log, of `kinds`; `lines`: the lines of that log in order of time, with
    lines of its GC log on long pauses. `gc_problems`: a sentence for each GC log that is missing or was not read
    whole.
    """

    pauses: Mapping[ProcessOnHost, Pauses]
    gc_problems: Sequence[str]
    events: Mapping[ProcessOnHost, Sequence[Event]]
    kinds: Sequence[EventKind]
    lines: Mapping[ProcessOnHost, Sequence[LogLine]]


def read_logs(
    database: Database, processes: Sequence[Process], fingerprint: Fingerprint | None, files: CollectedFiles
) -> ProcessLogs:
    """Read the logs of these processes on every host that has files of theirs."""
    places = {ProcessOnHost(host, one.name): one for host in files.hosts for one in processes}
    collected = {place: own for place in places if (own := files.of(*place))}
    gc_texts = {place: files.text(own[log]) for place, own in collected.items() if (log := places[place].gc_log) in own}
    pauses, problems = _pauses(gc_texts, several=len(processes) > 1)
    zones = _zones(fingerprint, pauses)
    own_logs = {
        place: (files.text(own[log]), zones[place.host])
        for place, own in collected.items()
        if (log := places[place].log) in own and place.host in zones
    }
    return ProcessLogs(
        pauses=pauses,
        gc_problems=[*problems, *_missing(processes, fingerprint, gc_texts)],
        events={place: database.events(place.process, *log) for place, log in own_logs.items()},
        kinds=database.kinds,
        lines={
            place: _merged(
                database.lines(place.process, *own_logs[place]) if place in own_logs else (),
                gc_lines(gc_texts.get(place, "")),
            )
            for place in collected
        },
    )


def _merged(*logs: Sequence[LogLine]) -> Sequence[LogLine]:
    return sorted((line for log in logs for line in log), key=lambda line: line.at)


def _pauses(
    gc_texts: Mapping[ProcessOnHost, str], *, several: bool
) -> tuple[dict[ProcessOnHost, Pauses], Sequence[str]]:
    """The pauses of each JVM, and a sentence for each GC log that was not read or not whole."""
    found, problems = dict[ProcessOnHost, "Pauses"](), list[str]()
    for place, text in gc_texts.items():
        name = place.shown(several=several)
        try:
            found[place] = parse_gc_log(text)
        except LogError as error:
            problems.append(f"the pauses of {name} are not known: its GC log {error.what}")
            continue
        if unread := found[place].unread:
            problems.append(f"pauses of {name} may be missing: of its GC log, {unread}")
    return found, problems


def _missing(
    processes: Sequence[Process], fingerprint: Fingerprint | None, gc_texts: Mapping[ProcessOnHost, str]
) -> Sequence[str]:
    """A sentence for each GC log that is missing, of the nodes that the attempt got to know.

    None where no node has a GC log of that process: its JVM writes none then.
    """
    writing = {place.process for place in gc_texts}
    nodes = fingerprint.nodes if fingerprint else ()
    places = [ProcessOnHost(node.host, one.name) for node in nodes for one in processes if one.name in writing]
    return [
        f"the pauses of {place.shown(several=len(processes) > 1)} are not known: it has no GC log"
        for place in places
        if place not in gc_texts
    ]


def _zones(fingerprint: Fingerprint | None, pauses: Mapping[ProcessOnHost, Pauses]) -> dict[str, tzinfo]:
    """The time zone of each host's logs, which these lack: from its GC logs, else from the host's facts."""
    offsets = {node.host: node.facts.utc_offset_s for node in fingerprint.nodes} if fingerprint else {}
    zones = {host: timezone(timedelta(seconds=offset)) for host, offset in offsets.items() if offset is not None}
    return {**zones, **{place.host: found.zone for place, found in pauses.items() if found.zone is not None}}
