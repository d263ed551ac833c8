"""A database that somebody else runs, as its clients reach it."""

from dataclasses import dataclass, field

from plimsoll.domain.cluster import ClusterId
from plimsoll.ports.secrets import DatabaseAccess


@dataclass(frozen=True)
class ExternalDatabase:
    """The addresses of such a database, what clients may use of it, and how they log in. `repr` shows no secret."""

    contact_points: tuple[str, ...]
    port: int
    data_centre: str
    keyspace: str
    is_read_only: bool
    """Whether the keyspace is there already and nothing may be written to it."""
    populate_ops_s: int | None
    """The rate at which rows are written before a load; None: the load's own."""
    has_tls: bool
    access: DatabaseAccess = field(repr=False)
    nodes_within: tuple[str, ...] = ()
    """Names, addresses and networks of the only nodes that may be connected to; none: all that the database names."""


@dataclass(frozen=True)
class Occupant:
    """The cluster whose keyspace is in such a database, as the keyspace's mark says."""

    keyspace: str
    cluster: ClusterId
    store: str
    is_ours: bool
    """Whether that is this installation's store."""
    owner: str
