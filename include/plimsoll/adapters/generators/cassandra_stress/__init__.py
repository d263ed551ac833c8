"""cassandra-stress, Cassandra's own load generator."""

from plimsoll.adapters.generators.cassandra_stress.adapter import CassandraStress

__all__ = ["CassandraStress"]
