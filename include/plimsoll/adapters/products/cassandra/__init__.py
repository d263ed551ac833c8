"""Apache Cassandra."""

from plimsoll.adapters.products.cassandra.adapter import Cassandra

__all__ = ["Cassandra"]
