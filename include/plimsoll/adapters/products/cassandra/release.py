"""Release lines of Cassandra: everything that differs from one line to the next."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from plimsoll.domain.keys.variant import Collector

PRODUCT = "cassandra"
"""The name of Cassandra in definitions."""


@dataclass(frozen=True)
class Release:
    """One release line, such as 4.0. A new release line is a new object of this class."""

    line: str
    settings: Mapping[str, JsonValue]
    """`cassandra.yaml` as shipped, without the settings that differ from node to node."""
    jvm_flags: tuple[str, ...]
    """The flags for every JDK and collector."""
    jdk_flags: Mapping[int, tuple[str, ...]]
    """Flags by the JDK's major version. This release line can't run on a JDK that is missing here."""
    collector_flags: Mapping[Collector, tuple[str, ...]]
    """Flags by collector, as shipped. A collector that is missing here gets only the flags that choose it."""
    environment: Mapping[str, str]
    agent_jar: str
    """The beginning of the file name of the Java agent that measures objects."""
    listening: str
    """Text of the log line that says that other nodes can connect."""
    ready: str
    """Text of the log line that says that clients can connect."""
    allocation_setting: str = ""
    """The setting by which a joining node chooses tokens for a number of replicas; empty: it takes random ones."""
    reports_compactions: bool = True
    """Whether clients can ask a node for its compactions (virtual tables)."""


def maven_roots(version: str) -> tuple[str, ...]:
    """Return the Maven coordinates that a release is resolved from."""
    # Clients of the old protocol are a dependency of 3.x that its own coordinates leave out.
    thrift = (f"org.apache.cassandra:cassandra-thrift:{version}",) if version.startswith("3.") else ()
    return (f"org.apache.cassandra:cassandra-all:{version}", *thrift)
