"""Collect an attempt's files from its hosts. The manifest is written last and makes the attempt count.

Each host is asked by itself, so a cluster that lost hosts still gives the measurements of the others. Only errors of
hosts are recorded, because the manifest is final and the hosts are destroyed next. An error of the store, or of a key
to the hosts, may pass: the caller collects again, and what is stored already is found or stored once more.

Where both can, hosts upload directly to the store. The controller then handles only sizes and checksums.
"""

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import partial
from glob import escape
from itertools import chain, count
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from plimsoll.domain.attempt.result import Manifest, ManifestEntry
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.keys.process import Process
from plimsoll.domain.text.errors import (
    OF_HOSTS,
    HostError,
    HostsLost,
    NotFound,
    PlimsollError,
    SecretError,
    Unreachable,
)
from plimsoll.domain.text.wording import visible
from plimsoll.ports.host import MOST_FILE_BYTES, STORED, TAKEN, Host
from plimsoll.ports.store import DirectStore, ResultStore, StoredFile
from plimsoll.services.cell.action_beside_load import required_nodes
from plimsoll.services.cell.attempt_state import failure_of, note_phase
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.load_hosts import note_clocks_after, stop_all
from plimsoll.services.cell.loading import load_job
from plimsoll.services.store import layout

_MOST_BYTES = 4 * MOST_FILE_BYTES
"""The greatest size of one host's files together."""
_KEPT = " !#$&'()+,=@[]^_`{}~"
"""The characters beside letters, digits and `_.-~` that names may have on every disk and in S3."""
_OF_THE_HOST = ""
_ByProcess = Mapping[str, Sequence[PurePosixPath]]
"""Paths of files on a host by their process. Those of sampler and load generator are `_OF_THE_HOST` as a whole."""

# Longer than any host may take for all of its files.
_LIFETIME = timedelta(minutes=30)

_log = logging.getLogger("plimsoll")


@dataclass(frozen=True)
class _HostFiles:
    """The files of one host. `lost`: what could not be collected from it; `unseen`: the same of an observed one."""

    entries: tuple[ManifestEntry, ...] = ()
    down: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()


def collect(work: AttemptContext) -> Manifest:
    """Store every file worth keeping. Run again, it finds its manifest and does nothing."""
    done = layout.MANIFEST.read(work.store, work.key)
    if done is not None:
        return done
    note_phase(work.toolkit, work.key, "collect")
    collected = list(_collected(work))
    lost = [sentence for host_files in collected for sentence in host_files.lost]
    manifest = Manifest(
        key=work.key,
        files=tuple(entry for host_files in collected for entry in host_files.entries),
        failure=visible("; ".join([*filter(None, [failure_of(work.store, work.key)]), *lost])) or None,
        nodes_down=tuple(sentence for host_files in collected for sentence in host_files.down),
        unseen=tuple(visible(sentence) for host_files in collected for sentence in host_files.unseen),
        written_at=work.toolkit.clock.now(),
    )
    # Another may be quicker.
    return layout.MANIFEST.settle(work.store, work.key, manifest)


def _collected(work: AttemptContext) -> Iterator[_HostFiles]:
    recorded = layout.CLUSTER.read(work.store, work.key)
    # Hosts that never were ready have nothing, and may be long in saying so. Why they were not, the failure says.
    if recorded is None and failure_of(work.store, work.key) is not None:
        return
    whole: Cluster | None = None
    with suppress(HostsLost):
        whole = work.living()
    if whole is None:
        yield _HostFiles(lost=("the cluster was gone, or hosts of it were",))
    # Hosts that survived still give what they have
    cluster = whole or recorded
    if cluster is not None:
        yield from _from_hosts(work, cluster)


def _from_hosts(work: AttemptContext, cluster: Cluster) -> Iterator[_HostFiles]:
    """Collect from all hosts at once, as one that does not answer takes long. The load stops first, for its logs."""
    required = {node.info.name for node in required_nodes(work, cluster)}
    tasks = [partial(_node, work, node, must_run=node.info.name in required) for node in work.node_hosts(cluster)]
    tasks += [partial(_observed, work, host) for host in work.hosts(cluster, cluster.observed)]
    if work.data_environment != work.environment:  # what belongs to the attempt alone is beside the data
        tasks += [partial(_from_host, work, node, lambda _: {}) for node in work.hosts(cluster, cluster.nodes)]
    loads = work.hosts(cluster, cluster.load_hosts)
    failed = stop_all(work.load_generator, loads, load_job(work.key))
    yield from (_lost(load, failed[load.info.name]) for load in loads if load.info.name in failed)
    tasks += [
        partial(_from_host, work, load, lambda host: {_OF_THE_HOST: work.load_generator.files(host)})
        for load in loads
        if load.info.name not in failed
    ]
    with suppress(*OF_HOSTS):  # then it stays unknown whether clocks have moved
        note_clocks_after(work, loads)
    with ThreadPoolExecutor(max(1, len(tasks))) as pool:  # none where only load hosts are ours, and none answers
        yield from pool.map(lambda task: task(), tasks)


def _node(work: AttemptContext, node: Host, *, must_run: bool) -> _HostFiles:
    # Nodes are started once, so whoever runs at the end ran all the time, but for those of an action.
    product = work.product
    try:
        down = tuple(product.down([node])) if must_run else ()
        if must_run:
            product.save(node)
    except OF_HOSTS as error:
        return _lost(node, error)
    collected = _from_host(work, node, lambda host: files_of_processes(host, product.processes(work.variant)))
    return _HostFiles(collected.entries, down, collected.lost)


