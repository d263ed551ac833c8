"""The protocols that clients speak, CQL and HBase's, by product, and the options of each. All are keys of one
`workload`.

Nothing else knows which options belong together, so a campaign may compare products of several protocols.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.domain.keys.faults import Fault
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.wording import plural

OWN = "a protocol of its own"
"""The protocol of a database that only the definition knows. Its options are the commands' alone."""
UNKNOWN = "a protocol that nobody stated"
"""The protocol of an imported database that Plimsoll does not know. Nothing is told of its options."""

CQL = "cql"
"""The protocol's name."""

HBASE = "hbase"
"""The protocol's name."""


class HBaseOptions(Model):
    """The options of a workload whose clients speak HBase's protocol: how its tables are made."""

    regions: Annotated[int, Field(ge=1, le=1000, description="Regions of each new table (HBase)")] = 8
    block_encoding: Annotated[
        Literal["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"],
        Field(description="Block encoding of new tables (HBase)"),
    ] = "NONE"
    compression: Annotated[Literal["NONE", "GZ"], Field(description="Compression of new tables (HBase)")] = "NONE"


class CqlOptions(Model):
    """The options of a workload whose clients speak CQL."""

    consistency: Annotated[
        Literal["ONE", "LOCAL_ONE", "TWO", "QUORUM", "LOCAL_QUORUM", "ALL"],
        Field(description="Consistency level (CQL)"),
    ] = "LOCAL_ONE"
    replication_factor: Annotated[int, Field(ge=1, description="Replicas of each row (CQL)")] = 3

    def faults_with(self, nodes: int) -> Iterator[Fault]:
        """Yield the faults of these options on a cluster of so many nodes."""
        factor = self.replication_factor
        if factor > nodes:
            what = f"replication_factor {factor} needs at least {plural(factor, 'node')}; the system has {nodes}"
            yield Fault(("replication_factor",), what, f"write at most {nodes}, or more `system.nodes`")


OPTIONS: Mapping[str, type[Model]] = {CQL: CqlOptions, HBASE: HBaseOptions, OWN: Model, UNKNOWN: Model}
"""Protocol → the options of a workload that it has."""
_OTHER_THAN_CQL: Mapping[str, str] = {"hbase": HBASE, "command": OWN}
"""Product → the protocol that its clients speak."""
KNOWN_PRODUCTS = frozenset({"cassandra", "scylladb", *_OTHER_THAN_CQL})


def protocol_of(product: str) -> str:
    """Return the protocol that clients of that product speak."""
    return _OTHER_THAN_CQL.get(product, CQL)
