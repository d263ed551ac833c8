"""Install, configure and start one node on its host: `cassandra.yaml`, the tokens of a new cluster, logging.

The definition's settings replace the release's; the node's own replace both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from pydantic import JsonValue

from plimsoll.adapters.artefacts.java_programs import install
from plimsoll.adapters.products.cassandra.command import NodePlace, node_command
from plimsoll.adapters.products.cassandra.node_files import GC_LOG, GC_LOG_OF_RESTARTED, JOB, NodeFiles
from plimsoll.adapters.products.cassandra.release import Release
from plimsoll.adapters.products.nodes.node_process import render
from plimsoll.domain.keys.variant import JvmConfiguration
from plimsoll.ports.artefacts import Jdk
from plimsoll.ports.host import Host, Job

JAR = "apache-cassandra-[0-9]*.jar"
"""Cassandra itself among the jars of a build's archive. 3.11 has `apache-cassandra-thrift-3.11.19.jar` beside it."""
_HINTS = "META-INF/hotspot_compiler"
STORAGE_PORT, NATIVE_PORT = 7000, 9042
PORTS = (STORAGE_PORT, NATIVE_PORT)
TOKENS = "num_tokens"
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "4"}  # conf/cassandra-env.sh of every release line
_FOLDERS = ("commitlog", "hints", "saved_caches", "cdc_raw")

_RING = 2**64
_FIRST = -(2**63)

# As shipped, with three differences: no debug.log, which costs CPU and disk and which nobody reads here; no second copy
# on standard output; no rotation, because a cell's log is collected as a whole.
LOGBACK = """<configuration>
  <appender name="SYSTEMLOG" class="ch.qos.logback.core.FileAppender">
    <file>${cassandra.logdir}/system.log</file>
    <encoder>
      <pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern>
    </encoder>
  </appender>
  <root level="INFO">
    <appender-ref ref="SYSTEMLOG"/>
  </root>
</configuration>
"""


@dataclass(frozen=True)
class Blueprint:
    """The properties that all nodes of a cluster have in common."""

    release: Release
    settings: Mapping[str, JsonValue]
    """The definition's settings, which replace the release's own."""
    jvm: JvmConfiguration
    jdk: Jdk
    jars: Path
    addresses: Sequence[str]
    """Of the nodes that are started first, the seed's before the others."""
    replicas: int
    """Of each row that clients write."""
    expires: timedelta


def start(host: Host, blueprint: Blueprint, job_id: str = JOB) -> None:
    """Write the node's configuration and start the node. A node that was started before is left as it is.

    `job_id`: `RESTARTED` for a node that was ended and starts again on the data that it has.
    """
    release, addresses = blueprint.release, blueprint.addresses
    number = addresses.index(host.info.address)
    settings = node_settings(release, blueprint.settings, NodeFiles(host.root), addresses, number)
    _start(host, blueprint, settings, job_id=job_id)


def join(host: Host, blueprint: Blueprint, replaced: str = "") -> None:
    """Start a new node that joins the running ones and streams its data from them.

    `replaced`: the address of a dead node whose place it takes; empty where it is one more. A node that was started
    before is left as it is.
    """
    release, own = blueprint.release, _own(NodeFiles(host.root), blueprint.addresses[0], host.info.address)
    # Where it can, it chooses tokens for equal shares of the rows.
    allocation = {release.allocation_setting: blueprint.replicas} if release.allocation_setting else {}
    settings = merged(release.settings, allocation, blueprint.settings, own, {"auto_bootstrap": True})
    flags = (f"-Dcassandra.replace_address_first_boot={replaced}",) if replaced else ()
    _start(host, blueprint, settings, flags=flags)


def _start(
    host: Host, blueprint: Blueprint, settings: dict[str, JsonValue], *, job_id: str = JOB, flags: Sequence[str] = ()
) -> None:
    """Start a node with these settings. `flags`: those that only this start needs."""
    files = NodeFiles(host.root)
    place = NodePlace(host.info.address, host.facts().cpus, files, GC_LOG if job_id == JOB else GC_LOG_OF_RESTARTED)
    installation = install(host, blueprint.jdk, blueprint.jars)
    job = Job(
        id=job_id,
        argv=node_command(blueprint.release, blueprint.jvm, installation, place, flags),
        expires=blueprint.expires,
        env=_ENVIRONMENT,
        cwd=files.home,
        owns=files.data,
    )
    host.write(files.settings, render(settings))
    host.write(files.logback, LOGBACK)
    host.write(files.compiler_hints, compiler_hints(blueprint.jars))
    files.jmx.write(host)
    host.write(files.command, "\n".join([*job.argv, ""]))
    host.start(job)


def compiler_hints(jars: Path) -> str:
    """Return the release's hints for the JIT compiler, which the shipped start script takes from `conf/`.

    `quiet` keeps the JVM from printing every line. It is the only line where a release has no hints.
    """
    for path in sorted([*jars.glob("cassandra-all-*.jar"), *jars.glob(JAR)]):
        with ZipFile(path) as jar:
            if _HINTS in jar.namelist():
                return f"quiet\n{jar.read(_HINTS).decode()}"
    return "quiet\n"


def merged(*layers: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the settings of all layers. Where layers contradict each other, the later one counts."""
    return {key: value for layer in layers for key, value in layer.items()}


def node_settings(
    release: Release, overrides: Mapping[str, JsonValue], files: NodeFiles, addresses: Sequence[str], node: int
) -> dict[str, JsonValue]:
    """Return all settings of node number `node`, from 0, of a new cluster at these addresses, the seed's first."""
    settings = merged(release.settings, overrides)
    tokens = initial_tokens(node, nodes=len(addresses), tokens_per_node=int(str(settings[TOKENS])))
    # There is nothing to stream, because all nodes of the cluster are new.
    new: dict[str, JsonValue] = {"auto_bootstrap": False, "initial_token": ",".join(map(str, tokens))}
    return merged(settings, _own(files, addresses[0], addresses[node]), new)


def _own(files: NodeFiles, seed: str, address: str) -> dict[str, JsonValue]:
    """Return the settings that tell nodes of a cluster apart, and clusters."""
    return {
        "cluster_name": f"plimsoll {seed}",
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": seed}],  # 3.11 takes no port here; it is `storage_port`
            }
        ],
        "listen_address": address,
        "rpc_address": address,
        "storage_port": STORAGE_PORT,
        "native_transport_port": NATIVE_PORT,
        "start_native_transport": True,
        "data_file_directories": [str(files.data / "tables")],
        **{f"{folder}_directory": str(files.data / folder) for folder in _FOLDERS},
    }


RESERVED = frozenset({*_own(NodeFiles(PurePosixPath()), "", ""), "auto_bootstrap", "initial_token"})
"""Settings that Plimsoll writes for each node. A definition can't set them."""


def initial_tokens(node: int, *, nodes: int, tokens_per_node: int) -> tuple[int, ...]:
    """Return the Murmur3 tokens of node number `node`, counted from 0, in ascending order.

    The tokens of the cluster are spread evenly and given to the nodes in turn, so every node owns the same share of the
    ring. Cassandra's own allocation gives only roughly equal shares, and its nodes must join one after another. With
    preset tokens all nodes can join at once.
    """
    total = nodes * tokens_per_node
    return tuple(_FIRST + position * _RING // total for position in range(node, total, nodes))
