"""A database that somebody else runs: where it is, what it tells of itself, and the keyspace that a load has there."""

from plimsoll.adapters.external.database import Database, Databases, ExternalOptions, read_options

__all__ = ["Database", "Databases", "ExternalOptions", "read_options"]
