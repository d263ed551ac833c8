from pathlib import PurePosixPath
from xml.etree import ElementTree

import pytest

from plimsoll.adapters.products.hbase.node import ZOO_CFG, configuration, properties, site
from plimsoll.adapters.products.hbase.roles import DATA_NODE, MASTER, NAME_NODE, REGION_SERVER, ROLES, ZOOKEEPER, Role
from plimsoll.adapters.products.hbase.settings import ClusterHost, refused

SECOND = ClusterHost(PurePosixPath("/w/node2"), "127.9.9.2", "127.9.9.1", "127.9.9.2", slot=1, nodes=3)
ELSEWHERE = ClusterHost(PurePosixPath("/w"), "10.0.0.2", "10.0.0.1", "127.0.0.1", slot=0, nodes=3)


def written(role: Role, file: str, place: ClusterHost = SECOND, **given: object) -> dict[str, str]:
    settings = {key.replace("_", "."): value for key, value in given.items()}
    text = configuration(role, PurePosixPath("/w/log"), settings, place)[file]  # type: ignore[arg-type]
    return {one.findtext("name", ""): one.findtext("value", "") for one in ElementTree.fromstring(text)}


def test_every_process_finds_the_others_at_the_first_host() -> None:
    hbase, hadoop = written(REGION_SERVER, "hbase-site.xml"), written(DATA_NODE, "core-site.xml")
    assert hbase["hbase.zookeeper.quorum"] == "127.9.9.1"
    assert hbase["hbase.rootdir"] == "hdfs://127.9.9.1:8020/hbase"
    assert hadoop["fs.defaultFS"] == "hdfs://127.9.9.1:8020"
    assert hbase["hbase.regionserver.ipc.address"] == hbase["hbase.unsafe.regionserver.hostname"] == "127.9.9.2"
    assert hbase["hbase.master.wait.on.regionservers.mintostart"] == "3"


def test_processes_wait_for_a_name_node_that_starts_slowly() -> None:
    assert written(MASTER, "core-site.xml")["ipc.client.connect.max.retries"] == "120"
    given = written(MASTER, "core-site.xml", ipc_client_connect_max_retries=5)
    assert given["ipc.client.connect.max.retries"] == "5"


def test_data_nodes_of_one_machine_have_ports_of_their_own() -> None:
    assert written(DATA_NODE, "hdfs-site.xml")["dfs.datanode.address"] == "127.9.9.2:9876"
    assert written(DATA_NODE, "hdfs-site.xml", ELSEWHERE)["dfs.datanode.address"] == "10.0.0.2:9866"


def test_web_servers_are_open_to_their_own_host_alone() -> None:
    hadoop, hbase = written(NAME_NODE, "hdfs-site.xml", ELSEWHERE), written(REGION_SERVER, "hbase-site.xml", ELSEWHERE)
    assert hadoop["dfs.namenode.http-address"] == "127.0.0.1:9870"
    assert hadoop["dfs.datanode.http.address"] == "127.0.0.1:9864"
    assert hbase["hbase.regionserver.info.bindAddress"] == hbase["hbase.master.info.bindAddress"] == "127.0.0.1"


def test_clients_can_t_have_servers_load_code() -> None:
    for role in (MASTER, REGION_SERVER):
        hbase = written(role, "hbase-site.xml")
        assert (hbase["hbase.use.dynamic.jars"], hbase["hbase.coprocessor.user.enabled"]) == ("false", "false")
        # Regions could not be split without it.
        assert hbase["hbase.coprocessor.region.classes"].endswith(".MultiRowMutationEndpoint")


def test_a_definition_s_settings_go_to_the_file_that_takes_them() -> None:
    assert written(DATA_NODE, "hdfs-site.xml", dfs_replication=2)["dfs.replication"] == "2"
    assert written(REGION_SERVER, "hdfs-site.xml")["dfs.replication"] == "3"
    assert written(REGION_SERVER, "hbase-site.xml", hbase_wal_hsync=True)["hbase.wal.hsync"] == "true"
    assert "heap.master" not in written(REGION_SERVER, "hbase-site.xml", heap_master="1G")
    given = {"hbase.zookeeper.property.maxSessionTimeout": 120000}
    zoo = configuration(ZOOKEEPER, PurePosixPath("/w/log"), given, SECOND)[ZOO_CFG].splitlines()
    assert {"maxSessionTimeout=120000", "tickTime=2000", "clientPortAddress=127.9.9.1"} <= set(zoo)


def test_temporary_files_and_data_are_in_the_folder_of_each_process() -> None:
    for role in set(ROLES) - {ZOOKEEPER}:
        assert written(role, "core-site.xml")["hadoop.tmp.dir"] == f"/w/node2/{role.name}/tmp"
    assert written(DATA_NODE, "hdfs-site.xml")["dfs.datanode.data.dir"] == "file:///w/node2/datanode/data"


def test_values_are_written_so_that_java_reads_them() -> None:
    text = site({"a.b": "<&>", "c": False, "d": 5})
    read = {one.findtext("name"): one.findtext("value") for one in ElementTree.fromstring(text)}
    assert read == {"a.b": "<&>", "c": "false", "d": "5"}
    assert properties({"b": True, "a": 1}) == "a=1\nb=true\n"


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("hbase.rootdir", "file:///", "Plimsoll writes it"),
        ("hbase.zookeeper.property.clientPort", 1, "Plimsoll writes it"),
        ("hbase.wal.dir", "/etc", "files or folders"),
        ("hbase.rest.port", 80, "where a process listens"),
        ("dfs.namenode.lifeline.rpc-bind-host", "0.0.0.0", "where a process listens"),
        ("net.topology.script.file.name", "/bin/sh", "files or folders"),
        ("hadoop.security.group.mapping", "Shell", "other code"),
        ("hbase.coprocessor.region.classes", "x.Y", "Plimsoll writes it"),
        ("concurrent_reads", 64, "settings begin with `heap.`, `hbase.`"),
        ("hbase.regionserver.handler.count", [1], "must be a text, a number"),
    ],
)
def test_a_setting_by_which_a_process_would_leave_its_place_is_refused(key: str, value: object, reason: str) -> None:
    [(place, why)] = refused({key: value})  # type: ignore[dict-item]
    assert place == key
    assert reason in why


def test_the_settings_of_the_publication_are_accepted() -> None:
    published = (
        "zookeeper.session.timeout hbase.rpc.timeout hbase.client.scanner.timeout.period hbase.master.handler.count "
        "hbase.regionserver.handler.count hbase.regionserver.metahandler.count hbase.regionserver.logroll.period "
        "hbase.regionserver.maxlogs hbase.hregion.memstore.flush.size hbase.hregion.memstore.block.multiplier "
        "hbase.hstore.compactionThreshold hbase.hstore.blockingStoreFiles hbase.hregion.majorcompaction "
        "hbase.master.namespace.init.timeout hbase.regionserver.optionalcacheflushinterval "
        "hbase.regionserver.thread.compaction.large hbase.regionserver.wal.enablecompression "
        "hbase.hstore.compaction.max.size hbase.server.compactchecker.interval.multiplier "
        "dfs.client.hedged.read.threadpool.size dfs.client.hedged.read.threshold.millis "
        "hbase.master.executor.openregion.threads hbase.regionserver.thread.compaction.small "
        "hbase.ipc.server.read.threadpool.size hbase.zookeeper.property.maxClientCnxns "
        "hbase.zookeeper.property.maxSessionTimeout heap.master"
    )
    assert list(refused(dict.fromkeys(published.split(), 1))) == []
