"""Read an attempt's files for judging: histogram logs, the generator's summary, GC logs, samples."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta, timezone
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.several_load_hosts import merged_seconds, summed
from plimsoll.analysis.logs.gc.long_pauses import gc_lines
from plimsoll.analysis.logs.gc.unified import parse_gc_log
from plimsoll.domain.cluster import load_host_name
from plimsoll.domain.errors import LogError
from plimsoll.domain.load_summary import LoadSummary
from plimsoll.services.cell.load_hosts import read_start
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import read_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    import pandas as pd

    from plimsoll.analysis.logs.gc.pauses import Pauses
    from plimsoll.domain.clocks import LoadStart
    from plimsoll.domain.happening import Event, GeneratorSecond, LogLine
    from plimsoll.domain.result import Manifest
    from plimsoll.services.cell.context import AttemptContext

_GC_LOG = "gc.log"
_SAMPLES = "host.csv"
MOST_BYTES = 256 * 2**20
"""The most that is read of a file of the generator's account: those of whole runs have some megabytes."""


@dataclass(frozen=True)
class Evidence:
    """The collected files of one attempt, by kind.

    `summary`: the report on the whole load; `summaries`: each load host's report on its part; `start`: the common start
    of several load hosts. `response_times`: by load host, histogram logs by file name, each of one of the `operations`.
    `events`: entries of the nodes' own logs, by host; `lines`: the lines of these logs in order of time, with lines of
    GC logs on long pauses. `gc_problems`: a sentence for each GC log that was not read whole. `seconds`: the load
    generator's own state. `samples`: the hosts' figures, one row per second
    and host.
    """

    summary: LoadSummary
    summaries: Mapping[str, LoadSummary]
    start: LoadStart | None
    response_times: Mapping[str, Mapping[str, bytes]]
    operations: Sequence[str]
    pauses: Mapping[str, Pauses]
    gc_problems: Sequence[str]
    events: Mapping[str, Sequence[Event]]
    lines: Mapping[str, Sequence[LogLine]]
    seconds: Sequence[GeneratorSecond]
    samples: pd.DataFrame


def gather(work: AttemptContext, manifest: Manifest) -> Evidence:
    """Read everything that judging needs from the files that the manifest names."""
    paths = {host: _paths(manifest, host) for host in _load_hosts(work)}
    logs = {host: work.load_generator.response_time_logs(own) for host, own in paths.items()}
    summaries = {host: _summary(work, manifest, own) for host, own in paths.items()}
    summary, start = summed(summaries), read_start(work)
    seconds = {host: _seconds(work, own) for host, own in paths.items()}
    pauses, gc_problems = _pauses(work, manifest)
    logs_of_nodes = dict(_node_logs(work, manifest, _zones(work, pauses)))
    database = work.database
    return Evidence(
        summary=summary,
        summaries=summaries,
        start=start,
        response_times={
            host: {name: _read(work, paths[host][name]) for name in own.values()} for host, own in logs.items() if own
        },
        operations=tuple(dict.fromkeys(operation for own in logs.values() for operation in own)),
        pauses=pauses,
        gc_problems=gc_problems,
        events={host: database.events(text, zone) for host, (text, zone) in logs_of_nodes.items()},
        lines={host: _lines(work, manifest, host, text, zone) for host, (text, zone) in logs_of_nodes.items()},
        seconds=merged_seconds(seconds, start.ahead_ms if start else {}),
        samples=_samples(work, manifest),
    )


def _load_hosts(work: AttemptContext) -> Sequence[str]:
    """The names of the load hosts, the first one first."""
    return [load_host_name(number) for number in range(1, work.definition.load_generator.hosts + 1)]


def _paths(manifest: Manifest, host: str) -> dict[str, str]:
    """The collected files of that host, by name."""
    return {PurePosixPath(entry.path).name: entry.path for entry in manifest.files if _host(entry.path) == host}


def _seconds(work: AttemptContext, paths: Mapping[str, str]) -> Sequence[GeneratorSecond]:
    path = paths.get(work.load_generator.progress_file)
    return work.load_generator.seconds(_read(work, path).decode(errors="replace") if path else "")


