"""A node of every other collector starts, its JVM says so itself, and its GC log is read whole.

CMS and ZGC start in test_releases.py already.
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.nodes.small import define, gc_log, pauses_counted
from tests.support.suite.requirements import long

from plimsoll.analysis.logs.gc.unified import parse_gc_log

pytestmark = long("nodes with G1 and ZGC say what they run in other tests")


@pytest.mark.parametrize("collector", ["Shenandoah", "ZGC", "CMS"])
def test_the_collector_that_runs_is_the_one_that_was_defined(hosts_for: Callable[..., Any], collector: str) -> None:
    with hosts_for(define(nodes=1, collector=collector), collector.lower()) as deployment:
        deployment.deploy()
        (node,) = deployment.fingerprint()
        log = gc_log(deployment, deployment.nodes[0])
    found = parse_gc_log(log)
    assert (len(found.collections), found.unread) == (pauses_counted(log), None)
    assert node.processes[0].jvm.collector == collector
    assert node.processes[0].jvm.collector_beans


def test_flags_of_a_publication_and_of_the_variant_arrive_in_that_order(hosts_for: Callable[..., Any]) -> None:
    definition = define(nodes=1, flag_set="tlp-2020", flags=["-XX:MaxGCPauseMillis=123"])
    with hosts_for(definition, "published") as deployment:
        deployment.deploy()
        (node,) = deployment.fingerprint()
    assert node.processes[0].jvm.flags["InitiatingHeapOccupancyPercent"] == "70"
    assert node.processes[0].jvm.flags["MaxGCPauseMillis"] == "123"
