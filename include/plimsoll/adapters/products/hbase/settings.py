"""The settings of HBase, HDFS and ZooKeeper on one host. The definition's replace the product's; the host's own replace
both.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import JsonValue

from plimsoll.adapters.products.hbase.roles import DATA_NODE, HEAP, MASTER, NAME_NODE, ZOOKEEPER, RoleFiles
from plimsoll.adapters.products.nodes.jvm_flags import file_url

ZOOKEEPER_PORT, NAME_NODE_PORT, MASTER_PORT, REGION_SERVER_PORT = 2181, 8020, 16000, 16020
NAME_NODE_HTTP, MASTER_HTTP, REGION_SERVER_HTTP = 9870, 16010, 16030
DATA_PORT, DATA_IPC, DATA_HTTP = 9866, 9867, 9864
PORTS = (
    *(ZOOKEEPER_PORT, NAME_NODE_PORT, NAME_NODE_HTTP, DATA_PORT, DATA_IPC, DATA_HTTP),
    *(MASTER_PORT, MASTER_HTTP, REGION_SERVER_PORT, REGION_SERVER_HTTP),
)
_ONLY_KNOWN_CODE = "org.apache.hadoop.hbase.security.access.CoprocessorWhitelistMasterObserver"
"""It refuses tables with coprocessors from files, unless a list has their folders; here that is empty."""
_SPLITS = "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint"
_APART = 10
"""How far the ports of DataNodes on one machine lie apart. Connections to a loopback address come from 127.0.0.1, so a
NameNode tells DataNodes of one machine apart by their ports alone."""

REPLICATION = "dfs.replication"
SHIPPED: Mapping[str, JsonValue] = {
    REPLICATION: 3,
    # There is nothing to wait for: a new file system has no blocks that DataNodes could still report.
    "dfs.namenode.safemode.extension": 0,
    "hbase.zookeeper.property.tickTime": 2000,
    # One try a second. By default a Master aborts where its NameNode takes longer than 10 s to listen.
    "ipc.client.connect.max.retries": 120,
}
"""What is otherwise than in the releases' own defaults, and what ZooKeeper has no default for."""

_OF_ZOOKEEPER = "hbase.zookeeper.property."
_OF_HBASE = ("hbase.", "zookeeper.")
_OF_HDFS = ("dfs.",)
_OF_HADOOP = ("hadoop.", "io.", "ipc.", "fs.", "net.")
PREFIXES = (HEAP, *_OF_HBASE, *_OF_HDFS, *_OF_HADOOP)
"""How the settings begin that a definition may have."""
_UNSAFE: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r"dirs?|rootdir|edits|journalnode|path|paths|file|jars?|defaultfs|uri"), "it names files or folders"),
    (re.compile(r"address|hosts?|hostname|ports?|interface|quorum|nameservices"), "it changes where a process listens"),
    (re.compile(r"scripts?|commands?|shell|coprocessors?|plugins?|impl|mapping"), "it has a process run other code"),
)


@dataclass(frozen=True)
class ClusterHost:
    """One host of a new cluster.

    `first`: the address of the first host; `own_loopback`: where web servers listen, which ask for no password, so that
    only the host itself reaches them; `slot`: its number among the cluster's hosts on the same machine, from 0.
    """

    root: PurePosixPath
    address: str
    first: str
    own_loopback: str
    slot: int
    nodes: int


def zookeeper_settings(given: Mapping[str, JsonValue], place: ClusterHost) -> dict[str, JsonValue]:
    """Return the content of `zoo.cfg`."""
    settings = _beginning_with((_OF_ZOOKEEPER,), given)
    return {
        **{key.removeprefix(_OF_ZOOKEEPER): value for key, value in settings.items()},
        "dataDir": str(RoleFiles(place.root, ZOOKEEPER.name).data),
        "clientPort": ZOOKEEPER_PORT,
        "clientPortAddress": place.first,
        # Otherwise ZooKeeper has a web server, on port 8080 of all addresses of the host
        "admin.enableServer": False,
        "4lw.commands.whitelist": "srvr",
    }


def hadoop_settings(given: Mapping[str, JsonValue], place: ClusterHost, scratch: PurePosixPath) -> dict[str, JsonValue]:
    """Return the content of `core-site.xml` of a process with that folder for temporary files."""
    return {
        **_beginning_with(_OF_HADOOP, given),
        "fs.defaultFS": f"hdfs://{place.first}:{NAME_NODE_PORT}",
        "hadoop.tmp.dir": str(scratch),
    }


