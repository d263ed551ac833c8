import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.scripted_host import ScriptedHost
from tests.support.resolved import only_part

from plimsoll.adapters.products.hbase import HBase
from plimsoll.domain.campaign.resolve import variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import CommandResult, JobStatus

Define = Callable[..., Definition]
HOUR = timedelta(hours=1)
READY: Sequence[Any] = (
    {"beans": [{"FSState": "Operational", "NumLiveDataNodes": 3}]},
    {"beans": [{"tag.isActiveMaster": "true", "numRegionServers": 3}]},
    {"beans": [{"ritCount": 0}]},
    *({"beans": [{"regionCount": 1}]} for _ in range(3)),
)
AT_ITS_START = (
    "ERROR [pool-10-thread-1] 2026-11-27 03:23:02,552 zookeeper.ZKWatcher: regionserver:16020-0x10002cf9ddd0000, "
    "quorum=127.213.106.1:2181, baseZNode=/hbase Received unexpected KeeperException, re-throwing exception\n"
    "org.apache.zookeeper.KeeperException$NoNodeException: KeeperErrorCode = NoNode for /hbase\n"
)


def told(answers: Sequence[Any]) -> Callable[[Sequence[str]], CommandResult]:
    return lambda _: CommandResult(0, json.dumps([{"answer": one} for one in answers]), "")


@pytest.fixture
def cluster(nodes: list[ScriptedHost]) -> list[ScriptedHost]:
    """Provide hosts on which formatting succeeds, and whose processes tell that they are ready."""
    for node in nodes:
        node.command = told(READY)
        node.on_start = lambda job, node=node: (  # type: ignore[misc]
            node.statuses.update({job.id: JobStatus("exited", 0)}) if job.id == "format-hdfs" else None
        )
    return nodes


def deploy(product: HBase, define: Define, nodes: Any, load: Any) -> None:
    definition = define()
    product.deploy(variant_spec(only_part(definition), definition.variants[1]), nodes, load, HOUR)


def test_the_first_host_runs_five_processes_and_each_other_two(
    product: HBase, define: Define, cluster: list[ScriptedHost], load: ScriptedHost
) -> None:
    deploy(product, define, cluster, load)
    first, *others = [list(node.jobs) for node in cluster]
    assert first == ["format-hdfs", "zookeeper", "namenode", "master", "datanode", "regionserver"]
    assert others == [["datanode", "regionserver"]] * 2
    assert all(job.expires == HOUR and job.owns for node in cluster for job in node.jobs.values())
    assert list(product.down(cluster)) == []


def test_each_process_has_a_heap_a_gc_log_and_a_jmx_port_of_its_own(
    product: HBase, define: Define, cluster: list[ScriptedHost], load: ScriptedHost
) -> None:
    deploy(product, define, cluster, load)
    argv = {name: job.argv for name, job in cluster[0].jobs.items()}
    assert {"-Xmx512M", "-XX:+UseG1GC"} <= set(argv["regionserver"])
    assert {"-Xmx320M", "-XX:+UseSerialGC"} <= set(argv["master"])
    del argv["format-hdfs"]
    for kind in ("-Xlog:", "-Dcom.sun.management.jmxremote.port=", "-Djava.io.tmpdir="):
        assert len({word for one in argv.values() for word in one if word.startswith(kind)}) == len(argv)


def test_a_format_that_fails_is_told_with_its_words(
    product: HBase, define: Define, nodes: list[ScriptedHost], load: ScriptedHost
) -> None:
    nodes[0].on_start = lambda job: nodes[0].statuses.update({job.id: JobStatus("exited", 1)})
    nodes[0].write(
        nodes[0].root / "jobs/format-hdfs.log", "ERROR [main] 2026-11-27 02:00:00,000 NameNode: No space left\n"
    )
    with pytest.raises(DeployError, match="before HDFS was formatted") as failure:
        deploy(product, define, nodes, load)
    assert failure.value.where == "format-hdfs on node1 (127.9.9.1)"
    assert "No space left" in failure.value.what


def test_a_cluster_that_is_not_ready_in_time_names_the_process_that_others_wait_for(
    product: HBase, define: Define, cluster: list[ScriptedHost], load: ScriptedHost
) -> None:
    cluster[0].command = told([*READY[:1], {"beans": []}, *READY[2:]])
    with pytest.raises(DeployError) as failure:
        deploy(product, define, cluster, load)
    assert failure.value.where == "master on node1 (127.9.9.1)"
    assert "it does not answer at /jmx" in failure.value.what


def test_a_process_that_has_ended_is_named_with_its_host(
    product: HBase, define: Define, cluster: list[ScriptedHost], load: ScriptedHost
) -> None:
    deploy(product, define, cluster, load)
    cluster[2].statuses["regionserver"] = JobStatus("exited", 137)
    cluster[0].statuses["master"] = JobStatus("exited", 1)
    master, server = product.down(cluster)
    assert master.startswith("master of node1 (127.9.9.1) ended with exit code 1")
    assert server.startswith("regionserver of node3 (127.9.9.3) ended with signal 9; a person sent it, or the kernel")


def test_of_a_region_server_that_died_the_master_tells_that_its_regions_were_moving(
    product: HBase, define: Define, cluster: list[ScriptedHost], load: ScriptedHost
) -> None:
    deploy(product, define, cluster, load)
    cluster[2].statuses["regionserver"] = JobStatus("exited", 137)
    cluster[0].write(
        cluster[0].root / "master/logs/server.log",
        "INFO  [RegionServerTracker-0] 2026-11-27 02:50:10,000 master.RegionServerTracker: RegionServer ephemeral node "
        "deleted, processing expiration [127.9.9.3,16020,1795747791943]\n",
    )
    [server] = product.down(cluster)
    assert server.startswith("regionserver of node3 (127.9.9.3) ended with signal 9")
    assert "\nthe Master gave up region server 127.9.9.3,16020,1795747791943 at 02:50:10" in server
    assert server.endswith("its regions had to move, and 0 had when its log ended")


def test_of_a_region_server_that_the_master_still_believes_in_nobody_serves_the_regions(
    product: HBase, define: Define, cluster: list[ScriptedHost], load: ScriptedHost
) -> None:
    deploy(product, define, cluster, load)
    cluster[2].statuses["regionserver"] = JobStatus("exited", 137)
    [server] = product.down(cluster)
    assert server.endswith("\nthe Master had not noticed it yet, so nobody served its regions")
    [alone] = product.down(cluster[2:])
    assert "Master" not in alone


def test_declared_processes_tell_which_run_on_the_first_host_alone(product: HBase, define: Define) -> None:
    variant = define(variant={"settings": {"heap.master": "1G"}}).variants[1]
    declared = {one.name: one for one in product.processes(variant)}
    assert [name for name, one in declared.items() if not one.only_on_first] == ["regionserver", "datanode"]
    heaps = {name: one.jvm.heap >> 20 for name, one in declared.items() if one.jvm}
    assert (heaps["regionserver"], heaps["master"], heaps["zookeeper"]) == (512, 1024, 64)


def test_what_every_process_logs_at_its_start_is_no_reason_for_its_end(
    product: HBase, define: Define, cluster: list[ScriptedHost], load: ScriptedHost
) -> None:
    deploy(product, define, cluster, load)
    node = cluster[1]
    node.statuses["regionserver"] = JobStatus("exited", 137)
    node.write(node.root / "regionserver/logs/server.log", AT_ITS_START)
    [sentence] = product.down(cluster)
    assert "ZKWatcher" not in sentence
    assert "NoNode" not in sentence
