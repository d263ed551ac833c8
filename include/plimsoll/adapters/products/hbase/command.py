"""The command that starts a process. Pure."""

from collections.abc import Iterator

from plimsoll.adapters.products.hbase.node_files import GC_LOG, RoleFiles
from plimsoll.adapters.products.hbase.release import JDK_FLAGS
from plimsoll.adapters.products.hbase.rendering import ZOO_CFG
from plimsoll.adapters.products.hbase.roles import NAME_NODE, ZOOKEEPER, Role
from plimsoll.adapters.products.nodes.java import Installation, file_url
from plimsoll.adapters.products.nodes.jmx import jmx_flags
from plimsoll.adapters.products.nodes.jvm_flags import CHOICE, gc_log_flags, heap_flags, jdk_major
from plimsoll.domain.variant import JvmConfiguration


def jvm_arguments(jvm: JvmConfiguration) -> tuple[str, ...]:
    """Return the JVM arguments of a process.

    A variant's own flags come last, because the JVM takes the later one of two flags. HBase 2 ships flags for no
    collector.
    """
    return (
        "-XX:OnOutOfMemoryError=kill -9 %p",
        *JDK_FLAGS[jdk_major(jvm)],
        *heap_flags(jvm),
        *CHOICE[jvm.collector],
        *jvm.flags,
    )


def process_command(
    role: Role, jvm: JvmConfiguration, installation: Installation, files: RoleFiles, address: str
) -> tuple[str, ...]:
    """Return the program and the arguments of a process."""
    arguments = (str(files.configuration / ZOO_CFG),) if role is ZOOKEEPER else role.arguments
    return (
        str(installation.java),
        *jvm_arguments(jvm),
        *gc_log_flags(jvm, str(files.logs / GC_LOG)),
        *_file_arguments(files),
        *jmx_flags(address, role.jmx_port, files.jmx),
        *_program(role, installation, files),
        *arguments,
    )


def format_command(jvm: JvmConfiguration, installation: Installation, files: RoleFiles, name: str) -> tuple[str, ...]:
    """Return the command that makes the NameNode's folder, of a cluster with that name."""
    program = _program(NAME_NODE, installation, files)
    flags = (*jvm_arguments(jvm), *_file_arguments(files))
    return (str(installation.java), *flags, *program, "-format", "-nonInteractive", "-clusterId", name)


def _program(role: Role, installation: Installation, files: RoleFiles) -> tuple[str, ...]:
    return "-cp", ":".join(map(str, (files.configuration, *installation.jars))), role.main


def _file_arguments(files: RoleFiles) -> Iterator[str]:
    yield f"-XX:ErrorFile={files.logs}/hs_err_%p.log"
    yield f"-Djava.io.tmpdir={files.scratch}"
    yield f"-Dlog4j.configuration={file_url(files.configuration / 'log4j.properties')}"
    yield f"-Dhadoop.log.dir={files.logs}"
    yield "-Djava.net.preferIPv4Stack=true"
