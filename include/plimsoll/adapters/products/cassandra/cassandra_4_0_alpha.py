"""Cassandra 4.0 before its betas, as shipped: the values of `conf/` that differ from those of 4.0.1.

They were read in the tarball of 4.0-alpha2, which is on Maven Central. 4.0-alpha4 is of April 2020; Cassandra changed
the two settings in July 2020, before the first beta.
"""

from dataclasses import replace

from plimsoll.adapters.products.cassandra.cassandra_3_11 import CASSANDRA_3_11
from plimsoll.adapters.products.cassandra.cassandra_4_0 import CASSANDRA_4_0

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