def _summary(work: AttemptContext, manifest: Manifest, paths: Mapping[str, str]) -> LoadSummary:
    """The summary in the generator's own files; `paths` are the files of one load host by name."""
    there = {name: paths[name] for name in work.load_generator.summary_files if name in paths}
    sizes = {entry.path: entry.size_bytes for entry in manifest.files}
    for name, path in there.items():
        if sizes[path] > MOST_BYTES:
            what = f"{name} has {sizes[path]:,} bytes: more than {MOST_BYTES:,} are not read of such a file"
            return LoadSummary(complete=False, reason=what)
    texts = {name: _read(work, path).decode(errors="replace") for name, path in there.items()}
    return work.load_generator.summary(texts)


def _pauses(work: AttemptContext, manifest: Manifest) -> tuple[dict[str, Pauses], list[str]]:
    """The pauses of each host, and a sentence for each GC log that was not read or not whole.

    A node without a GC log has a sentence too if other nodes have one: no log at all is the way of a database that
    writes none.
    """
    found: dict[str, Pauses] = {}
    problems, logs = list[str](), set[str]()
    for entry in manifest.files:
        if not _is_gc_log(entry.path):
            continue
        host = _host(entry.path)
        logs.add(host)
        try:
            found[host] = parse_gc_log(_read(work, entry.path).decode(errors="replace"))
        except LogError as error:
            problems.append(f"the pauses of {host} are not known: its GC log {error.what}")
            continue
        if told := found[host].unread:
            problems.append(f"pauses of {host} may be missing: of its GC log, {told}")
    missing = [host for host in _jvms(work) if logs and host not in logs]
    return found, [*problems, *(f"the pauses of {host} are not known: it has no GC log" for host in missing)]


def _jvms(work: AttemptContext) -> Sequence[str]:
    """The hosts of the nodes that run in a JVM, as far as the attempt got to know its nodes."""
    fingerprint = read_fingerprint(work.toolkit.store, work.key)
    on_jvm = work.definition.variant(work.cell.variant).jvm is not None
    return [node.host for node in fingerprint.nodes] if fingerprint and on_jvm else []


def _zones(work: AttemptContext, pauses: Mapping[str, Pauses]) -> dict[str, tzinfo]:
    """The time zone of each host's database log, which the log lacks: from its GC log, else from the host's facts."""
    fingerprint = read_fingerprint(work.toolkit.store, work.key)
    offsets = {node.host: node.facts.utc_offset_s for node in fingerprint.nodes} if fingerprint else {}
    said = {host: timezone(timedelta(seconds=offset)) for host, offset in offsets.items() if offset is not None}
    return {**said, **{host: found.zone for host, found in pauses.items() if found.zone is not None}}


def _node_logs(
    work: AttemptContext, manifest: Manifest, zones: Mapping[str, tzinfo]
) -> Iterator[tuple[str, tuple[str, tzinfo]]]:
    """Text and time zone of the nodes' own logs, for hosts whose zone is known."""
    for entry in manifest.files:
        host = _host(entry.path)
        if PurePosixPath(entry.path).name == work.database.log_file and (zone := zones.get(host)) is not None:
            yield host, (_read(work, entry.path).decode(errors="replace"), zone)


def _lines(work: AttemptContext, manifest: Manifest, host: str, text: str, zone: tzinfo) -> Sequence[LogLine]:
    """The lines of a node's own log and its GC log, merged."""
    logs = [entry.path for entry in manifest.files if _host(entry.path) == host and _is_gc_log(entry.path)]
    pauses = [line for path in logs for line in gc_lines(_read(work, path).decode(errors="replace"))]
    return sorted([*work.database.lines(text, zone), *pauses], key=lambda line: line.at)


def _is_gc_log(path: str) -> bool:
    return PurePosixPath(path).name == _GC_LOG


def _samples(work: AttemptContext, manifest: Manifest) -> pd.DataFrame:
    import pandas as pd

    paths = [entry.path for entry in manifest.files if PurePosixPath(entry.path).name == _SAMPLES]
    tables = [pd.read_csv(BytesIO(_read(work, path))).assign(host=_host(path)) for path in paths]
    return pd.concat(tables) if tables else pd.DataFrame()


def _read(work: AttemptContext, path: str) -> bytes:
    return work.toolkit.store.read(layout.attempt_file(work.key, path))


def _host(path: str) -> str:
    return PurePosixPath(path).parts[1]
