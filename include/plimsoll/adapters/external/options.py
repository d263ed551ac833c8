"""What definitions say of a database that somebody else runs (`provider: {name: external, options: {…}}`), and of its
machines, which are looked at over SSH.
"""

import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, field_validator

from plimsoll.adapters.hosts.following import GC_LOG
from plimsoll.adapters.hosts.reached import HostOptions
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Rate

OWN_LOG = "database.log"
"""The name of the database's own log among a cell's files."""

_Path = Annotated[
    str,
    Field(
        pattern=r"^(/[A-Za-z0-9._*?@+=-]+)+$",
        max_length=300,
        description="Its path, which may have `*`: of several files the one that was written to last",
    ),
]


class KnownLog(Model):
    """A database's own log in a form that Plimsoll reads."""

    path: _Path
    of: Annotated[Literal["cassandra", "scylladb"], Field(description="Product in whose form its lines are")]


class Observe(Model):
    """Machines of the database, of which samples and logs are taken while a cell runs. Nothing is deployed there."""

    ssh: Annotated[str, Field(min_length=1, description="Connection whose key logs in, as a user that may only read")]
    hosts: Annotated[
        tuple[HostOptions, ...],
        Field(min_length=1, max_length=100, description="Machines of all nodes or of some"),
    ]
    runs_as: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9_][a-z0-9_.-]*$",
            max_length=64,
            description="User of the operating system as whom the database runs there, by name or number: whatever "
            "else takes processor time counts as other programs",
        ),
    ]
    gc_log: Annotated[LeftOutIfEmpty[_Path | None], Field(description="GC log of the database's JVM")] = None
    log: Annotated[LeftOutIfEmpty[KnownLog | None], Field(description="The database's own log")] = None
    logs: Annotated[
        LeftOutIfEmpty[tuple[_Path, ...]], Field(max_length=20, description="Further logs, kept beside a cell's files")
    ] = ()
    # Not in /dev/shm: systemd removes what a user has there once he has no session.
    folder: Annotated[
        str,
        Field(
            pattern=r"^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$",
            description="Where samples and what is taken of logs lie meanwhile; made, and removed when it is empty",
        ),
    ] = "/var/tmp/plimsoll-observed"  # noqa: S108 - its user's alone, and refused where it is another's

    @property
    def followed(self) -> Mapping[str, str]:
        """Return name → path of each log, where the name is what it is kept under."""
        known = {GC_LOG: self.gc_log, OWN_LOG: self.log.path if self.log else None}
        # The number keeps logs of one name in several folders apart
        further = {f"{number}-{_plain(path)}": path for number, path in enumerate(self.logs, start=1)}
        return {**{name: path for name, path in known.items() if path}, **further}


def _plain(path: str) -> str:
    return re.sub(r"[*?=]", "", PurePosixPath(path).name) or "log"


_SYSTEM = "system"
_Keyspace = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$", examples=["plimsoll_load"])]

# They become arguments of the load generator: no commas, no options.
_ContactPoint = Annotated[str, Field(pattern=r"^[A-Za-z0-9:][A-Za-z0-9.:_-]*$", max_length=253)]


def _as_network(value: str) -> str:
    try:
        return str(ip_network(value))
    except ValueError as error:
        raise ValueError(f"is no network such as 10.0.0.0/24: {error}") from error


_Network = Annotated[str, AfterValidator(_as_network)]


class ExistingKeyspace(Model):
    """A keyspace that is there, for loads that only read."""

    existing: Annotated[_Keyspace, Field(description="Its name")]
    read_only: Annotated[Literal[True], Field(description="`true`: statements that write are refused")]


class LoadHosts(Model):
    """The provider of the hosts that the load comes from."""

    provider: Annotated[
        Literal["local", "ssh", "ec2", "command"],
        Field(description="`local`: this machine; `ssh`: hosts of yours; `ec2`, `command`: launched for each cell"),
    ] = "local"
    options: Annotated[dict[str, JsonValue], Field(description="Options of that provider")] = {}


class TheirOptions(Model):
    """What is said of every database that somebody else runs."""

    connection: Annotated[
        str, Field(description="Connection with user, password and certificates. Without it nobody logs in")
    ] = ""
    load_hosts: Annotated[LoadHosts, Field(description="Where the load comes from. Without it: this machine")] = (
        LoadHosts()
    )
    observe: Annotated[
        LeftOutIfEmpty[Observe | None],
        Field(description="Machines of the database to look at over SSH. Without it nothing is known of them"),
    ] = None


class ExternalOptions(TheirOptions):
    """Where a database is that speaks CQL, how to log in, and what a load may use of it."""

    contact_points: Annotated[
        tuple[_ContactPoint, ...],
        Field(min_length=1, max_length=100, description="Names or addresses of nodes, which must all answer"),
    ]
    port: Annotated[int, Field(ge=1, le=65535, description="Port at which nodes listen to clients")] = 9042
    node_networks: Annotated[
        tuple[_Network, ...],
        Field(
            max_length=100,
            description="Networks, such as `10.0.0.0/24`, whose nodes may get the password too where `tls` is false. "
            "Without it: the contact points alone",
        ),
    ] = ()
    data_centre: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$", max_length=100, description="Where the load goes")
    ]
    tls: Annotated[
        bool, Field(description="Whether connections are encrypted, and the nodes' certificates verified")
    ] = True
    keyspace: Annotated[
        _Keyspace | ExistingKeyspace,
        Field(description="Keyspace that every cell makes and drops, or `{existing: …, read_only: true}`"),
    ]
    populate_rate: Annotated[
        Rate | None, Field(description="Rate at which rows are written before a load. Without it: the cell's load")
    ] = None

    @field_validator("keyspace")
    @classmethod
    def _is_not_the_systems(cls, value: str | ExistingKeyspace) -> str | ExistingKeyspace:
        name = value.existing if isinstance(value, ExistingKeyspace) else value
        if name == _SYSTEM or name.startswith(f"{_SYSTEM}_"):
            raise ValueError(f"{name!r} belongs to the database itself")
        return value

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """Return the name and port of each contact point."""
        return tuple((name, self.port) for name in self.contact_points)

    @property
    def keyspace_name(self) -> str:
        """Return the name of the keyspace that clients use."""
        return self.keyspace.existing if isinstance(self.keyspace, ExistingKeyspace) else self.keyspace

    @property
    def is_read_only(self) -> bool:
        """Tell whether the keyspace is there already, and nothing may be written."""
        return isinstance(self.keyspace, ExistingKeyspace)
