"""A database that somebody else runs: the options that name it (`provider: {name: external, options: {…}}`),
connections to it, and what its own tables tell of its nodes.
"""

import resource
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from ipaddress import ip_address, ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, ValidationError, field_validator

from plimsoll.adapters.native_protocol import Session, tls_context
from plimsoll.domain.hosts.fingerprint import ReportedNode
from plimsoll.domain.keys.faults import as_written, problems_of
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem, ProviderError, SecretError
from plimsoll.domain.text.units import Rate
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.provider import ExternalDatabase
from plimsoll.ports.secrets import DatabaseAccess, DatabaseSecrets

_LOCAL = "SELECT data_center, rack, release_version, rpc_address, broadcast_address FROM system.local"
_PEERS = "SELECT data_center, rack, release_version, rpc_address, peer FROM system.peers"
_MOST_TRIES_S = 60.0
"""The time after which no further contact point is tried."""
_ANY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - what a node tells that listens on all of its addresses
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
        Literal["local", "ssh", "ec2"],
        Field(description="`local`: this machine; `ssh`: hosts of yours; `ec2`: launched for each cell"),
    ] = "local"
    options: Annotated[dict[str, JsonValue], Field(description="Options of that provider")] = {}


class ExternalOptions(Model):
    """Where the database is, how to log in, and what a load may use of it."""

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
    connection: Annotated[
        str, Field(description="Connection with user, password and certificates. Without it nobody logs in")
    ] = ""
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
    load_hosts: Annotated[LoadHosts, Field(description="Where the load comes from. Without it: this machine")] = (
        LoadHosts()
    )

    @field_validator("keyspace")
    @classmethod
    def _is_not_the_systems(cls, value: str | ExistingKeyspace) -> str | ExistingKeyspace:
        name = value.existing if isinstance(value, ExistingKeyspace) else value
        if name == _SYSTEM or name.startswith(f"{_SYSTEM}_"):
            raise ValueError(f"{name!r} belongs to the database itself")
        return value

    @property
    def keyspace_name(self) -> str:
        """Return the name of the keyspace that clients use."""
        return self.keyspace.existing if isinstance(self.keyspace, ExistingKeyspace) else self.keyspace

    @property
    def is_read_only(self) -> bool:
        """Tell whether the keyspace is there already, and nothing may be written."""
        return isinstance(self.keyspace, ExistingKeyspace)


def read_options(written: Mapping[str, object]) -> ExternalOptions | list[Problem]:
    """Return the options, or all that is wrong with them."""
    try:
        return ExternalOptions.model_validate(as_written(written, ExternalOptions))
    except ValidationError as error:
        return problems_of(error, ExternalOptions, "provider.options")


class Databases:
    """The databases that definitions name, with the secrets of their connections. Nothing is remembered."""

    def __init__(self, secrets: DatabaseSecrets) -> None:
        self._secrets = secrets

    def of(self, options: ExternalOptions) -> "Database":
        """Return the database of these options. Raises SecretError where its connection is not fit to log in."""
        # A crash would leave what this process knows from now on in a file. Its children inherit that.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        access = self._secrets.database(options.connection) if options.connection else DatabaseAccess()
        try:
            return Database(options, access, tls_context(access) if options.tls else None)
        except ValueError as error:
            place = access.names.authority if "authority" in str(error) else access.names.certificate
            mend = f"put the whole PEM, with its BEGIN and END lines, into {place}"
            raise SecretError(str(error), where=f"connection {options.connection!r}", mend=mend) from error


class Database:
    """One such database. `tls`: None where connections are in plain text."""

    def __init__(self, options: ExternalOptions, access: DatabaseAccess, tls: ssl.SSLContext | None) -> None:
        self.options = options
        self._access, self._tls = access, tls

    def session(self, node: str) -> Session:
        """Return a connection to that node. Raises ProviderError with what is in the way, and how to mend it."""
        return Session(node, self.options.port, self._access, self._tls)

    def any_session(self) -> Session:
        """Return a connection to the first contact point that accepts one. Raises ProviderError with all reasons."""
        errors: list[ProviderError] = []
        until = time.monotonic() + _MOST_TRIES_S
        for node in self.options.contact_points:
            if errors and time.monotonic() > until:
                break
            try:
                return self.session(node)
            except ProviderError as error:
                errors.append(error)
        first, *further = errors
        reasons = [first.what, *(error.headline for error in further)]
        raise ProviderError("; ".join(reasons), where=first.where, mend=first.mend)

    def nodes(self) -> tuple[ReportedNode, ...]:
        """Return the nodes of the data centre as one of them reports them, by address. Raises ProviderError."""
        with self.any_session() as session:
            rows = [*session.rows(_LOCAL), *session.rows(_PEERS)]
        return _nodes(rows, self.options.data_centre, self._where)

    def for_clients(self) -> ExternalDatabase:
        """Return what a load generator must know of it."""
        options = self.options
        return ExternalDatabase(
            contact_points=options.contact_points,
            port=options.port,
            data_centre=options.data_centre,
            keyspace=options.keyspace_name,
            is_read_only=options.is_read_only,
            populate_ops_s=options.populate_rate,
            has_tls=options.tls,
            access=self._access,
            nodes_within=(*options.contact_points, *options.node_networks) if self._tells_in_plain_text else (),
        )

    def may_be_logged_in_to(self, address: str) -> bool:
        """Tell whether a node with that address may be sent the password.

        Without TLS whoever writes the database's own tables chooses who gets it.
        """
        if not self._tells_in_plain_text:
            return True
        networks = [ip_network(network) for network in self.options.node_networks]
        return any(ip_address(address) in network for network in networks) or address in self._contact_addresses

    @property
    def _tells_in_plain_text(self) -> bool:
        return self._tls is None and bool(self._access.user)

    @cached_property
    def _contact_addresses(self) -> frozenset[str]:
        found = set[str]()
        for name in self.options.contact_points:
            with suppress(OSError, UnicodeError):  # who connects says so
                found |= {str(told[4][0]) for told in socket.getaddrinfo(name, self.options.port)}
        return frozenset(found)

    @property
    def _where(self) -> str:
        return ", ".join(self.options.contact_points)


def _nodes(rows: Sequence[Mapping[str, str]], data_centre: str, where: str) -> tuple[ReportedNode, ...]:
    known = [row for row in rows if "data_center" in row]  # a node that is about to join has told nothing else yet
    there = [row for row in known if row["data_center"] == data_centre]
    if not there:
        names = shortened(", ".join(sorted({row["data_center"] for row in known})))
        raise ProviderError(f"has no data centre {data_centre!r}", where=where, mend=f"it has: {names}")
    return tuple(sorted((_node(row, where) for row in there), key=lambda node: node.address))


def _node(row: Mapping[str, str], where: str) -> ReportedNode:
    own = row.get("rpc_address", "")
    address = row.get("peer", row.get("broadcast_address", "")) if own in ("", *_ANY_ADDRESS) else own
    try:
        ip_address(address)
    except ValueError as error:
        what = f"tells a node's address that is none: {shortened(address) or 'nothing'}"
        raise ProviderError(what, where=where, mend="see its tables system.local and system.peers") from error
    told = {name: shortened(row.get(name, "")) for name in ("rack", "release_version")}
    return ReportedNode(address=address, data_centre=row["data_center"], **told)
