"""Collect whatever an attempt left on its hosts; the manifest is written last and makes the attempt count."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from plimsoll.domain.cluster import Cluster
from plimsoll.domain.errors import PlimsollError
from plimsoll.domain.result import Manifest, ManifestEntry
from plimsoll.ports.host import Host
from plimsoll.services import layout
from plimsoll.services.attempts import Work, failure_of
from plimsoll.services.campaigns import read_manifest, write_model
from plimsoll.services.phases import stop_load
from plimsoll.services.progress import note_phase


def collect(work: Work) -> Manifest:
    """Everything worth keeping is in the store. Run again, it finds its manifest and does nothing."""
    done = read_manifest(work.toolkit.store, work.key)
    if done is not None:
        return done
    note_phase(work.toolkit.store, work.toolkit.clock, work.key, "collect")
    stop_load(work)
    cluster = work.provider.find(work.key)
    # Nodes are started once, so whoever runs at the end ran all the time.
    down = _down(work, cluster) if cluster is not None else ()
    entries, lost = _collect_from(work, cluster) if cluster is not None else ((), ["the cluster was gone"])
    manifest = Manifest(
        key=work.key,
        files=tuple(entries),
        failure=failure_of(work.toolkit.store, work.key) or ("; ".join(lost) or None),
        nodes_down=down,
        written_at=work.toolkit.clock.now(),
    )
    write_model(work.toolkit.store, work.key, layout.MANIFEST, manifest)
    return manifest


def _down(work: Work, cluster: Cluster) -> tuple[str, ...]:
    try:
        return tuple(work.database.down([work.provider.host(cluster, info) for info in cluster.nodes]))
    except PlimsollError as error:
        return (f"whether the nodes still ran is not known: {error}",)


def _collect_from(work: Work, cluster: Cluster) -> tuple[Sequence[ManifestEntry], list[str]]:
    entries: list[ManifestEntry] = []
    lost: list[str] = []
    with tempfile.TemporaryDirectory(prefix="plimsoll-collect-") as scratch:
        for host, path in _wanted(work, cluster):
            try:
                entries.append(_store_file(work, host, path, Path(scratch)))
            except PlimsollError as error:
                lost.append(f"not collected: {error}")
    return entries, lost


def _wanted(work: Work, cluster: Cluster) -> Iterator[tuple[Host, PurePosixPath]]:
    nodes = [work.provider.host(cluster, info) for info in cluster.nodes]
    load = work.provider.host(cluster, cluster.load_host)
    for node in nodes:
        yield from ((node, path) for path in work.database.files(node))
    yield from ((load, path) for path in work.load_generator.files(load))
    for host in (*nodes, load):
        yield from ((host, path) for path in work.toolkit.sampler.files(host))


def _store_file(work: Work, host: Host, path: PurePosixPath, scratch: Path) -> ManifestEntry:
    name = f"{layout.RAW}/{host.info.name}/{path.name}"
    local = scratch / f"{host.info.name}-{path.name}"
    host.fetch(path, local)
    stored = work.toolkit.store.upload(layout.attempt_file(work.key, name), local)
    local.unlink()
    return ManifestEntry(path=name, size_bytes=stored.size_bytes, sha256=stored.sha256)
