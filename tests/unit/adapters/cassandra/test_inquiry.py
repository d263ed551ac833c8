import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.products.cassandra.inquiry import inspect
from plimsoll.adapters.products.nodes.own_machine import NodeTool, jvm_facts
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.keys.variant import Archive
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import CommandResult


@pytest.fixture
def tool(artefacts: Any) -> Any:
    return NodeTool(artefacts)


def saying(answer: Any, exit_code: int = 0) -> Any:
    return lambda _: CommandResult(exit_code, f"a warning of some library\n{json.dumps(answer)}\n", "")


def jvm(port: int = 7199, **changes: Any) -> Any:
    return {
        "jmx_port": port,
        "error": None,
        "java_runtime_version": "11.0.13+8",
        "java_vendor": "Eclipse Adoptium",
        "vm_name": "OpenJDK 64-Bit Server VM",
        "arguments": ["-Xms512M", "-Xmx512M"],
        "collectors": ["Copy", "MarkSweepCompact"],
        "heap_max_bytes": 518_979_584,
        "flags": {
            "MaxHeapSize": {"value": "536870912", "origin": "VM_CREATION"},
            "UseG1GC": {"value": "false", "origin": "DEFAULT"},
            "UseSerialGC": {"value": "true", "origin": "VM_CREATION"},
        },
        "cassandra": {"release_version": "4.0.1", "operation_mode": "NORMAL"},
        **changes,
    }


def test_the_probe_asks_for_all_nodes_from_the_load_host(tool: Any, nodes: Any, load: Any) -> None:
    load.command = saying({"ready": True, "reason": None, "nodes": []})
    tool.probe(load, nodes, timedelta(seconds=90), "cassandra")
    (argv,) = load.commands
    assert argv[argv.index("probe") :] == ("probe", "--host", "127.9.9.1,127.9.9.2,127.9.9.3", "--timeout", "90s")


def test_a_cluster_that_is_not_whole_is_an_error_with_the_probe_s_reason(tool: Any, nodes: Any, load: Any) -> None:
    load.command = saying({"ready": False, "reason": "127.9.9.2 has another schema version", "nodes": []}, exit_code=3)
    with pytest.raises(DeployError, match="has another schema version") as failure:
        tool.probe(load, nodes, timedelta(seconds=90), "cassandra")
    assert "node2 (127.9.9.2)" in failure.value.where


def test_a_probe_that_does_not_answer_is_an_error_with_its_words(tool: Any, nodes: Any, load: Any) -> None:
    load.command = lambda _: CommandResult(1, "", "Error: could not find java.base")
    with pytest.raises(DeployError, match="could not find java"):
        tool.probe(load, nodes, timedelta(seconds=90), "cassandra")


def test_nodes_of_different_machines_are_each_asked_at_home(tool: Any, nodes: Any) -> None:
    for node in nodes:
        node.command = saying([jvm()])
    archive = Archive(url="s3://builds/apache-cassandra-4.0.1-bin.tar.gz", sha256="ab" * 32)
    found = inspect(tool, nodes, archive)
    assert [node.host for node in found] == ["node1", "node2", "node3"]
    assert {node.archive for node in found} == {f"apache-cassandra-4.0.1-bin.tar.gz, sha256 {'ab' * 32}"}
    assert all(node.database_version == "4.0.1" for node in found)
    assert [len(node.commands) for node in nodes] == [1, 1, 1]


def test_nodes_of_one_machine_are_asked_with_one_start_of_the_program(tool: Any, tmp_path: Path) -> None:
    nodes = [
        ScriptedHost(
            tmp_path / f"n{n}",
            HostInfo(name=f"n{n}", role="node", address=f"127.9.9.{n}", facts={"machine": "one"}),
        )
        for n in (1, 2)
    ]
    nodes[0].command = saying([jvm(java_runtime_version="11"), jvm(java_runtime_version="12")])
    assert [node.processes[0].jvm.version for node in inspect(tool, nodes)] == ["11", "12"]
    (argv,) = nodes[0].commands
    passwords = [word for node in nodes for word in ("--password-file", f"{node.root}/cassandra/conf/jmx.password")]
    assert argv[argv.index("--jmx-port") :] == ("--jmx-port", "127.9.9.1:7199,127.9.9.2:7199", *passwords)
    assert nodes[1].commands == []


def test_a_jvm_that_does_not_answer_is_an_error_that_names_its_node(tool: Any, nodes: Any) -> None:
    nodes[0].command = saying([{"jmx_port": 7199, "error": "no answer from the JMX port"}])
    with pytest.raises(DeployError, match="no answer from the JMX port") as failure:
        inspect(tool, nodes[:1])
    assert failure.value.where == "cassandra on node1 (127.9.9.1)"


def test_the_heap_is_the_flag_s_where_the_bean_leaves_out_a_survivor_space() -> None:
    assert jvm_facts(jvm()).heap_max_bytes == 512 * 2**20


@pytest.mark.parametrize(
    ("changes", "collector"),
    [
        ({}, "Serial"),
        ({"flags": {"UseZGC": {"value": "true"}}}, "ZGC"),
        ({"flags": {"UseConcMarkSweepGC": {"value": "true"}}}, "CMS"),
        ({"flags": {"UseShenandoahGC": {"value": "true"}}}, "Shenandoah"),
        ({"flags": {}, "vm_name": "Zing 64-Bit Tiered VM"}, "C4"),
        ({"flags": {}}, None),
    ],
)
def test_the_collector_is_the_one_whose_flag_is_on_in_the_running_jvm(changes: Any, collector: Any) -> None:
    assert jvm_facts(jvm(**changes)).collector == collector
