"""Install, configure and start one node on its host. In `scylla.yaml`, and among the settings that are options of
its command, the node's own come last.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field, JsonValue
from ruamel.yaml import YAML

from plimsoll.adapters.products.nodes.node_process import LogWords, NodeProcess, ProcessFiles, render
from plimsoll.adapters.products.nodes.own_machine import by_machine, own_loopback
from plimsoll.domain.hosts.fingerprint import HostFacts
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.units import Size
from plimsoll.ports.host import Host, Job

PROGRAM = "libexec/scylla"
"""The program in the archive. It is started by the archive's own loader with the archive's own libraries, as its
install script starts programs too: nothing is installed outside of Plimsoll's folder, and root is not needed."""
_IO_TUNE = timedelta(minutes=15)
STORAGE_PORT, NATIVE_PORT, SHARD_AWARE_PORT, API_PORT, METRICS_PORT = 7000, 9042, 19042, 10000, 9180
PORTS = (STORAGE_PORT, NATIVE_PORT, SHARD_AWARE_PORT, API_PORT, METRICS_PORT)
DEVELOPER_MODE = "developer_mode"
PRODUCT = "scylladb"
"""The name of ScyllaDB in definitions, of a node's job and of its process."""

SETTINGS, IO_PROPERTIES, COMMAND, METRICS = "scylla.yaml", "io_properties.yaml", "command.txt", "metrics.txt"
"""The files that are kept: settings, what the disk can do, the command for people, and metrics in Prometheus' form."""


@dataclass(frozen=True)
class NodeFiles(ProcessFiles):
    """All paths of one node, below its host's root."""

    name: str = PRODUCT

    @property
    def kept(self) -> PurePosixPath:
        """Return the folder of everything that is worth keeping, except for the log."""
        return self.home / "kept"


@dataclass(frozen=True)
class NodePlace:
    """The place of one node of a new cluster.

    `addresses`: those of all nodes, the seed's first. `sharing`: how many nodes run on its machine.
    """

    files: NodeFiles
    installation: PurePosixPath
    addresses: Sequence[str]
    address: str
    facts: HostFacts
    sharing: int


def start(host: Host, home: Path, given: Mapping[str, JsonValue], nodes: Sequence[Host], expires: timedelta) -> None:
    """Write the node's configuration and start the node. A node that was started before is left as it is.

    `home`: the unpacked archive on this machine; `given`: the definition's settings; `nodes`: all of the cluster.
    """
    place = NodePlace(
        files=NodeFiles(host.root),
        installation=host.install(home),
        addresses=[node.info.address for node in nodes],
        address=host.info.address,
        facts=host.facts(),
        sharing=next(len(hosts) for hosts in by_machine(nodes).values() if host in hosts),
    )
    files, settings = place.files, node_settings((shipped(home), given), place)
    host.write(files.kept / SETTINGS, render(settings))
    io_properties = command_options(given).io_properties
    is_measured = not io_properties and not settings[DEVELOPER_MODE]
    if io_properties:
        host.write(files.kept / IO_PROPERTIES, render(io_properties))
    elif is_measured:
        _measure_disk(host, place)
    argv = tuple(_command(place, given, has_io_properties=bool(io_properties) or is_measured))
    host.write(files.kept / COMMAND, "\n".join([*argv, ""]))
    # The archive's install script sets this for every program, too
    environment = {"GNUTLS_SYSTEM_PRIORITY_FILE": str(place.installation / "libreloc" / "gnutls.config")}
    host.start(Job(id=PRODUCT, argv=argv, expires=expires, env=environment, cwd=files.home, owns=files.data))


def _command(place: NodePlace, settings: Mapping[str, JsonValue], *, has_io_properties: bool) -> Iterator[str]:
    yield from _program(place, PROGRAM)
    yield from ("--options-file", str(place.files.kept / SETTINGS))
    yield from ("--log-to-stdout", "1", "--log-to-syslog", "0", "--default-log-level", "info")
    yield from shard_options(settings, place)
    if has_io_properties:
        yield from ("--io-properties-file", str(place.files.kept / IO_PROPERTIES))


def _program(place: NodePlace, program: str) -> tuple[str, ...]:
    libraries = place.installation / "libreloc"
    return str(libraries / "ld.so"), "--library-path", str(libraries), str(place.installation / program)


