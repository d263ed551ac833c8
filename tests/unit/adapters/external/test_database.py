"""To whom a password may be sent, and what keeps it from files."""

import resource
from typing import Any, cast

import pytest

from plimsoll.adapters.external.database import Database, Databases
from plimsoll.adapters.external.endpoint_options import read_options
from plimsoll.adapters.external.options import ExternalOptions
from plimsoll.adapters.providers.external.checks import database_problems
from plimsoll.domain.hosts.fingerprint import ReportedNode
from plimsoll.ports.secrets import DatabaseAccess

WRITTEN = {
    "contact_points": ["127.0.0.1"],
    "data_centre": "dc1",
    "connection": "theirs",
    "keyspace": "bench",
    "tls": False,
}
ACCESS = DatabaseAccess("me", "secret")


def options(**changes: Any) -> ExternalOptions:
    return ExternalOptions.model_validate({**WRITTEN, **changes})


@pytest.mark.parametrize(
    ("changes", "access", "others"),
    [
        ({}, ACCESS, False),
        ({"node_networks": ["10.0.0.0/24"]}, ACCESS, True),
        ({"node_networks": ["10.0.1.0/24", "::/0"]}, ACCESS, False),
        ({}, DatabaseAccess(), True),
    ],
)
def test_without_tls_a_password_goes_to_contact_points_and_allowed_networks_alone(
    changes: Any, access: DatabaseAccess, others: bool
) -> None:
    database = Database(options(**changes), access, None)
    assert database.may_be_logged_in_to("127.0.0.1")
    assert database.may_be_logged_in_to("10.0.0.7") == others
    within = database.for_clients().nodes_within
    assert within == (("127.0.0.1", *changes.get("node_networks", ())) if access.user else ())


def test_with_tls_every_node_proves_who_it_is() -> None:
    database = Database(options(), ACCESS, cast(Any, "a context"))
    assert database.may_be_logged_in_to("10.0.0.7")
    assert database.for_clients().nodes_within == ()


def test_a_network_that_is_none_is_told() -> None:
    found = read_options({**WRITTEN, "node_networks": ["10.0.0.7/24"]})
    assert "is no network such as 10.0.0.0/24" in str(found)


class Planted:
    """A database that tells of a node somewhere else."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.asked: list[str] = []
        self.judged: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def session(self, node: str) -> Any:
        self.asked.append(node)
        return self

    def may_be_logged_in_to(self, address: str) -> bool:
        self.judged.append(address)
        return self._database.may_be_logged_in_to(address)

    def any_session(self) -> Any:
        return self

    def __enter__(self) -> "Planted":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def rows(self, _: str) -> list[Any]:
        return []

    def nodes(self) -> tuple[ReportedNode, ...]:
        told = {"data_centre": "dc1", "rack": "r1", "release_version": "4.0.1"}
        return tuple(ReportedNode(address=address, **told) for address in ("127.0.0.1", "192.0.2.66"))


def test_a_node_that_the_database_names_elsewhere_is_refused_and_never_asked() -> None:
    planted = Planted(Database(options(port=1), ACCESS, None))
    databases = cast(Any, planted)
    planted.of = lambda _: planted  # type: ignore[attr-defined]
    [problem] = database_problems(2, options(port=1), databases)
    assert problem.where == "provider.options.node_networks"
    assert "192.0.2.66 is no contact point, and would be sent the password in plain text" in problem.what
    assert planted.asked == ["127.0.0.1"]
    assert planted.judged == ["192.0.2.66"]


def test_whoever_knows_the_password_leaves_no_core(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []
    monkeypatch.setattr("plimsoll.adapters.external.database.resource.setrlimit", lambda *one: limits.append(one))
    Databases(cast(Any, None)).of(options(connection=""))
    assert limits == [(resource.RLIMIT_CORE, (0, 0))]
