"""Record the classes that nodes and programs load: `python -m benchmarks.record_classes 4.0.1`.

With a version of Cassandra this starts one node of it on this machine and writes `<version>.gz` into
`adapters/products/cassandra/class_lists`. With `programs` it has Plimsoll's own Java programs ask and load such a node,
and writes their lists into `adapters/artefacts/class_lists`.
"""

import gzip
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from plimsoll.adapters import artefacts as artefacts_package
from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.generators.plimsoll_stress.program import StressProgram
from plimsoll.adapters.products import cassandra as cassandra_package
from plimsoll.adapters.products.cassandra.adapter import Cassandra
from plimsoll.adapters.products.cassandra.inquiry import over_jmx
from plimsoll.adapters.products.cassandra.node_tool import NodeTool
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.domain.cluster import ClusterId, ClusterRequest
from plimsoll.domain.definition import Definition
from plimsoll.ports.host import Host

_LISTS = Path(cassandra_package.__file__).parent / "class_lists"
_LISTS_OF_PROGRAMS = Path(artefacts_package.__file__).parent / "class_lists"
_LIFETIME = timedelta(minutes=10)
_PROGRAMS = "programs"
_LOAD = ("-d", "3s", "-t", "2", "-c", "20", "--rate", "200", "--rf", "1", "--response-time-warmup", "1s")
_WORKLOADS = (
    ("BasicTimeSeries", "-p", "1k", "--populate", "100"),
    ("StandardRow", "-o", "rows=200", "--settle", "30s"),
)


def main(what: str, cache: Path) -> None:
    """Start a node, wait until it is up, have it used if need be, destroy it, and keep the lists of classes."""
    artefacts = Artefacts(cache, print)
    with tempfile.TemporaryDirectory(prefix="plimsoll-classes-") as folder:
        scratch = Path(folder)
        if what == _PROGRAMS:
            _with_node(_definition("4.0.1"), artefacts, scratch, lambda *hosts: _use(artefacts, scratch, *hosts))
            for name in ("node-tool", "load-generator"):
                _keep(_LISTS_OF_PROGRAMS / f"{name}.gz", sorted(scratch.glob(f"{name}-*.classes")))
        else:
            loaded = scratch / "classes"
            _with_node(_definition(what, *_recording(loaded)), artefacts, scratch, lambda *_: None)
            _keep(_LISTS / f"{what}.gz", [loaded])


def _recording(loaded: Path) -> tuple[str, str]:
    """The flags with which a JVM writes the names of the classes that it loads to a file."""
    return "-Xshare:off", f"-XX:DumpLoadedClassList={loaded}"


def _keep(place: Path, lists: Sequence[Path]) -> None:
    names = sorted({name for each in lists for name in each.read_bytes().splitlines()})
    place.parent.mkdir(exist_ok=True)
    # The file contains no time, so that equal lists give equal files.
    place.write_bytes(gzip.compress(b"\n".join([*names, b""]), mtime=0))
    print(f"{len(names)} classes: {place.name}")


def _use(artefacts: Artefacts, scratch: Path, node: Host, load: Host) -> None:
    """Run each command of the node tool, and loads of the load generator, and record the classes of each."""
    tool, stress = NodeTool(artefacts), StressProgram(artefacts)
    for number, told in enumerate(_questions(node)):
        _record(tool.argv(load, *told), scratch / f"node-tool-{number}.classes")
    for number, workload in enumerate(_WORKLOADS):
        files = {"--csv": "csv", "--hdr": "hdr", "--progress": "progress", "--summary": "summary"}
        told = ("run", *workload, *_LOAD, "--host", node.info.address, *_places(scratch, files))
        _record(stress.argv(load, *told), scratch / f"load-generator-{number}.classes")


def _questions(node: Host) -> tuple[tuple[str, ...], ...]:
    jmx, keyspace = over_jmx([node]), ("--keyspace", "none")
    return (
        ("probe", "--host", node.info.address),
        ("inspect", *jmx),
        ("settle", *jmx),
        ("size", *jmx, *keyspace),
        ("drop", "--host", node.info.address, *keyspace),
    )


def _places(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for option, name in files.items() for word in (option, str(folder / name)))


def _record(command: Sequence[str], loaded: Path) -> None:
    """Run the program; of a command that has nothing to tell, the classes count too."""
    subprocess.run([command[0], *_recording(loaded), *command[1:]], check=False, stdout=subprocess.DEVNULL)


def _definition(version: str, *flags: str) -> Definition:
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


def _with_node(definition: Definition, artefacts: Artefacts, scratch: Path, use: Callable[[Host, Host], None]) -> None:
    """Start a node, use it and its load host, and destroy it."""
    clock = SystemClock()
    provider = LocalProvider(scratch / "clusters", clock)
    key = ClusterId(campaign_id="record-classes", name="recorded/1")
    cluster = provider.ensure(
        ClusterRequest(id=key, owner="record-classes", nodes=1, expires_at=clock.now() + _LIFETIME)
    )
    try:
        (node,) = (provider.host(cluster, info) for info in cluster.nodes)
        load = provider.host(cluster, cluster.load_host)
        Cassandra(artefacts, clock).deploy(definition, definition.variants[0], [node], load, _LIFETIME)
        use(node, load)
    finally:
        provider.destroy(key)


if __name__ == "__main__":
    main(sys.argv[1], Path.home() / ".cache" / "plimsoll")
