"""A node of every other collector starts, and its JVM says so itself."""

import pytest
from tests.integration.cassandra.conftest import define


@pytest.mark.parametrize("collector", ["CMS", "Shenandoah", "ZGC"])
def test_the_collector_that_runs_is_the_one_that_was_defined(hosts_for, collector):
    with hosts_for(define(nodes=1, collector=collector), collector.lower()) as deployment:
        deployment.deploy()
        (node,) = deployment.fingerprint()
    assert node.jvm.collector == collector
    assert node.jvm.collector_beans


def test_flags_of_a_publication_and_of_the_variant_arrive_in_that_order(hosts_for):
    definition = define(nodes=1, flag_set="tlp-2020", flags=["-XX:MaxGCPauseMillis=123"])
    with hosts_for(definition, "published") as deployment:
        deployment.deploy()
        (node,) = deployment.fingerprint()
    assert node.jvm.flags["InitiatingHeapOccupancyPercent"] == "70"
    assert node.jvm.flags["MaxGCPauseMillis"] == "123"
