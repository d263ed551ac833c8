"""What a campaign asks of its nodes before a load, on a real one."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.node import Node
from tests.integration.stress.program import Program
from tests.support.suite.requirements import IS_LONG

UNREACHABLE = 3


def jmx(node: Node, *more: str) -> tuple[str, ...]:
    """Return the arguments for the node's JMX. `more` are further ports, with the node's password."""
    prefix = "-Dcom.sun.management.jmxremote."
    given = {text.partition("=")[0]: text.partition("=")[2] for text in node.process.cmdline()}
    ports = ",".join((f"{given[f'{prefix}host']}:{given[f'{prefix}port']}", *more))
    return ("--jmx-port", ports, *("--password-file", given[f"{prefix}password.file"]) * (1 + len(more)))


def test_a_whole_cluster_is_ready(node_tool: Program, node: Node) -> None:
    ended = node_tool.run("probe", "--host", node.address, "--timeout", "60s")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    answer = json.loads(ended.stdout)
    assert (answer["ready"], answer["reason"]) == (True, None)
    (described,) = answer["nodes"]
    assert described["host"] == node.address
    assert described["release_version"] == "4.0.1"
    assert described["data_centre"] == "datacenter1"
    assert described["peers"] == []
    assert described["problem"] is None
    assert len(described["tokens"]) >= 1
    assert len(described["schema_version"]) == 36


def test_a_missing_node_is_told_at_the_deadline(node_tool: Program, node: Node) -> None:
    ended = node_tool.run("probe", "--host", node.address, "--nodes", "2", "--timeout", "5s")
    assert ended.returncode == UNREACHABLE
    answer = json.loads(ended.stdout)
    assert answer["ready"] is False
    assert answer["reason"] == f"{node.address} knows 0 other nodes instead of 1: []"
    assert answer["nodes"][0]["release_version"] == "4.0.1"


def test_the_probe_leaves_nothing_behind(node_tool: Program, node: Node) -> None:
    first = json.loads(node_tool.run("probe", "--host", node.address).stdout)
    second = json.loads(node_tool.run("probe", "--host", node.address).stdout)
    assert first["nodes"][0]["schema_version"] == second["nodes"][0]["schema_version"]


@pytest.fixture(scope="module")
def inspected(node_tool: Program, node: Node) -> Any:
    """Provide the node twice, and a port where nobody listens, in one start of the program."""
    itself = jmx(node)[1]
    ended = node_tool.run("inspect", *jmx(node, itself, "127.255.255.253:7199"))
    assert ended.returncode == UNREACHABLE
    return json.loads(ended.stdout)


def test_one_start_answers_for_several_jvms(inspected: Any, node: Node) -> None:
    first, second, nobody = inspected
    assert first["pid"] == second["pid"] == node.process.pid
    assert first["error"] is second["error"] is None
    assert nobody["error"].startswith("no answer from the JMX port")
    assert (nobody["jmx_host"], nobody["jmx_port"]) == ("127.255.255.253", 7199)


def test_a_jvm_tells_what_it_runs_with(inspected: Any, node: Node) -> None:
    jvm = inspected[0]
    assert jvm["java_runtime_version"] == "11.0.13+8"
    assert jvm["vm_name"] == "OpenJDK 64-Bit Server VM"
    assert jvm["collectors"] == ["G1 Old Generation", "G1 Young Generation"]
    assert jvm["heap_max_bytes"] == 384 << 20
    assert set(jvm["arguments"]) <= set(node.process.cmdline()) | {
        text for text in jvm["arguments"] if text.startswith("--add-")
    }
    flags = {name: flag["value"] for name, flag in jvm["flags"].items()}
    assert (flags["UseG1GC"], flags["UseConcMarkSweepGC"]) == ("true", "false")
    assert int(flags["MaxHeapSize"]) == 384 << 20
    assert jvm["flags"]["UseG1GC"]["origin"] == "VM_CREATION"
    assert "HeapDumpOnOutOfMemoryError" in flags


def test_cassandra_tells_its_state(inspected: Any, node: Node) -> None:
    cassandra = inspected[0]["cassandra"]
    assert cassandra["release_version"] == "4.0.1"
    assert cassandra["operation_mode"] == "NORMAL"
    assert cassandra["live_nodes"] == [node.address]
    assert cassandra["unreachable_nodes"] == []
    assert cassandra["pending_compactions"] >= 0
    assert cassandra["dropped_messages"].keys().isdisjoint({"no such message"})


def test_a_node_without_compactions_is_settled(node_tool: Program, node: Node) -> None:
    ended = node_tool.run("settle", *jmx(node), "--timeout", "60s")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    answer = json.loads(ended.stdout)
    assert (answer["settled"], set(answer["left"].values()), answer["error"]) == (True, {0}, None)


def test_rows_that_were_populated_apart_are_measured_on_disk_and_dropped(
    node_tool: Program, program: Program, node: Node, tmp_path: Path
) -> None:
    """A row of `StandardRow` has 170 bytes of values, a key of 10, names, times and places in the index."""
    rows, keyspace = 20_000 if IS_LONG else 5_000, "plimsoll_sample_1"
    told = ("run", "StandardRow", "--host", node.address, "-o", f"rows={rows}", "--rf", "1", "--keyspace", keyspace)
    ended = program.run(*told, "--rate", "200", "-d", "2s", "-t", "2", "-c", "50", "--drop", "--populate-only")
    assert ended.returncode == 0, ended.stderr
    size = ("size", *jmx(node), "--keyspace", keyspace)

    answer = json.loads(node_tool.run(*size).stdout)
    assert answer["error"] is None
    (taken,) = answer["bytes"].values()
    assert 180 * rows < taken < 320 * rows
    assert json.loads(node_tool.run(*size).stdout) == answer, "flushed again, the same is there"

    for _ in range(2):
        dropped = node_tool.run("drop", "--host", node.address, "--keyspace", keyspace)
        assert (dropped.returncode, json.loads(dropped.stdout)) == (0, {"error": None})
    assert json.loads(node_tool.run(*size).stdout)["error"] is not None
    refused = node_tool.run("drop", "--host", node.address, "--keyspace", "x; DROP KEYSPACE y")
    assert refused.returncode == UNREACHABLE
    assert "is no plain name" in json.loads(refused.stdout)["error"]
