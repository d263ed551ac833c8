"""Cassandra 5.0 as shipped, with the values of its `conf/` (`cassandra.yaml`, `jvm11-` and `jvm17-server.options`)."""

from plimsoll.adapters.products.cassandra.cassandra_4_0 import CMS_FLAGS, ON_17
from plimsoll.adapters.products.cassandra.cassandra_4_1 import CASSANDRA_4_1, G1_FLAGS
from plimsoll.adapters.products.cassandra.release import Release
from plimsoll.adapters.products.nodes.jvm_flags import exported

# 4.1 has this flag for every JDK. 5.0 has it for JDK 11 only, because later JDKs do not know it.
_ON_11_ONLY = "-XX:-UseBiasedLocking"
JVM_FLAGS = tuple(flag for flag in CASSANDRA_4_1.jvm_flags if flag != _ON_11_ONLY)

_NETTY = ("-Dio.netty.allocator.useCacheForAllThreads=true", "-Dio.netty.allocator.maxOrder=11")

CASSANDRA_5_0 = Release(
    line="5.0",
    settings=CASSANDRA_4_1.settings,
    jvm_flags=JVM_FLAGS,
    jdk_flags={
        11: (_ON_11_ONLY, *CASSANDRA_4_1.jdk_flags[11], *exported("java.base/jdk.internal.util"), *_NETTY),
        17: (*ON_17, *_NETTY),
    },
    collector_flags={"CMS": CMS_FLAGS, "G1": G1_FLAGS},
    environment=CASSANDRA_4_1.environment,
    agent_jar=CASSANDRA_4_1.agent_jar,
    listening=CASSANDRA_4_1.listening,
    ready=CASSANDRA_4_1.ready,
    allocation_setting=CASSANDRA_4_1.allocation_setting,
)
