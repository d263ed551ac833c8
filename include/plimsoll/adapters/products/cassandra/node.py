"""Install and start one node on its host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from zipfile import ZipFile

from pydantic import JsonValue

from plimsoll.adapters.products.cassandra.command import NodePlace, node_command
from plimsoll.adapters.products.cassandra.logback import LOGBACK
from plimsoll.adapters.products.cassandra.node_files import GC_LOG, GC_LOG_OF_RESTARTED, JOB, RESTARTED, NodeFiles
from plimsoll.adapters.products.cassandra.release import Release
from plimsoll.adapters.products.cassandra.settings import joining_settings, merged, node_settings
from plimsoll.adapters.products.nodes.java import install
from plimsoll.adapters.products.nodes.settings import render
from plimsoll.domain.variant import JvmConfiguration
from plimsoll.ports.artefacts import Jdk
from plimsoll.ports.host import Host, Job

_HINTS = "META-INF/hotspot_compiler"


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

    @property
    def settings_of_joining(self) -> dict[str, JsonValue]:
        """Return the settings of a joining node, which where it can chooses tokens for equal shares of the rows."""
        key = self.release.allocation_setting
        return merged(self.release.settings, {key: self.replicas} if key else {}, self.settings)


@dataclass(frozen=True)
class _Start:
    """One start of a node: its settings, the id of its job, its GC log, and flags that only this start needs."""

    settings: Mapping[str, JsonValue]
    job_id: str = JOB
    gc_log: str = GC_LOG
    flags: Sequence[str] = ()


def start(host: Host, blueprint: Blueprint) -> None:
    """Write the node's configuration and start the node. A node that was started before is left as it is."""
    _start(host, blueprint, _Start(_settings(host, blueprint)))


def start_again(host: Host, blueprint: Blueprint) -> None:
    """Start a node that was ended on the data that it has. One that was started again before is left as it is."""
    _start(host, blueprint, _Start(_settings(host, blueprint), RESTARTED, GC_LOG_OF_RESTARTED))


def join(host: Host, blueprint: Blueprint, replaced: str = "") -> None:
    """Start a new node that joins the running ones and streams its data from them.

    `replaced`: the address of a dead node whose place it takes; empty where it is one more. A node that was started
    before is left as it is.
    """
    seed = blueprint.addresses[0]
    settings = joining_settings(blueprint.settings_of_joining, NodeFiles(host.root), seed, host.info.address)
    flags = (f"-Dcassandra.replace_address_first_boot={replaced}",) if replaced else ()
    _start(host, blueprint, _Start(settings, flags=flags))


def _settings(host: Host, blueprint: Blueprint) -> dict[str, JsonValue]:
    number = blueprint.addresses.index(host.info.address)
    return node_settings(blueprint.release, blueprint.settings, NodeFiles(host.root), blueprint.addresses, number)


def _start(host: Host, blueprint: Blueprint, asked: _Start) -> None:
    files = NodeFiles(host.root)
    place = NodePlace(host.info.address, host.facts().cpus, files, asked.gc_log)
    installation = install(host, blueprint.jdk, blueprint.jars)
    job = Job(
        id=asked.job_id,
        argv=node_command(blueprint.release, blueprint.jvm, installation, place, asked.flags),
        expires=blueprint.expires,
        env=blueprint.release.environment,
        cwd=files.home,
        owns=files.data,
    )
    host.write(files.settings, render(dict(asked.settings)))
    host.write(files.logback, LOGBACK)
    host.write(files.compiler_hints, compiler_hints(blueprint.jars))
    files.jmx.write(host)
    host.write(files.command, "\n".join([*job.argv, ""]))
    host.start(job)


def compiler_hints(jars: Path) -> str:
    """Return the release's hints for the JIT compiler, which the shipped start script takes from `conf/`.

    `quiet` keeps the JVM from printing every line. It is the only line where a release has no hints.
    """
    for path in sorted(jars.glob("cassandra-all-*.jar")):
        with ZipFile(path) as jar:
            if _HINTS in jar.namelist():
                return f"quiet\n{jar.read(_HINTS).decode()}"
    return "quiet\n"
