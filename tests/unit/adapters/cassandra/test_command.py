from pathlib import PurePosixPath
from typing import Any

import pytest

from plimsoll.adapters.artefacts.java_programs import Installation
from plimsoll.adapters.products.cassandra.command import NodePlace, node_command
from plimsoll.adapters.products.cassandra.node_files import NodeFiles
from plimsoll.adapters.products.cassandra.release import CASSANDRA_4_0
from plimsoll.adapters.products.nodes.own_machine import own_loopback
from plimsoll.domain.keys.variant import JvmConfiguration

FILES = NodeFiles(PurePosixPath("/hosts/node 1"))
JARS = tuple(PurePosixPath("/jars") / name for name in ("cassandra-all-4.0.1.jar", "guava.jar", "jamm-0.3.2.jar"))


def command(address: str = "127.0.9.1", **more: Any) -> Any:
    jvm = JvmConfiguration.model_validate({"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", **more})
    installation = Installation(PurePosixPath("/jdk/bin/java"), JARS)
    return node_command(CASSANDRA_4_0, jvm, installation, NodePlace(address, 2, FILES))


def test_program_first_main_class_last() -> None:
    argv = command()
    assert argv[0] == "/jdk/bin/java"
    assert argv[-3:] == (
        "-cp",
        "/jars/cassandra-all-4.0.1.jar:/jars/guava.jar:/jars/jamm-0.3.2.jar",
        "org.apache.cassandra.service.CassandraDaemon",
    )


def test_the_variant_s_own_flags_come_after_the_collector_s() -> None:
    argv = command(flags=["-XX:MaxGCPauseMillis=100"])
    assert argv.index("-XX:MaxGCPauseMillis=100") > argv.index("-XX:MaxGCPauseMillis=500")


def test_packages_that_cassandra_reaches_into_are_open() -> None:
    argv = command()
    assert "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED" in argv
    assert "--add-opens=java.base/jdk.internal.module=ALL-UNNAMED" in argv


def test_the_agent_that_measures_objects_is_loaded() -> None:
    assert "-javaagent:/jars/jamm-0.3.2.jar" in command()


def test_configuration_is_named_by_urls_so_that_a_blank_in_a_path_does_no_harm() -> None:
    assert "-Dcassandra.config=file:///hosts/node%201/cassandra/conf/cassandra.yaml" in command()


def test_a_node_writes_its_logs_in_english_whatever_the_language_of_its_host() -> None:
    assert {"-Duser.language=en", "-Duser.country=US"} <= {*command()}


def test_what_a_killed_node_leaves_behind_lies_in_its_own_folder() -> None:
    assert "-Djava.io.tmpdir=/hosts/node 1/cassandra" in command()


def test_jmx_asks_for_the_password_in_a_file_that_the_node_tool_reads_too() -> None:
    said = command(flags=["-Dcom.sun.management.jmxremote.authenticate=false"])
    prefix = "-Dcom.sun.management.jmxremote"
    asking, quiet = said.index(f"{prefix}.authenticate=true"), said.index(f"{prefix}.authenticate=false")
    assert asking > quiet, "the JVM takes the later one"
    assert f"{prefix}.password.file=/hosts/node 1/cassandra/conf/jmx.password" in said
    assert f"{prefix}.password.toHashes=false" in said


@pytest.mark.parametrize(
    ("address", "jmx"), [("127.0.9.1", "127.0.9.1"), ("10.0.0.7", "127.0.0.1"), ("172.31.4.4", "127.0.0.1")]
)
def test_jmx_listens_on_loopback_only(address: str, jmx: str) -> None:
    assert own_loopback(address) == jmx
    assert f"-Dcom.sun.management.jmxremote.host={jmx}" in command(address)
    assert f"-Djava.rmi.server.hostname={jmx}" in command(address)
