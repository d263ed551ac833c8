"""The release lines that can be deployed."""

from plimsoll.adapters.cassandra.cassandra_4_0 import CASSANDRA_4_0
from plimsoll.adapters.cassandra.release import Release

RELEASES = (CASSANDRA_4_0,)


def release_of(version: str) -> Release | None:
    """The line that a version such as `4.0.1` belongs to; None when that line is not known here."""
    return next((release for release in RELEASES if version.startswith(f"{release.line}.")), None)
