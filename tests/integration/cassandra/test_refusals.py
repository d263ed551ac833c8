"""Nodes that can't start say why, in their own words, and at once."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.nodes.small import define
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.domain.campaign.resolve import product_spec, resolve
from plimsoll.domain.text.errors import DeployError


def refusal(hosts_for: Any, definition: Any, busy_port: Any = None) -> Any:
    with hosts_for(definition, "refused") as deployment, socket.socket() as occupier:
        if busy_port is not None:
            occupier.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            occupier.bind((deployment.nodes[0].info.address, busy_port))
            occupier.listen()
        with pytest.raises(DeployError) as failure:
            deployment.deploy()
    assert failure.value.where == f"cassandra on node1 ({deployment.nodes[0].info.address})"
    assert max(map(len, str(failure.value).splitlines())) < 400
    return failure.value


def test_a_setting_that_cassandra_does_not_know(hosts_for: Callable[..., Any]) -> None:
    error = refusal(hosts_for, define(nodes=1, settings={"no_such_setting": 1}))
    assert "Please remove properties [no_such_setting]" in error.what
    assert "ended with exit code 3" in error.what
    assert "settings" in error.mend


def test_a_flag_that_the_jvm_does_not_know(hosts_for: Callable[..., Any]) -> None:
    error = refusal(hosts_for, define(nodes=1, flags=["-XX:+NoSuchFlag"]))
    assert "Unrecognized VM option 'NoSuchFlag'" in error.what
    assert "jvm" in error.mend


@pytest.mark.parametrize(
    "port",
    [*(pytest.param(port, marks=long("a port of clients that is taken is told")) for port in (7000, 7199)), 9042],
)
def test_a_port_that_is_taken(hosts_for: Callable[..., Any], port: int) -> None:
    error = refusal(hosts_for, define(nodes=1), busy_port=port)
    assert str(port) in error.what
    assert "ss -ltnp" in error.mend


def test_a_heap_that_no_machine_has(hosts_for: Callable[..., Any]) -> None:
    error = refusal(hosts_for, define(nodes=1, heap="900G"))
    assert error.what.splitlines()[1].startswith("# There is insufficient memory for the Java Runtime")
    assert "smaller heap" in error.mend


def test_a_class_that_there_is_not(hosts_for: Callable[..., Any]) -> None:
    error = refusal(hosts_for, define(nodes=1, settings={"endpoint_snitch": "NoSnitch"}))
    assert "ConfigurationException: Unable to find snitch class" in error.what.splitlines()[2]
    assert "Node configuration" not in error.what
    assert "`settings`" in error.mend


@long("that the plan refuses it is a unit test")
def test_plan_refuses_a_setting_by_which_a_node_writes_elsewhere(
    hosts_for: Callable[..., Any], artefacts: Artefacts, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    definition = define(
        nodes=1, settings={"audit_logging_options": {"enabled": True, "audit_logs_dir": str(elsewhere)}}
    )
    [problem] = Cassandra(artefacts, SystemClock()).check(product_spec(resolve(definition), "cassandra"))
    assert problem.where == "system.settings.audit_logging_options.audit_logs_dir"
    assert "it has the node write outside of its folder" in problem.what
    with hosts_for(definition, "unasked") as deployment:  # nothing but the plan stands in its way
        deployment.deploy()
        assert list(elsewhere.iterdir())
