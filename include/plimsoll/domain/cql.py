"""CQL, the protocol that clients of Cassandra and ScyllaDB speak: its options of a workload."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.domain.base import Model
from plimsoll.domain.faults import Fault
from plimsoll.domain.plurals import plural

CQL = "cql"
"""The protocol's name."""


class CqlOptions(Model):
    """The options of a workload whose clients speak CQL."""

    consistency: Annotated[
        Literal["ONE", "LOCAL_ONE", "TWO", "QUORUM", "LOCAL_QUORUM", "ALL"],
        Field(description="Consistency level (CQL)"),
    ] = "LOCAL_ONE"
    replication_factor: Annotated[int, Field(ge=1, description="Number of replicas of each row (CQL)")] = 3

    def faults_with(self, nodes: int) -> Iterator[Fault]:
        """Yield the faults of these options on a cluster of so many nodes."""
        factor = self.replication_factor
        if factor > nodes:
            what = f"replication_factor {factor} needs at least {plural(factor, 'node')}; the system has {nodes}"
            yield Fault(("replication_factor",), what, f"write at most {nodes}, or more `system.nodes`")
