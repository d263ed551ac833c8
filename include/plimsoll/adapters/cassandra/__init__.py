"""Apache Cassandra."""

from plimsoll.adapters.cassandra.adapter import Cassandra

__all__ = ["Cassandra"]
