"""Install, configure and start the processes of one host: the files of their configuration, and the commands."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath
from xml.sax.saxutils import escape

from pydantic import JsonValue

from plimsoll.adapters.artefacts.java_programs import install
from plimsoll.adapters.hosts.base import console_path
from plimsoll.adapters.products.hbase.release import JDK_FLAGS
from plimsoll.adapters.products.hbase.roles import GC_LOG, MASTER, NAME_NODE, REGION_SERVER, ZOOKEEPER, Role, RoleFiles
from plimsoll.adapters.products.hbase.settings import (
    ClusterHost,
    hadoop_settings,
    hbase_settings,
    hdfs_settings,
    zookeeper_settings,
)
from plimsoll.adapters.products.nodes.jvm_flags import CHOICE, file_url, gc_log_flags, heap_flags, jdk_major
from plimsoll.adapters.products.nodes.node_process import NodeProcess
from plimsoll.adapters.products.nodes.own_machine import by_machine, jmx_flags, own_loopback
from plimsoll.domain.keys.system import plain
from plimsoll.domain.keys.variant import JvmConfiguration
from plimsoll.ports.artefacts import Jdk
from plimsoll.ports.host import Host, Job

FORMAT = "format-hdfs"
"""The id of the job that makes the NameNode's folder, once."""
FORMATTING = NodeProcess(FORMAT, lambda root: (console_path(root, FORMAT), RoleFiles(root, NAME_NODE.name).log))
ZOO_CFG = "zoo.cfg"
_HOMES_OF_PAGES = (
    *("webapps/hdfs", "webapps/datanode"),
    *("hbase-webapps/master", "hbase-webapps/regionserver", "hbase-webapps/static"),
)
"""Folders that web servers look for on the class path. Their pages are in no jar; `/jmx` needs none."""

# The level comes first, by which a log's last lines are told apart. One file without rotation, because a cell's log is
# collected as a whole.
_LOG4J = """log4j.rootLogger=INFO,file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File={log}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%-5p [%t] %d{{ISO8601}} %c{{2}}: %m%n
"""

# `/jmx` shows figures as they were up to a period ago: 10 s, unless a file names another.
_METRICS = "*.period=1\n"


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
    # On a folder that is formatted already it then fails, where it would otherwise ask a person
    arguments = ("-format", "-nonInteractive", "-clusterId", f"plimsoll-{blueprint.nodes[0].info.address}")
    _start(host, NAME_NODE, blueprint, FORMAT, arguments)


def start(host: Host, role: Role, blueprint: Blueprint) -> None:
    """Write the process's configuration and start it. A process that was started before is left as it is."""
    configuration_file = str(RoleFiles(host.root, role.name).configuration / ZOO_CFG)
    _start(host, role, blueprint, role.name, (configuration_file,) if role is ZOOKEEPER else role.arguments)


def _start(host: Host, role: Role, blueprint: Blueprint, job_id: str, arguments: Sequence[str]) -> None:
    """Start the role's program as that job. Formatting ends by itself: it has no GC log, and nobody asks it by JMX."""
    files, jvm = RoleFiles(host.root, role.name), role.jvm(blueprint.jvm, blueprint.settings)
    for name, text in configuration(role, files.log, blueprint.settings, blueprint.place(host)).items():
        host.write(files.configuration / name, text)
    host.write(files.scratch / "empty", "")  # the JVM does not make the folder itself
    files.jmx.write(host)
    installation, is_format = install(host, blueprint.jdk, blueprint.jars), job_id == FORMAT
    argv = (
        str(installation.java),
        *jvm_arguments(jvm),
        *(() if is_format else gc_log_flags(jvm, str(files.logs / GC_LOG))),
        *_file_arguments(files),
        *(() if is_format else jmx_flags(host.info.address, role.jmx_port, files.jmx)),
        *("-cp", ":".join(map(str, (files.configuration, *installation.jars))), role.main),
        *arguments,
    )
    # For people, one argument a line. That also makes the folder of the logs.
    host.write(files.logs / ("format-command.txt" if is_format else "command.txt"), "\n".join([*argv, ""]))
    host.start(Job(id=job_id, argv=argv, expires=blueprint.expires, cwd=files.home, owns=files.data))


def jvm_arguments(jvm: JvmConfiguration) -> tuple[str, ...]:
    """Return the JVM arguments of a process.

    A variant's own flags come last, because the JVM takes the later one of two flags. HBase 2 ships flags for no
    collector.
    """
    return (
        "-XX:OnOutOfMemoryError=kill -9 %p",  # As bin/hbase has it
        *JDK_FLAGS[jdk_major(jvm)],
        *heap_flags(jvm),
        *CHOICE[jvm.collector],
        *jvm.flags,
    )


def _file_arguments(files: RoleFiles) -> Iterator[str]:
    yield f"-XX:ErrorFile={files.logs}/hs_err_%p.log"
    yield f"-Djava.io.tmpdir={files.scratch}"
    yield f"-Dlog4j.configuration={file_url(files.configuration / 'log4j.properties')}"
    yield f"-Dhadoop.log.dir={files.logs}"
    yield "-Djava.net.preferIPv4Stack=true"


def configuration(role: Role, log: PurePosixPath, given: Mapping[str, JsonValue], place: ClusterHost) -> dict[str, str]:
    """Return the files of a process's configuration folder by their names."""
    scratch = RoleFiles(place.root, role.name).scratch
    files = {"log4j.properties": _LOG4J.format(log=log)}
    if role is ZOOKEEPER:
        return {**files, ZOO_CFG: properties(zookeeper_settings(given, place))}
    files |= {f"{folder}/empty": "" for folder in _HOMES_OF_PAGES}
    files["core-site.xml"] = site(hadoop_settings(given, place, scratch))
    files["hdfs-site.xml"] = site(hdfs_settings(given, place))
    if role in (MASTER, REGION_SERVER):
        files["hbase-site.xml"] = site(hbase_settings(given, place, scratch))
        files["hadoop-metrics2-hbase.properties"] = _METRICS
    return files


def site(settings: Mapping[str, JsonValue]) -> str:
    """Return settings in the form of Hadoop's `…-site.xml`."""
    lines = (
        f"  <property><name>{escape(key)}</name><value>{escape(plain(value))}</value></property>"
        for key, value in sorted(settings.items())
    )
    return "\n".join(["<configuration>", *lines, "</configuration>", ""])


def properties(settings: Mapping[str, JsonValue]) -> str:
    """Return settings as lines `key=value`."""
    return "".join(f"{key}={plain(value)}\n" for key, value in sorted(settings.items()))
