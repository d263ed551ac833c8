"""A node of every release line starts on its JDK, takes rows, says what it runs and what these take on its disk.

Its GC log is read whole.
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.nodes.small import LIFETIME, Deployment, define, gc_log, pauses_counted
from tests.support.processes import until
from tests.support.resolved import only_part
from tests.support.suite.requirements import leave_out, long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.jdks import DEBIAN_PACKAGES, is_in_debian
from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.analysis.logs.gc.unified import parse_gc_log
from plimsoll.domain.campaign.resolve import load_spec, product_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.load_generator import LoadRequest, LoadStatus

KEYSPACE, ROWS, ROW_BYTES = "rows_of_its_own", 2000, 5 * 34
"""StandardRow's columns are five of 34 bytes, which are not compressed; key and file format come on top."""
PATIENCE_S = 120

AGAIN = long("the release starts once already")
OLDER = long("4.0.1 and the newest start")


@pytest.mark.parametrize(
    ("version", "jdk", "collector"),
    [
        pytest.param("3.11.19", "openjdk-8", "CMS", marks=OLDER),
        pytest.param("3.11.19", "openjdk-8", "G1", marks=AGAIN),
        pytest.param("4.0-alpha4", "openjdk-11.0.13", "CMS", marks=OLDER),
        pytest.param("4.1.10", "openjdk-11.0.13", "G1", marks=OLDER),
        pytest.param("4.0.1", "openjdk-17.0.9", "ZGC", marks=AGAIN),
        ("5.0.9", "openjdk-17.0.9", "ZGC"),
        pytest.param("5.0.9", "openjdk-17.0.9", "G1", marks=AGAIN),
    ],
)
def test_a_node_starts_and_says_what_it_runs(
    hosts_for: Callable[..., Any], artefacts: Artefacts, version: str, jdk: str, collector: str
) -> None:
    if jdk in DEBIAN_PACKAGES and not is_in_debian(jdk):
        leave_out(f"{jdk} is had on a Debian only")
    definition = define(nodes=1, version=version, jdk=jdk, collector=collector)
    with hosts_for(definition, f"v{version.replace('.', '-')}-{collector.lower()}") as deployment:
        deployment.product.prepare(product_spec(resolve(definition), "cassandra"))
        assert list(deployment.product.check(product_spec(resolve(definition), "cassandra"))) == []
        deployment.deploy()
        (node,) = deployment.fingerprint()
        populate(deployment, artefacts)
        on_disk = deployment.product.bytes_on_disk(deployment.nodes, KEYSPACE)
        deployment.product.drop(deployment.nodes, KEYSPACE)
        with pytest.raises(DeployError, match=f"how much {KEYSPACE} takes on disk is not known"):
            deployment.product.bytes_on_disk(deployment.nodes, KEYSPACE)
        log = gc_log(deployment, deployment.nodes[0])
    assert (node.database, node.database_version) == ("cassandra", version)
    assert ROWS * ROW_BYTES < on_disk["node1"] < 2 * ROWS * ROW_BYTES
    assert node.processes[0].jvm.collector == collector
    assert node.processes[0].jvm.collector_beans
    found = parse_gc_log(log)
    if jdk != "openjdk-8":  # whose threads may write the stamps of two lines into each other
        assert (len(found.collections), found.unread) == (pauses_counted(log), None)


def populate(deployment: Deployment, artefacts: Artefacts) -> None:
    """Have the load generator write rows into a keyspace of their own."""
    generator = PlimsollStress(artefacts)
    workload = {"name": "StandardRow", "rows": ROWS, "replication_factor": 1}
    definition = Definition.model_validate({**deployment.definition.model_dump(mode="json"), "workload": workload})
    request = LoadRequest(
        "sample", load_spec(only_part(definition)), 200, [node.info.address for node in deployment.nodes], LIFETIME
    )
    generator.start_sample(deployment.load, request, KEYSPACE)
    ended = until(lambda: ended_sample(generator, deployment), "the rows are written", patience_s=PATIENCE_S)
    assert ended.state == "complete", ended.reason


def ended_sample(generator: PlimsollStress, deployment: Deployment) -> LoadStatus | None:
    """Tell how the sample ended; None while it is written."""
    status = generator.sample_status(deployment.load, "sample")
    return None if status.state == "running" else status
