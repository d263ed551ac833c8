"""What is in the way of a load is told before anything is loaded: what it is, where, and how to mend it."""

import socket
from collections.abc import Callable, Iterator
from socketserver import BaseRequestHandler, TCPServer
from threading import Thread
from typing import Any

import pytest
from tests.support.certificates import Authority
from tests.support.nodes.guarded import PORT, Guarded

from plimsoll.domain.text.errors import Problem
from plimsoll.services.campaign.open.runnable import problems


@pytest.fixture
def only(site: Any, definition: Any, theirs: Guarded) -> Callable[..., Problem]:
    """`only(options={…}, password=…)`: the only problem of a definition with one contact point, and an access."""

    def found(*, options: Any = (), keys: Any = None, **changes: Any) -> Problem:
        one = {"contact_points": [theirs.addresses[0]], **dict(options)}
        [problem] = dict.fromkeys(problems(site(**changes).tools, definition(options=one, **(keys or {}))))
        return problem

    return found


def test_nothing_is_in_the_way(site: Any, definition: Any) -> None:
    assert problems(site().tools, definition()) == ()


def test_a_wrong_password(only: Any) -> None:
    problem = only(password="wrong")
    assert problem.where == "provider.options.contact_points[0]"
    assert "refuses user and password" in problem.what
    assert problem.mend == "correct PLIMSOLL_DATABASE_USER and PLIMSOLL_DATABASE_PASSWORD"
    assert "wrong" not in str(problem)


def test_no_password(only: Any) -> None:
    assert "asks for a user and a password" in only(user="").what


def test_an_authority_that_has_not_signed_the_nodes_certificate(only: Any) -> None:
    problem = only(authority=Authority("another").pem)
    assert "certificate is not trusted" in problem.what
    assert "authority" in problem.mend


def test_a_node_that_is_reached_by_a_name_that_its_certificate_lacks(only: Any, theirs: Guarded) -> None:
    problem = only(options={"contact_points": [f"{theirs.addresses[0]}.nip.invalid"]})
    assert "no address is known for that name" in problem.what


def test_a_client_without_the_certificate_that_the_nodes_ask_for(only: Any) -> None:
    problem = only(certificate="", key="")
    assert "asks for a client certificate" in str(problem)
    assert "PLIMSOLL_DATABASE_CERTIFICATE" in problem.mend


def test_plain_text_where_the_nodes_speak_tls(only: Any) -> None:
    problem = only(options={"tls": False})
    assert "tls: true" in problem.mend


def test_a_dead_contact_point_beside_living_ones(only: Any, theirs: Guarded) -> None:
    dead = theirs.addresses[0].rpartition(".")[0] + ".99"
    problem = only(options={"contact_points": [*theirs.addresses, dead]})
    assert problem.where == f"provider.options.contact_points[{len(theirs.addresses)}]"
    assert problem.what == f"{dead}:{PORT}: does not accept a connection: Connection refused"
    assert "start the node" in problem.mend


class Greeting(BaseRequestHandler):
    """Greets as an sshd does."""

    def handle(self) -> None:
        self.request.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
        self.request.recv(100)


@pytest.fixture
def sshd() -> Iterator[int]:
    """The port of a host that is no Cassandra, and answers."""
    with TCPServer(("127.0.0.1", 0), Greeting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_a_host_that_is_no_cassandra(only: Any, sshd: int) -> None:
    problem = only(options={"contact_points": ["127.0.0.1"], "port": sshd, "tls": False})
    assert "no Cassandra" in problem.what
    assert "9042" in problem.mend


def test_a_host_that_never_answers(only: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.adapters.native_protocol.ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        problem = only(options={"contact_points": ["127.0.0.1"], "port": silent.getsockname()[1], "tls": False})
    assert "timed out" in problem.what


def test_a_data_centre_and_a_number_of_nodes_that_are_not_there(only: Any, theirs: Guarded) -> None:
    assert "it has: datacenter1" in only(options={"data_centre": "dc9"}).mend
    more = len(theirs.addresses) + 1
    problem = only(keys={"system": {"database": "external", "nodes": more}})
    assert problem.where == "system.nodes"
    assert problem.mend.startswith(f"write {more - 1}")


def test_a_keyspace_of_theirs(only: Any) -> None:
    problem = only(options={"keyspace": "theirs"})
    assert problem.where == "provider.options.keyspace"
    assert "which Plimsoll has not made" in problem.what


def test_a_keyspace_to_read_that_is_not_there(only: Any) -> None:
    reads = {"name": "reads", "share": 1, "statement": "SELECT * FROM people LIMIT 1"}
    workload = {"name": "cql", "replication_factor": 1, "operations": [reads]}
    keyspace = {"existing": "elsewhere", "read_only": True}
    assert only(options={"keyspace": keyspace}, keys={"workload": workload}).what == "there is no keyspace 'elsewhere'"
