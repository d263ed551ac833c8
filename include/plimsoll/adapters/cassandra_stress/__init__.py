"""cassandra-stress, Cassandra's own load generator."""

from plimsoll.adapters.cassandra_stress.adapter import CassandraStress

__all__ = ["CassandraStress"]
