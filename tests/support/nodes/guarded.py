"""Real nodes of somebody else: they let nobody in without a password, and speak TLS alone, to clients they trust.

Plimsoll's own product could not ask them for anything, so that only its start of single nodes is used here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support.certificates import Authority, write_stores
from tests.support.nodes.even import EvenProvider
from tests.support.nodes.small import LIFETIME, define
from tests.support.processes import until

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.external.keyspaces import await_agreement
from plimsoll.adapters.native_protocol import Session, tls_context
from plimsoll.adapters.products.cassandra.node import Blueprint, start
from plimsoll.adapters.products.cassandra.node_files import NODE
from plimsoll.adapters.products.cassandra.release import release_of
from plimsoll.adapters.products.nodes.node_state import Patience
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.host import Host
from plimsoll.ports.secrets import DatabaseAccess

PORT, DATA_CENTRE, RELEASE = 9042, "datacenter1", "4.0.1"
USER, PASSWORD = "plimsoll", "not-to-be-seen-anywhere"
_FIRST_USER = "cassandra"
_STORES = "of-their-stores"
_SOON = ("-Dcassandra.superuser_setup_delay_ms=0", "-Dcassandra.ring_delay_ms=2000")


@dataclass(frozen=True)
class Guarded:
    """The nodes, and what their clients need to be let in."""

    nodes: tuple[Host, ...]
    authority: Authority
    access: DatabaseAccess

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(node.info.address for node in self.nodes)

    def session(self, access: DatabaseAccess | None = None) -> Session:
        """Return a connection of the first user, who may do everything."""
        first = replace(self.access, user=_FIRST_USER, password=_FIRST_USER)
        return Session(self.addresses[0], PORT, access or first, tls_context(self.access))

    def state(self) -> Mapping[str, list[Mapping[str, str]]]:
        """Return all that somebody could find changed: schema, roles and their rights, and rows of a table."""
        asked = {
            "keyspaces": "SELECT keyspace_name FROM system_schema.keyspaces",
            "tables": "SELECT keyspace_name, table_name, id FROM system_schema.tables",
            "roles": "SELECT role, salted_hash FROM system_auth.roles",
            "people": "SELECT name FROM theirs.people",
        }
        with self.session() as session:
            state = {what: session.rows(statement) for what, statement in asked.items()}
        # Each node makes the first user when it has seen none for some seconds: another hash of the same password.
        first = {"role": _FIRST_USER, "salted_hash": "any"}
        return {**state, "roles": [first if row["role"] == _FIRST_USER else row for row in state["roles"]]}


@contextmanager
def guarded_cluster(
    artefacts: Artefacts, folder: Path, nodes: int, version: str = RELEASE, data: list[Path] | None = None
) -> Iterator[Guarded]:
    """Provide a cluster with a user who may make keyspaces, and with a table of its own. `data` gets the folders of its
    hosts.
    """
    provider, clock = EvenProvider(folder / "hosts", SystemClock()), SystemClock()
    key = ClusterId(campaign_id="theirs", name="cluster/1")
    expires = clock.now() + LIFETIME
    cluster = provider.ensure(ClusterRequest(id=key, owner="them", nodes=nodes, expires_at=expires, ports=(7000, PORT)))
    try:
        hosts = tuple(provider.host(cluster, info) for info in cluster.nodes)
        addresses = [host.info.address for host in hosts]
        if data is not None:
            data += [Path(host.root) for host in hosts]
        authority = Authority("their authority")
        write_stores(folder, authority, addresses, _STORES)
        blueprint = _blueprint(artefacts, folder, addresses, version)
        patience = Patience(clock, clock.now() + timedelta(minutes=5))
        for host in hosts:
            start(host, blueprint)
            patience.await_line([(host, NODE)], blueprint.release.ready)
        certificate, key_pem = authority.sign("client", [])
        access = DatabaseAccess(USER, PASSWORD, authority.pem, certificate, key_pem)
        guarded = Guarded(hosts, authority, access)
        until(lambda: _is_open(guarded), "the first user of the nodes")
        _furnish(guarded)
        yield guarded
    finally:
        provider.destroy(key)


def _blueprint(artefacts: Artefacts, folder: Path, addresses: list[str], version: str) -> Blueprint:
    definition = define(nodes=len(addresses), heap="384M")
    jvm = definition.variants[0].jvm
    release = release_of(version)
    assert jvm is not None
    assert release is not None
    return Blueprint(
        release=release,
        settings=_settings(folder),
        jvm=jvm.model_copy(update={"flags": (*jvm.flags, *_SOON)}),
        jdk=artefacts.jdk(jvm.jdk, jvm.archive),
        jars=artefacts.database("cassandra", version),
        addresses=addresses,
        replicas=len(addresses),
        expires=LIFETIME,
    )


def _settings(folder: Path) -> dict[str, Any]:
    stores = {
        "keystore": str(folder / "nodes.p12"),
        "truststore": str(folder / "trusted.p12"),
        "keystore_password": _STORES,
        "truststore_password": _STORES,
        "store_type": "PKCS12",
    }
    return {
        "authenticator": "PasswordAuthenticator",
        "authorizer": "CassandraAuthorizer",
        "client_encryption_options": {"enabled": True, "optional": False, "require_client_auth": True, **stores},
    }


def _is_open(guarded: Guarded) -> bool:
    try:
        with guarded.session():
            return True
    except ProviderError:  # the first user is made some time after the node has started
        return False


def _furnish(guarded: Guarded) -> None:
    """Make the user who is let in for loads, and a table with a row that belongs to the cluster's own people.

    Every node knows all users, so that no loss of one locks them out.
    """
    everywhere = {"class": "SimpleStrategy", "replication_factor": len(guarded.nodes)}
    with guarded.session() as session:
        session.change(f"ALTER KEYSPACE system_auth WITH replication = {everywhere}")
        await_agreement(session)
        for statement in (
            f"CREATE ROLE {USER} WITH PASSWORD = '{PASSWORD}' AND LOGIN = true",
            f"GRANT CREATE ON ALL KEYSPACES TO {USER}",
            f"CREATE KEYSPACE theirs WITH replication = {everywhere}",
            "CREATE TABLE theirs.people (name text PRIMARY KEY)",
        ):
            session.change(statement)
        await_agreement(session)
        for statement in (
            "INSERT INTO theirs.people (name) VALUES ('Ada')",
            f"GRANT SELECT ON KEYSPACE theirs TO {USER}",
        ):
            session.change(statement)
