"""What a keyspace takes on disk, asked of each machine's nodes, and its removal."""

import json
from typing import Any

import pytest

from plimsoll.adapters.products.cassandra.inquiry import bytes_on_disk, drop
from plimsoll.adapters.products.nodes.own_machine import NodeTool
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import CommandResult


@pytest.fixture
def tool(artefacts: Any) -> NodeTool:
    return NodeTool(artefacts)


def saying(answer: Any) -> Any:
    return lambda _: CommandResult(0 if not answer["error"] else 3, f"a warning\n{json.dumps(answer)}\n", "")


def test_each_node_is_asked_on_its_own_machine(tool: NodeTool, nodes: Any) -> None:
    for number, node in enumerate(nodes, 1):
        node.command = saying({"bytes": {node.info.address: number * 1000}, "error": None})
    assert bytes_on_disk(tool, nodes, "mine") == {"node1": 1000, "node2": 2000, "node3": 3000}
    (argv,) = nodes[1].commands
    jmx = ("--jmx-port", "127.9.9.2:7199", "--password-file", f"{nodes[1].root}/cassandra/conf/jmx.password")
    assert argv[argv.index("size") :] == ("size", *jmx, "--keyspace", "mine")


def test_a_node_that_does_not_know_is_an_error_with_its_words(tool: NodeTool, nodes: Any) -> None:
    nodes[0].command = saying({"bytes": {}, "error": "127.9.9.1: there is no keyspace mine"})
    with pytest.raises(DeployError, match="there is no keyspace mine") as failure:
        bytes_on_disk(tool, nodes, "mine")
    assert "node1" in failure.value.where


def test_a_keyspace_is_dropped_through_a_node_on_its_machine(tool: NodeTool, nodes: Any) -> None:
    nodes[0].command = saying({"error": None})
    drop(tool, nodes[0], "mine")
    (argv,) = nodes[0].commands
    assert argv[argv.index("drop") :] == ("drop", "--host", "127.9.9.1", "--keyspace", "mine")
    nodes[0].command = saying({"error": "127.9.9.1: timed out"})
    with pytest.raises(DeployError, match=r"mine could not be dropped: 127\.9\.9\.1: timed out"):
        drop(tool, nodes[0], "mine")
