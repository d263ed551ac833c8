"""The release lines that can be deployed, and the oldest of them as shipped, with the values of their `conf/`.

Cassandra 3.11 runs on JDK 8 only. The values of 4.0 before its betas were read in the tarball of 4.0-alpha2, which is
on Maven Central. 4.0-alpha4 is of April 2020; Cassandra changed the two settings in July 2020, before the first beta.

They were read in the tarball of 4.0-alpha2, which is on Maven Central. 4.0-alpha4 is of April 2020; Cassandra changed
the two settings in July 2020, before the first beta.

It runs on JDK 8 only.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from plimsoll.adapters.products.cassandra import cassandra_4_0
from plimsoll.adapters.products.cassandra.cassandra_4_0 import CASSANDRA_4_0
from plimsoll.adapters.products.cassandra.cassandra_4_1_and_later import CASSANDRA_4_1, CASSANDRA_5_0
from plimsoll.adapters.products.cassandra.release import Release

# Lines of conf/cassandra.yaml that differ from those of 4.0.
SETTINGS: Mapping[str, JsonValue] = {
    **cassandra_4_0.SETTINGS,
    "num_tokens": 256,
    "compaction_throughput_mb_per_sec": 16,
    # The protocol of old clients: the code's default is on, the shipped file turns it off.
    "start_rpc": False,
}

JVM_FLAGS = (
    "-ea",
    "-XX:+UseThreadPriorities",
    "-XX:ThreadPriorityPolicy=42",
    "-XX:+HeapDumpOnOutOfMemoryError",
    "-Xss256k",
    "-XX:StringTableSize=1000003",
    "-XX:+AlwaysPreTouch",
    "-XX:-UseBiasedLocking",
    "-XX:+UseTLAB",
    "-XX:+ResizeTLAB",
    "-XX:+UseNUMA",
    "-XX:+PerfDisableSharedMem",
    "-Djava.net.preferIPv4Stack=true",
    "-XX:OnOutOfMemoryError=kill -9 %p",
)

# The young generation's collector had to be named until JDK 9; a later JDK does not start with the flag.
CMS_FLAGS = ("-XX:+UseParNewGC", *cassandra_4_0.CMS_FLAGS)

G1_FLAGS = ("-XX:+UseG1GC", "-XX:G1RSetUpdatingPauseTimePercent=5", "-XX:MaxGCPauseMillis=500")

CASSANDRA_3_11 = Release(
    line="3.11",
    settings=SETTINGS,
    jvm_flags=JVM_FLAGS,
    jdk_flags={8: ()},
    collector_flags={"CMS": CMS_FLAGS, "G1": G1_FLAGS},
    environment={"MALLOC_ARENA_MAX": "4"},  # conf/cassandra-env.sh
    agent_jar="jamm-",
    listening="Starting Messaging Service on ",
    ready="Starting listening for CQL clients on ",
    reports_compactions=False,
)

RELEASES = (CASSANDRA_3_11, CASSANDRA_4_0, CASSANDRA_4_1, CASSANDRA_5_0)

CASSANDRA_4_0_ALPHA = replace(
    CASSANDRA_4_0,
    settings={
        **CASSANDRA_4_0.settings,
        "num_tokens": 256,
        "compaction_throughput_mb_per_sec": 16,
    },
    jvm_flags=(*CASSANDRA_4_0.jvm_flags, "-XX:StringTableSize=1000003"),
    # The log line that says that clients can connect has another text than in later versions.
    ready=CASSANDRA_3_11.ready,
    allocation_setting="",
)


def release_of(version: str) -> Release | None:
    """Return the release line of a version such as `4.0.1` or `4.0-alpha4`; None where that line is not known here."""
    if version.startswith("4.0-alpha"):
        return CASSANDRA_4_0_ALPHA
    return next((one for one in RELEASES if re.match(rf"{re.escape(one.line)}[.-]", version)), None)
