"""Record the classes that a node of a version loads: `python -m plimsoll.adapters.cassandra.record_classes 4.0.1`.

This starts one node on this machine and writes `class_lists/<version>.gz` next to this file, for `class_data`.
"""

import gzip
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.cassandra.adapter import Cassandra
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.local import LocalProvider
from plimsoll.domain.cluster import ClusterId, ClusterRequest
from plimsoll.domain.definition import Definition

_LISTS = Path(__file__).parent / "class_lists"
_LIFETIME = timedelta(minutes=10)


def main(version: str, cache: Path) -> None:
    """Start a node, wait until it is up, destroy it, and keep its list of classes."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-classes-") as scratch:
        loaded = Path(scratch) / "classes"
        _run_node(_definition(version, loaded), Artefacts(cache, print), Path(scratch) / "clusters")
        names = sorted(loaded.read_bytes().splitlines())
    _LISTS.mkdir(exist_ok=True)
    # The file contains no time, so that equal lists give equal files.
    (_LISTS / f"{version}.gz").write_bytes(gzip.compress(b"\n".join([*names, b""]), mtime=0))
    print(f"{len(names)} classes of Cassandra {version}")


def _definition(version: str, loaded: Path) -> Definition:
    flags = ["-Xshare:off", f"-XX:DumpLoadedClassList={loaded}"]
    jvm = {"jdk": "openjdk-11.0.13", "collector": "Serial", "heap": "512M", "flags": flags}
    return Definition.model_validate(
        {
            "name": "record-classes",
            "title": "Record classes",
            "system": {"version": version, "nodes": 1},
            "variants": [{"id": "recorded", "jvm": jvm}],
            "loads": ["1/s"],
            "workload": {"replication_factor": 1},
            "timing": {"duration": "20s", "warmup": "10s"},
        }
    )


def _run_node(definition: Definition, artefacts: Artefacts, work: Path) -> None:
    clock = SystemClock()
    provider = LocalProvider(work, clock)
    key = ClusterId(campaign_id="record-classes", name="recorded/1")
    cluster = provider.ensure(
        ClusterRequest(id=key, owner="record-classes", nodes=1, expires_at=clock.now() + _LIFETIME)
    )
    try:
        (node,) = (provider.host(cluster, info) for info in cluster.nodes)
        load = provider.host(cluster, cluster.load_host)
        Cassandra(artefacts, clock).deploy(definition, definition.variants[0], [node], load, _LIFETIME)
    finally:
        provider.destroy(key)


if __name__ == "__main__":
    main(sys.argv[1], Path.home() / ".cache" / "plimsoll")
