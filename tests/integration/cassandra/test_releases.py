"""A node of every release line starts on its JDK, takes a write, says what it runs, and its GC log is read whole."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.nodes.small import define, gc_log, pauses_counted
from tests.support.suite.proven import IS_LONG
from tests.support.suite.requirements import leave_out

from plimsoll.adapters.artefacts import debian
from plimsoll.analysis.gclog import parse_gc_log

AGAIN = pytest.mark.skipif(not IS_LONG, reason="the release starts once already: make test-long")


@pytest.mark.parametrize(
    ("version", "jdk", "collector"),
    [
        ("3.11.19", "openjdk-8", "CMS"),
        pytest.param("3.11.19", "openjdk-8", "G1", marks=AGAIN),
        ("4.0-alpha4", "openjdk-11.0.13", "CMS"),
        ("4.1.10", "openjdk-11.0.13", "G1"),
        ("4.0.1", "openjdk-17.0.9", "ZGC"),
        ("5.0.9", "openjdk-17.0.9", "G1"),
    ],
)
def test_a_node_starts_and_says_what_it_runs(
    hosts_for: Callable[..., Any], version: str, jdk: str, collector: str
) -> None:
    if jdk in debian.PACKAGES and not debian.can_be_fetched(jdk):
        leave_out(f"{jdk} is had on a Debian only")
    definition = define(nodes=1, version=version, jdk=jdk, collector=collector)
    with hosts_for(definition, f"v{version.replace('.', '-')}-{collector.lower()}") as deployment:
        deployment.database.prepare(definition)
        assert list(deployment.database.check(definition)) == []
        deployment.deploy()
        (node,) = deployment.fingerprint()
        on_disk = deployment.database.bytes_on_disk(deployment.nodes, "system_schema")
        log = gc_log(deployment, deployment.nodes[0])
    assert (node.database, node.database_version) == ("cassandra", version)
    assert on_disk["node1"] > 0
    assert node.jvm.collector == collector
    found = parse_gc_log(log)
    assert found.collector == collector
    if jdk != "openjdk-8":
        assert len(found.collections) == pauses_counted(log)
