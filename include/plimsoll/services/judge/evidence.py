"""Read an attempt's records and files for judging. Whoever judges by them sees no store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.disturbance import GROUP, TOP
from plimsoll.analysis.attempt.hosts import ALWAYS
from plimsoll.analysis.attempt.several_load_hosts import merged_seconds, summed
from plimsoll.analysis.logs.formats import RunFile
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.hosts.cluster import load_host_name
from plimsoll.domain.keys.action import RecordedAction
from plimsoll.services.cell.load_hosts import read_start
from plimsoll.services.judge.process_logs import CollectedFiles, read_logs
from plimsoll.services.store import layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from plimsoll.domain.attempt.load_summary import LoadStart
    from plimsoll.domain.attempt.result import Manifest, ManifestEntry
    from plimsoll.domain.campaign.cell import AttemptKey, Cell
    from plimsoll.domain.campaign.part import Part
    from plimsoll.domain.hosts.fingerprint import Fingerprint, Provenance
    from plimsoll.domain.keys.process import GeneratorSecond, Process
    from plimsoll.ports.load_generator import LoadGenerator
    from plimsoll.services.cell.context import AttemptContext
    from plimsoll.services.judge.process_logs import ProcessLogs

_SAMPLES = "host.csv"
MOST_BYTES = 256 * 2**20
"""The most that is read of a file of the generator's account: those of whole runs have some megabytes."""


@dataclass(frozen=True, eq=False)
class JudgedInput:
    """An attempt to be judged. `code_version`: of the code that judges."""

    key: AttemptKey
    part: Part
    cell: Cell
    code_version: str


@dataclass(frozen=True, eq=False)
class ImportedEvidence(JudgedInput):
    """Everything that judging needs of an imported attempt.

    The names of `files` are without folders where these are unique, so that remarks of many cells have the same text.
    """

    provenance: Provenance
    files: Sequence[RunFile]


@dataclass(frozen=True, eq=False)
class Evidence(JudgedInput):
    """Everything that judging needs of an attempt that ran here: its records, and its collected files by kind.

    `action`: None where there was none, or none that ended. `fingerprint`: None where the database was not deployed.
    `processes`: those that its product declares. `limits`: what the load generator does not do of the definition.
    `summary`: the report on the whole load; `summaries`: each load host's report on its part; `start`: the common start
    of several load hosts. `response_times`: by load host, histogram logs by file name, each of one of the `operations`,
    beside that of failed operations.
    `seconds`: the load generator's own state. `samples`: the hosts' figures, one row per second and host;
    `unread_samples`: remarks on hosts whose figures can't be read.
    """

    manifest: Manifest
    action: RecordedAction | None
    fingerprint: Fingerprint | None
    processes: Sequence[Process]
    limits: Sequence[str]
    summary: LoadSummary
    summaries: Mapping[str, LoadSummary]
    start: LoadStart | None
    response_times: Mapping[str, Mapping[str, bytes]]
    operations: Sequence[str]
    logs: ProcessLogs
    seconds: Sequence[GeneratorSecond]
    samples: pd.DataFrame
    unread_samples: Sequence[str] = ()

    @property
    def ahead_ms(self) -> dict[str, float]:
        """Tell how far each host's clock is ahead of the (first) load generator's, ms."""
        of_nodes = self.fingerprint.ahead_ms() if self.fingerprint else {}
        return {**of_nodes, **(self.start.ahead_ms if self.start else {})}


def gather_imported(work: AttemptContext, provenance: Provenance) -> ImportedEvidence:
    plain = {name: PurePosixPath(name).name for name in provenance.files}
    names = plain if len(set(plain.values())) == len(plain) else {name: name for name in plain}
    keys = {name: layout.attempt_file(work.key, layout.imported_file(name)) for name in provenance.files}
    files = [RunFile(names[name], work.store.read(key)) for name, key in keys.items()]
    return ImportedEvidence(work.key, work.part, work.cell, work.toolkit.code_version, provenance, files)


