"""The protocols that clients speak, by product, and the options of each. All are keys of one `workload`.

Nothing else knows which options belong together, so a campaign may compare products of several protocols.
"""

from collections.abc import Mapping

from plimsoll.domain.base import Model
from plimsoll.domain.cql import CQL, CqlOptions
from plimsoll.domain.hbase import HBASE, HBaseOptions

OWN = "a protocol of its own"
"""The protocol of a database that only the definition knows. Its options are the commands' alone."""
UNKNOWN = "a protocol that nobody stated"
"""The protocol of an imported database that Plimsoll does not know. Nothing is told of its options."""
OPTIONS: Mapping[str, type[Model]] = {CQL: CqlOptions, HBASE: HBaseOptions, OWN: Model, UNKNOWN: Model}
"""Protocol → the options of a workload that it has."""
_OTHER_THAN_CQL: Mapping[str, str] = {"hbase": HBASE, "command": OWN}
"""Product → the protocol that its clients speak."""
KNOWN_PRODUCTS = frozenset({"cassandra", "scylladb", *_OTHER_THAN_CQL})


def protocol_of(product: str) -> str:
    """Return the protocol that clients of that product speak."""
    return _OTHER_THAN_CQL.get(product, CQL)