def hdfs_settings(given: Mapping[str, JsonValue], place: ClusterHost) -> dict[str, JsonValue]:
    """Return the content of `hdfs-site.xml`: HDFS reads its own defaults after `core-site.xml`."""
    further = _APART * place.slot
    return {
        **_beginning_with(_OF_HDFS, given),
        "dfs.namenode.rpc-address": f"{place.first}:{NAME_NODE_PORT}",
        "dfs.namenode.http-address": f"{place.own_loopback}:{NAME_NODE_HTTP}",
        "dfs.namenode.name.dir": file_url(RoleFiles(place.root, NAME_NODE.name).data),
        # Addresses of hosts need not have names.
        "dfs.namenode.datanode.registration.ip-hostname-check": False,
        "dfs.datanode.address": f"{place.address}:{DATA_PORT + further}",
        "dfs.datanode.ipc.address": f"{place.address}:{DATA_IPC + further}",
        "dfs.datanode.http.address": f"{place.own_loopback}:{DATA_HTTP + further}",
        "dfs.datanode.data.dir": file_url(RoleFiles(place.root, DATA_NODE.name).data),
        "dfs.datanode.hostname": place.address,
        # The address that the DataNode names, and not the one that its connections come from.
        "dfs.client.use.datanode.hostname": True,
        "dfs.datanode.use.datanode.hostname": True,
    }


def hbase_settings(given: Mapping[str, JsonValue], place: ClusterHost, scratch: PurePosixPath) -> dict[str, JsonValue]:
    """Return the content of `hbase-site.xml` of a process with that folder for temporary files."""
    return {
        **_beginning_with(_OF_HBASE, given),
        "hbase.tmp.dir": str(scratch),
        "hbase.rootdir": f"hdfs://{place.first}:{NAME_NODE_PORT}/hbase",
        "hbase.cluster.distributed": True,
        # Else clients could have servers load code of their own, and nobody asks them for a password: jars in the
        # folder `lib` of HDFS, or coprocessors that a table's descriptor names, which can be written into HDFS beside
        # the Master. The only one that HBase itself needs, to split regions, is loaded by its class.
        "hbase.use.dynamic.jars": False,
        "hbase.coprocessor.user.enabled": False,
        "hbase.coprocessor.region.classes": _SPLITS,
        "hbase.coprocessor.master.classes": _ONLY_KNOWN_CODE,
        # HBase then refuses a file system that can't make its write-ahead log durable
        "hbase.unsafe.stream.capability.enforce": True,
        "hbase.zookeeper.quorum": place.first,
        f"{_OF_ZOOKEEPER}clientPort": ZOOKEEPER_PORT,
        "hbase.master.hostname": place.first,
        "hbase.master.ipc.address": place.first,
        "hbase.master.port": MASTER_PORT,
        "hbase.master.info.port": MASTER_HTTP,
        "hbase.master.info.bindAddress": place.own_loopback,
        # Regions are assigned once all servers are there, and not to the first one alone.
        "hbase.master.wait.on.regionservers.mintostart": place.nodes,
        "hbase.master.wait.on.regionservers.maxtostart": place.nodes,
        "hbase.regionserver.ipc.address": place.address,
        "hbase.regionserver.port": REGION_SERVER_PORT,
        "hbase.regionserver.info.port": REGION_SERVER_HTTP,
        "hbase.regionserver.info.bindAddress": place.own_loopback,
        # Else all of one machine would call themselves localhost.
        "hbase.unsafe.regionserver.hostname": place.address,
    }


def _beginning_with(prefixes: tuple[str, ...], settings: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: value for key, value in {**SHIPPED, **settings}.items() if key.startswith(prefixes)}


_ROOT = PurePosixPath("/")
_ANY = ClusterHost(_ROOT, "", "", "", 0, 1)
RESERVED = frozenset(
    {
        *hadoop_settings({}, _ANY, _ROOT),
        *hdfs_settings({}, _ANY),
        *hbase_settings({}, _ANY, _ROOT),
        *(f"{_OF_ZOOKEEPER}{key}" for key in zookeeper_settings({}, _ANY)),
    }
    - SHIPPED.keys()
)
"""Settings that Plimsoll writes for each host. A definition can't set them."""


def refused(settings: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield each setting that a definition can't have, with the reason."""
    for key, value in settings.items():
        words = re.split(r"[.-]", key.lower())
        unsafe = next((why for pattern, why in _UNSAFE if any(map(pattern.fullmatch, words))), "")
        if not key.startswith(PREFIXES):
            yield key, f"settings begin with {', '.join(f'`{prefix}`' for prefix in PREFIXES)}"
        elif key in RESERVED:
            yield key, "Plimsoll writes it for each node"
        elif unsafe:
            yield key, unsafe
        elif not isinstance(value, (str, int, float)):
            yield key, "its value must be a text, a number, true or false"


def used_heaps(settings: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return the heaps among the settings, by the name of the process."""
    return {key.removeprefix(HEAP): value for key, value in settings.items() if key.startswith(HEAP)}


OTHER_ROLES = tuple(role.name for role in (MASTER, NAME_NODE, DATA_NODE, ZOOKEEPER))
"""The processes whose heap is a setting."""
