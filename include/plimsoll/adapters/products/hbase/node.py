"""Install, configure and start the processes of one host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath

from pydantic import JsonValue

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.adapters.products.hbase.command import format_command, process_command
from plimsoll.adapters.products.hbase.node_files import FORMAT, RoleFiles
from plimsoll.adapters.products.hbase.rendering import configuration
from plimsoll.adapters.products.hbase.roles import NAME_NODE, Role
from plimsoll.adapters.products.hbase.settings import ClusterHost
from plimsoll.adapters.products.nodes.java import install
from plimsoll.adapters.products.nodes.machines import by_machine, own_loopback
from plimsoll.adapters.products.nodes.node_process import NodeProcess
from plimsoll.domain.variant import JvmConfiguration
from plimsoll.ports.artefacts import Jdk
from plimsoll.ports.host import Host, Job

FORMATTING = NodeProcess(FORMAT, lambda root: (console_path(root, FORMAT), RoleFiles(root, NAME_NODE.name).log))


@dataclass(frozen=True)
class Blueprint:
    """The properties that all hosts of a cluster have in common."""

    settings: Mapping[str, JsonValue]
    """The definition's settings, which replace the product's own."""
    jvm: JvmConfiguration
    jdk: Jdk
    jars: Path
    nodes: Sequence[Host]
    expires: timedelta

    def place(self, host: Host) -> ClusterHost:
        """Return the place of a host in the cluster."""
        [machine] = [hosts for hosts in by_machine(self.nodes).values() if host in hosts]
        return ClusterHost(
            root=host.root,
            address=host.info.address,
            first=self.nodes[0].info.address,
            own_loopback=own_loopback(host.info.address),
            slot=machine.index(host),
            nodes=len(self.nodes),
        )


def format_hdfs(host: Host, blueprint: Blueprint) -> None:
    """Begin to make the NameNode's folder, which would refuse to be made twice."""
    files, jvm = _written(host, NAME_NODE, blueprint), NAME_NODE.jvm(blueprint.jvm, blueprint.settings)
    name = f"plimsoll-{blueprint.nodes[0].info.address}"
    argv = format_command(jvm, install(host, blueprint.jdk, blueprint.jars), files, name)
    _note(host, files.logs / "format-command.txt", argv)
    host.start(Job(id=FORMAT, argv=argv, expires=blueprint.expires, cwd=files.home, owns=files.data))


def start(host: Host, role: Role, blueprint: Blueprint) -> None:
    """Write the process's configuration and start it. A process that was started before is left as it is."""
    files, jvm = _written(host, role, blueprint), role.jvm(blueprint.jvm, blueprint.settings)
    installation = install(host, blueprint.jdk, blueprint.jars)
    argv = process_command(role, jvm, installation, files, host.info.address)
    _note(host, files.logs / "command.txt", argv)
    host.start(Job(id=role.name, argv=argv, expires=blueprint.expires, cwd=files.home, owns=files.data))


def _note(host: Host, path: PurePosixPath, argv: Sequence[str]) -> None:
    """Write a command for people, one argument a line. That also makes the folder of the logs."""
    host.write(path, "\n".join([*argv, ""]))


def _written(host: Host, role: Role, blueprint: Blueprint) -> RoleFiles:
    files = RoleFiles(host.root, role.name)
    for name, text in configuration(role, files.log, blueprint.settings, blueprint.place(host)).items():
        host.write(files.configuration / name, text)
    host.write(files.scratch / "empty", "")  # the JVM does not make the folder itself
    files.jmx.write(host)
    return files
