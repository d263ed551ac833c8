"""The names that load generators give their operations, with the kind of each: a read or a write."""

from collections.abc import Mapping

WRITES, READS = "writes", "reads"
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("mutations", "mutation", "writes", "write", "inserts", "insert", "updates", "update"), WRITES),
    **dict.fromkeys(("deletions", "deletes", "delete", "batches", "batch", "counter_write"), WRITES),
    **dict.fromkeys(("selects", "select", "reads", "read", "scans", "scan", "counter_read"), READS),
}
"""Operation names of load generators, in small letters → the kind of query."""
