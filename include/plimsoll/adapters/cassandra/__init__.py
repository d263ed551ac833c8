"""Apache Cassandra."""