def _observed(work: AttemptContext, host: Host) -> _HostFiles:
    """Collect from a machine of somebody else's. The measurement is as sound without what is lost of it."""
    try:
        collected = _node(work, host, must_run=True)
    except SecretError as error:
        collected = _lost(host, error)
    return _HostFiles(collected.entries, unseen=(*collected.down, *collected.lost))


def files_of_processes(node: Host, processes: Iterable[Process]) -> _ByProcess:
    """Return the paths of the files on that node which its product declares, by process."""
    return {
        process.name: [path for pattern in process.files for path in _matching(node, pattern)] for process in processes
    }


def _matching(node: Host, pattern: str) -> Iterator[PurePosixPath]:
    # The folder's own name may hold signs of a pattern, such as brackets
    whole = f"{escape(str(node.root))}/{pattern}"
    return (path for path in node.files((node.root / pattern).parent) if fnmatchcase(str(path), whole))


def _from_host(work: AttemptContext, host: Host, written: Callable[[Host], _ByProcess]) -> _HostFiles:
    try:
        own = {_OF_THE_HOST: work.toolkit.sampler.files(host)}
        names = {
            path: f"{layout.RAW}/{host.info.name}/{name}"
            for path, name in distinct_names([*own.items(), *written(host).items()])
        }
        keys = {path: layout.attempt_file(work.key, name) for path, name in names.items()}
        sent = upload_directly(work.store, host, keys)
    except OF_HOSTS as error:
        return _lost(host, error)
    entries: list[ManifestEntry] = []
    lost = []
    for path, name in names.items():
        if sum(entry.size_bytes for entry in entries) > _MOST_BYTES:
            most = f"its files take more than {_MOST_BYTES >> 30} GiB"
            lost.append(f"not collected from {host.info.name}, from {_plain(path)} on: {most}")
            break
        try:
            file = sent.get(path) or _fetched(work.store, host, path, keys[path])
            entries.append(ManifestEntry(path=name, size_bytes=file.size_bytes, sha256=file.sha256))
        except Unreachable as error:  # to ask for each of the others would take as long again
            lost.append(f"not collected from {host.info.name}, from {_plain(path)} on: {error}")
            break
        except OF_HOSTS as error:
            lost.append(f"not collected: {error}")
    return _HostFiles(tuple(entries), (), tuple(lost))


def distinct_names(files: Iterable[tuple[str, Sequence[PurePosixPath]]]) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield each file with its name in the store: `<process>/<name>`, or `<name>` for a file of the host itself.

    Where files of one process have the same name in different folders, the later ones get `~2`, `~3` and so on.
    """
    taken = set[str]()
    for process, paths in files:
        for path in paths:
            plain = str(PurePosixPath(process, _plain(path)))
            name = next(name for name in chain([plain], (f"{plain}~{n}" for n in count(2))) if name not in taken)
            taken.add(name)
            yield path, name


def _plain(path: PurePosixPath) -> str:
    """Return the name in the store of a file that a host has under any name: printable ASCII, other bytes as `%0A`."""
    written = os.fsencode(path.name)
    quoted = quote(written, safe=_KEPT)
    return quoted if len(quoted) <= 200 else f"{quoted[:100]}-{hashlib.sha256(written).hexdigest()}"


def _lost(host: Host, error: PlimsollError) -> _HostFiles:
    return _HostFiles(lost=(f"nothing was collected from {host.info.name}: {error}",))


def _fetched(store: ResultStore, host: Host, path: PurePosixPath, key: str) -> StoredFile:
    """Collect by copying files to this machine first."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-collect-") as scratch:
        local = Path(scratch) / "file"
        host.fetch(path, local)
        return store.upload(key, local)


def upload_directly(
    store: ResultStore, host: Host, keys: Mapping[PurePosixPath, str]
) -> dict[PurePosixPath, StoredFile]:
    """Upload the host's files and return those that arrived, as the store describes them; the log names the others.

    An existing file is not overwritten: an earlier collection measured it and stored it completely.
    """
    if not isinstance(store, DirectStore):
        return {}
    try:
        measured = host.measure(list(keys))
        if measured is None:
            return {}
        tickets = {path: store.upload_ticket(keys[path], file, _LIFETIME) for path, file in measured.items()}
        answers = host.upload(tickets)
    except HostError as error:
        _log.warning("its files are fetched instead: %s", error)
        return {}
    arrived = {path: _arrived(store, keys[path], measured[path], answer) for path, answer in answers.items()}
    for path in keys:
        if arrived.get(path) is None:
            why = answers.get(path, "it can't be read")
            _log.warning("host %s: %s is fetched instead: %s", host.info.name, path, why)
    return {path: file for path, file in arrived.items() if file is not None}


def _arrived(store: DirectStore, key: str, measured: StoredFile, answer: str) -> StoredFile | None:
    """Return the file as the store has it, if it does, unless it differs from what the host sent."""
    if answer not in (STORED, TAKEN):
        return None
    try:
        stored = store.stored(key)
    except NotFound:  # it was sent elsewhere, or is deleted by now
        return None
    return stored if stored.sha256 and (answer == TAKEN or stored == measured) else None