def _measure_disk(host: Host, place: NodePlace) -> None:
    """Measure what the disk can do, as ScyllaDB's setup does it once; the measured file is kept with the attempt."""
    files = place.files
    if files.kept / IO_PROPERTIES not in host.files(files.kept):
        host.run(("mkdir", "-p", str(files.data)), timeout=timedelta(minutes=1))
        measured = ("--evaluation-directory", str(files.data), "--properties-file", str(files.kept / IO_PROPERTIES))
        host.run((*_program(place, "libexec/iotune"), *measured), timeout=_IO_TUNE)


class CommandOptions(Model):
    """Settings that ScyllaDB takes on its command line only. Without `smp` and `memory` it takes the whole host."""

    smp: Annotated[int | None, Field(ge=1, strict=True)] = None
    memory: Annotated[Size | None, Field(ge=1 << 30)] = None
    overprovisioned: Annotated[bool, Field(strict=True)] = False
    io_properties: dict[str, JsonValue] | None = None


def command_options(settings: Mapping[str, JsonValue]) -> CommandOptions:
    """Return the options among these settings. Raises pydantic's ValidationError."""
    return CommandOptions.model_validate({key: settings[key] for key in CommandOptions.model_fields if key in settings})


def shipped(home: Path) -> dict[str, JsonValue]:
    """Return the settings of `conf/scylla.yaml` in the archive."""
    path = home / "conf" / "scylla.yaml"
    return YAML(typ="safe", pure=True).load(path.read_bytes()) or {} if path.is_file() else {}


def node_settings(layers: Sequence[Mapping[str, JsonValue]], place: NodePlace) -> dict[str, JsonValue]:
    """Return the settings of one node: those of all layers, of which later ones replace earlier ones, and its own."""
    merged = {key: value for layer in layers for key, value in layer.items() if key not in CommandOptions.model_fields}
    own = _own(place.files, place.installation, place.addresses[0], place.address)
    # The first, so that a definition can set it otherwise
    return {DEVELOPER_MODE: place.sharing > 1, **merged, **own}


def _own(files: NodeFiles, installation: PurePosixPath, seed: str, address: str) -> dict[str, JsonValue]:
    """Return the settings that tell the nodes of a cluster apart, and one cluster from another."""
    loopback = own_loopback(address)
    return {
        "cluster_name": f"plimsoll {seed}",
        "seed_provider": [
            {"class_name": "org.apache.cassandra.locator.SimpleSeedProvider", "parameters": [{"seeds": seed}]}
        ],
        "listen_address": address,
        "rpc_address": address,
        # Where its own host alone reaches its REST API and its metrics, neither of which asks for a password
        "api_address": loopback,
        "prometheus_address": loopback,
        "storage_port": STORAGE_PORT,
        "native_transport_port": NATIVE_PORT,
        "native_shard_aware_transport_port": SHARD_AWARE_PORT,
        "api_port": API_PORT,
        "prometheus_port": METRICS_PORT,
        "workdir": str(files.data),
        # The archive's install script writes these two, since they depend on where it installs
        "api_ui_dir": f"{installation}/swagger-ui/dist/",
        "api_doc_dir": f"{installation}/api/api-doc/",
    }


RESERVED = frozenset(_own(NodeFiles(PurePosixPath()), PurePosixPath(), "", "127.0.0.1"))
"""Settings that Plimsoll writes for each node. A definition can't set them."""


def shard_options(settings: Mapping[str, JsonValue], place: NodePlace) -> tuple[str, ...]:
    """Return the options for shards and memory.

    Nodes that share a machine get equal shares of it, of which one is left to the load generator, and neither poll nor
    pin its processors.
    """
    options = command_options(settings)
    if place.sharing > 1:
        part = place.sharing + 1
        own = {"smp": max(1, place.facts.cpus // part), "memory": place.facts.memory_bytes // part}
        explicit = {key: getattr(options, key) for key in options.model_fields_set}
        options = options.model_copy(update={**own, "overprovisioned": True, **explicit})
    shards = () if options.smp is None else ("--smp", str(options.smp))
    memory = () if options.memory is None else ("--memory", f"{options.memory >> 20}M")
    return (*shards, *memory, *(("--overprovisioned",) if options.overprovisioned else ()))


_WORDS = LogWords(
    remedies=(
        (r"aio-max-nr|[Cc]ould not setup Async I/O", "raise `fs.aio-max-nr` of the host"),
        (r"Unable to contact any seeds", "see that the hosts reach each other by network"),
    )
)
NODE = NodeProcess(PRODUCT, lambda root: (NodeFiles(root).console,), _WORDS)
"""ScyllaDB writes its log to its standard output."""
