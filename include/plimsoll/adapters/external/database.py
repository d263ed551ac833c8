"""A database of somebody else that speaks CQL: connections to it, and what its own tables tell of its nodes. And how
this process gets the secrets of any database of somebody else.
"""

import resource
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from ipaddress import ip_address, ip_network

from plimsoll.adapters.external.options import ExternalOptions
from plimsoll.adapters.native_protocol import Session, tls_context
from plimsoll.domain.hosts.fingerprint import ReportedNode
from plimsoll.domain.text.errors import ProviderError, SecretError
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.provider import ExternalDatabase
from plimsoll.ports.secrets import DatabaseAccess, DatabaseSecrets

_LOCAL = "SELECT data_center, rack, release_version, rpc_address, broadcast_address FROM system.local"
_PEERS = "SELECT data_center, rack, release_version, rpc_address, peer FROM system.peers"
_MOST_TRIES_S = 60.0
"""The time after which no further contact point is tried."""
_ANY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - what a node tells that listens on all of its addresses


def access_of(secrets: DatabaseSecrets, connection: str) -> DatabaseAccess:
    """Return the connection's access; an empty one where none is named. Raises SecretError where it can't be had."""
    # A crash would leave what this process knows from now on in a file. Its children inherit that.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return secrets.database(connection) if connection else DatabaseAccess()


class Databases:
    """The databases that definitions name, with the secrets of their connections. Nothing is remembered."""

    def __init__(self, secrets: DatabaseSecrets) -> None:
        self._secrets = secrets

    def of(self, options: ExternalOptions) -> "Database":
        """Return the database of these options. Raises SecretError where its connection is not fit to log in."""
        access = access_of(self._secrets, options.connection)
        try:
            return Database(options, access, tls_context(access) if options.tls else None)
        except ValueError as error:
            name = access.names.authority if "authority" in str(error) else access.names.certificate
            mend = f"put the whole PEM, with its BEGIN and END lines, into {name}"
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
        known = [row for row in rows if "data_center" in row]  # a node that is about to join has told nothing else yet
        data_centre, where = self.options.data_centre, ", ".join(self.options.contact_points)
        of_data_centre = [row for row in known if row["data_center"] == data_centre]
        if not of_data_centre:
            names = shortened(", ".join(sorted({row["data_center"] for row in known})))
            raise ProviderError(f"has no data centre {data_centre!r}", where=where, mend=f"it has: {names}")
        return tuple(sorted((_node(row, where) for row in of_data_centre), key=lambda node: node.address))

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
        addresses = set[str]()
        for name in self.options.contact_points:
            with suppress(OSError, UnicodeError):  # who connects says so
                addresses |= {str(entry[4][0]) for entry in socket.getaddrinfo(name, self.options.port)}
        return frozenset(addresses)


def _node(row: Mapping[str, str], where: str) -> ReportedNode:
    own = row.get("rpc_address", "")
    address = row.get("peer", row.get("broadcast_address", "")) if own in ("", *_ANY_ADDRESS) else own
    try:
        ip_address(address)
    except ValueError as error:
        what = f"tells a node's address that is none: {shortened(address) or 'nothing'}"
        raise ProviderError(what, where=where, mend="see its tables system.local and system.peers") from error
    further = {name: shortened(row.get(name, "")) for name in ("rack", "release_version")}
    return ReportedNode(address=address, data_centre=row["data_center"], **further)