def gather(work: AttemptContext, manifest: Manifest) -> Evidence:
    """Read everything that judging needs of an attempt that ran here: its records, and the files of the manifest."""
    files, generator, start = CollectedFiles(work.store, manifest), work.load_generator, read_start(work)
    fingerprint, processes = layout.FINGERPRINT.read(work.store, work.key), work.product.processes(work.variant)
    # the first load host comes first
    loads = {host: files.of(host) for host in map(load_host_name, range(1, work.part.load_generator.hosts + 1))}
    logs = {host: generator.response_time_logs(work.load_spec, own) for host, own in loads.items()}
    summaries = {host: _summary(generator, files, own) for host, own in loads.items()}
    seconds = {host: generator.seconds(files.text(own.get(generator.progress_file))) for host, own in loads.items()}
    reported, (samples, unread_samples) = summed(summaries), _samples(files)
    part = _as_far_as_it_went(work.part, reported)
    return Evidence(
        key=work.key,
        part=part,
        cell=work.cell,
        code_version=work.toolkit.code_version,
        manifest=manifest,
        action=_action(work) if work.part.action else None,
        fingerprint=fingerprint,
        processes=processes,
        limits=generator.limits(work.load_spec),
        summary=reported.judged_after(part.timing.warmup),
        summaries=summaries,
        start=start,
        response_times={
            host: _read(files, loads[host], [*own.values(), generator.failures_file])
            for host, own in logs.items()
            if own
        },
        operations=tuple(dict.fromkeys(operation for own in logs.values() for operation in own)),
        logs=read_logs(work.product.evidence, processes, fingerprint, files),
        seconds=merged_seconds(seconds, start.ahead_ms if start else {}),
        samples=samples,
        unread_samples=unread_samples,
    )


def _action(work: AttemptContext) -> RecordedAction | None:
    """Return what was done to the attempt's cluster; None where nothing was, or where it has not ended."""
    begin, end = layout.ACTION.read(work.store, work.key), layout.ACTION_END.read(work.store, work.key)
    return RecordedAction(begin, end) if begin and end else None


def _as_far_as_it_went(part: Part, summary: LoadSummary) -> Part:
    """Return the part with the time for which a load ran that ended before its time."""
    if summary.ended_s is None:
        return part
    timing = part.timing.ended_after(timedelta(seconds=summary.ended_s), part.service_levels)
    return replace(part, timing=timing)


def _summary(generator: LoadGenerator, files: CollectedFiles, own: Mapping[str, ManifestEntry]) -> LoadSummary:
    """Return the summary in the generator's own files; `own` are the files of one load host by name."""
    there = {name: own[name] for name in generator.summary_files if name in own}
    for name, entry in there.items():
        if entry.size_bytes > MOST_BYTES:
            what = f"{name} has {entry.size_bytes:,} bytes: more than {MOST_BYTES:,} are not read of such a file"
            return LoadSummary(complete=False, reason=what)
    return generator.summary({name: files.text(entry) for name, entry in there.items()})


def _read(files: CollectedFiles, own: Mapping[str, ManifestEntry], names: Sequence[str]) -> dict[str, bytes]:
    return {name: files.read(own[name]) for name in names if name in own}


def _samples(files: CollectedFiles) -> tuple[pd.DataFrame, list[str]]:
    """Return the hosts' figures, and a remark on each host whose file can't be read: it counts as not sampled."""
    import pandas as pd

    tables, unread = [], []
    for host in files.hosts:
        if (entry := files.of(host).get(_SAMPLES)) is not None:
            try:
                tables.append(_figures(files.read(entry)).assign(host=host))
            except ValueError as error:  # the one above all that pandas raises on content
                why = str(error).replace("\0", "") or "it has no figures"
                unread.append(f"{host} counts as not sampled, since its {_SAMPLES} can't be read: {why}")
    return (pd.concat(tables) if tables else pd.DataFrame()), unread


def _figures(content: bytes) -> pd.DataFrame:
    """Return a host's figures.

    Raises ValueError where the content is no such table, as where its end is zeros or its first line is lost.
    """
    import pandas as pd

    table = pd.read_csv(BytesIO(content))
    if missing := [name for name in ALWAYS if name not in table.columns]:
        raise ValueError(f"its first line does not name {', '.join(missing)}")
    for name in table.columns.drop([TOP, GROUP], errors="ignore"):
        pd.to_numeric(table[name])
    return table
