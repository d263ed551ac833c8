"""A node of somebody else's cluster ends while a load runs. The cluster, which stays without it, is this file's own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from tests.integration.external.conftest import NODES
from tests.integration.external.test_cells import run
from tests.support.nodes.guarded import Guarded, guarded_cluster
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.products.cassandra.node_files import JOB

pytestmark = long("it wants three nodes")


@pytest.fixture(scope="module")
def theirs(artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded_cluster(artefacts, tmp_path_factory.mktemp("theirs"), NODES) as guarded:
        yield guarded


def test_a_node_that_drains_and_ends_under_load_is_gone_without_and_the_keyspace_is_dropped(
    site: Any,
    definition: Any,
    theirs: Guarded,
) -> None:
    """Cassandra drains itself where it is told to end."""
    said, before = list[str](), theirs.state()
    workload = {"name": "KeyValue", "rows": 500, "replication_factor": 3, "consistency": "LOCAL_QUORUM"}
    own = definition(workload=workload, timing={"duration": "40s", "warmup": "2s"})

    def drained() -> None:
        until(lambda: any("load" in line and "ops/s" in line for line in said), "the timed run")
        theirs.nodes[-1].stop(JOB, grace=timedelta(minutes=1))

    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(drained)
        _, verdict = run(site().tools, own, said)
        ending.result()
    assert verdict.valid, verdict.reasons
    assert verdict.operations > 100 * 30
    assert theirs.state() == before
