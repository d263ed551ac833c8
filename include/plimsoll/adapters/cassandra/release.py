"""Release lines of Cassandra: what differs from one to the next, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from plimsoll.domain.variant import Collector

PRODUCT = "cassandra"
"""How definitions name it."""


@dataclass(frozen=True)
class Release:
    """One release line, such as 4.0. A new line is one more of these."""

    line: str
    settings: Mapping[str, JsonValue]
    """`cassandra.yaml` as shipped, less what every node has of its own."""
    jvm_flags: tuple[str, ...]
    """For every JDK and collector."""
    jdk_flags: Mapping[int, tuple[str, ...]]
    """By the JDK's major version; a JDK that is not in it can't run this line."""
    collector_flags: Mapping[Collector, tuple[str, ...]]
    """As shipped; a collector that is not in it gets the flags that choose it and nothing more."""
    environment: Mapping[str, str]
    agent_jar: str
    """Beginning of the file name of the Java agent that measures objects."""
    listening: str
    """In the line of the log that says: other nodes can connect."""
    ready: str
    """In the line of the log that says: clients can connect."""
    tells_compactions: bool = True
    """Whether clients can ask a node for its compactions (virtual tables)."""
