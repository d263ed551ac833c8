"""One node on its host: made ready and started, once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from pydantic import JsonValue

from plimsoll.adapters.cassandra.class_data import ARCHIVE
from plimsoll.adapters.cassandra.command import Installation, Place, node_command
from plimsoll.adapters.cassandra.layout import JOB, NodeFiles
from plimsoll.adapters.cassandra.logback import LOGBACK
from plimsoll.adapters.cassandra.release import Release
from plimsoll.adapters.cassandra.settings import node_settings, render
from plimsoll.domain.variant import JvmConfiguration
from plimsoll.ports.artefacts import Jdk
from plimsoll.ports.host import Host, Job

_HINTS = "META-INF/hotspot_compiler"


@dataclass(frozen=True)
class Blueprint:
    """What all nodes of a cluster have in common."""

    release: Release
    settings: Mapping[str, JsonValue]
    """What the definition sets over the release's own."""
    jvm: JvmConfiguration
    jdk: Jdk
    jars: Path
    class_data: Path | None
    addresses: Sequence[str]
    expires: timedelta


def install(host: Host, blueprint: Blueprint) -> Installation:
    """The artefacts on the host."""
    home = host.install(blueprint.jdk.home)
    folder = host.install(blueprint.jars)
    in_place = (home, folder) == (PurePosixPath(blueprint.jdk.home), PurePosixPath(blueprint.jars))
    # By name: a class path in the order of a directory would differ from host to host.
    names = sorted(jar.name for jar in blueprint.jars.glob("*.jar"))
    return Installation(
        java=home / blueprint.jdk.java.relative_to(blueprint.jdk.home),
        jars=tuple(folder / name for name in names),
        # The JVM compares paths and times, and would leave the archive aside where anything lies elsewhere.
        class_data=host.install(blueprint.class_data) / ARCHIVE if blueprint.class_data and in_place else None,
    )


def start(host: Host, blueprint: Blueprint) -> None:
    """Write the node's configuration and start it; a node that was started before stays as it is."""
    files = NodeFiles(host.root)
    place = Place(host.info.address, host.facts().cpus, files)
    number = blueprint.addresses.index(host.info.address)
    job = Job(
        id=JOB,
        argv=node_command(blueprint.release, blueprint.jvm, install(host, blueprint), place),
        expires=blueprint.expires,
        env=blueprint.release.environment,
        cwd=files.home,
        owns=files.data,
    )
    settings = node_settings(blueprint.release, blueprint.settings, files, blueprint.addresses, number)
    host.write(files.settings, render(settings))
    host.write(files.logback, LOGBACK)
    host.write(files.compiler_hints, compiler_hints(blueprint.jars))
    host.write(files.command, "\n".join([*job.argv, ""]))
    host.start(job)


def compiler_hints(jars: Path) -> str:
    """What the release tells the JIT compiler, as the shipped start script passes it on from `conf/`.

    Only `quiet` where a release has none; without it the JVM prints every line.
    """
    for path in sorted(jars.glob("cassandra-all-*.jar")):
        with ZipFile(path) as jar:
            if _HINTS in jar.namelist():
                return f"quiet\n{jar.read(_HINTS).decode()}"
    return "quiet\n"
