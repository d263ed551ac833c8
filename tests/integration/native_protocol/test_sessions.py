"""Connections to whatever answers: what is wrong is named in a line, and nothing takes endless time or memory."""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import SHUT_RDWR, SHUT_WR, create_server, socket
from ssl import CERT_REQUIRED, PROTOCOL_TLS_SERVER, SSLContext, SSLError
from threading import Thread

import pytest
from tests.support.certificates import Authority

from plimsoll.adapters.external.database import Database
from plimsoll.adapters.external.options import ExternalOptions
from plimsoll.adapters.native_protocol import Session, tls_context
from plimsoll.adapters.native_protocol.frames import HEADER, Opcode
from plimsoll.adapters.secrets import DatabaseVariables, EnvironmentSecrets
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.secrets import AccessNames, DatabaseAccess

Answer = Callable[[socket], None]


@contextmanager
def listening(answer: Answer) -> Iterator[int]:
    """Provide the port of a server that gives each connection that answer, one after the other."""
    with create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:  # closed
                    return
                with connection:
                    try:
                        answer(connection)
                    except OSError:  # the client has what it needs
                        continue

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(SHUT_RDWR)
    thread.join()


def frame(opcode: Opcode, body: bytes) -> bytes:
    return HEADER.pack(0x84, 0, 0, opcode, len(body)) + body


def text(words: str) -> bytes:
    return struct.pack(">H", len(words)) + words.encode()


def test_what_a_database_says_is_one_short_line() -> None:
    words = "no\n" * 20_000
    refusal = frame(Opcode.ERROR, struct.pack(">i", 0x1001) + text(words))

    def refuse(connection: socket) -> None:
        connection.recv(1000)
        connection.sendall(refusal)

    with listening(refuse) as port, pytest.raises(ProviderError) as refused:
        Session("127.0.0.1", port, DatabaseAccess(), None)
    assert "the database refuses: no no" in refused.value.what
    assert "\n" not in refused.value.what
    assert len(refused.value.what) < 500


def test_a_name_that_is_none_is_told_as_such() -> None:
    with pytest.raises(ProviderError, match="is no name that can have an address"):
        Session("x" * 70, 9042, DatabaseAccess(), None)


def test_log_in_ends_in_its_time_however_slowly_and_often_the_other_side_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock stands for all steps together: each of them alone would be in time."""
    now = [0.0]
    monkeypatch.setattr("plimsoll.adapters.native_protocol.time.monotonic", lambda: now[0])

    def drip(connection: socket) -> None:
        connection.recv(1000)
        connection.sendall(frame(Opcode.AUTHENTICATE, text("a")))
        now[0] = 1000.0
        connection.recv(1000)
        connection.recv(1000)  # until the client has gone

    with listening(drip) as port, pytest.raises(ProviderError, match="timed out"):
        Session("127.0.0.1", port, DatabaseAccess("me", "secret"), None)


def rows(*addresses: str) -> bytes:
    columns = ("data_center", "rpc_address")
    head = struct.pack(">iii", 2, 1, len(columns)) + text("system") + text("peers")
    kinds = b"".join(text(name) + struct.pack(">H", 0x000D) for name in columns)
    values = b"".join(struct.pack(">i", len(cell)) + cell.encode() for one in addresses for cell in ("dc1", one))
    return frame(Opcode.RESULT, head + kinds + struct.pack(">i", len(addresses)) + values)


def test_an_address_that_is_none_is_not_believed() -> None:
    def answer(connection: socket) -> None:
        connection.recv(1000)
        connection.sendall(frame(Opcode.READY, b""))
        for _ in range(2):
            connection.recv(1000)
            connection.sendall(rows("10.0.0.1,10.9.9.9"))

    with listening(answer) as port:
        options = ExternalOptions.model_validate(
            {"contact_points": ["127.0.0.1"], "port": port, "data_centre": "dc1", "keyspace": "bench", "tls": False}
        )
        with pytest.raises(ProviderError, match=r"tells a node's address that is none: 10\.0\.0\.1,10"):
            Database(options, DatabaseAccess(), None).nodes()


@contextmanager
def encrypted(folder: Path, certificate: str, key: str, trusted: str = "") -> Iterator[int]:
    """Provide the port of a node with that certificate, which asks for clients' if it trusts an authority."""
    (folder / "node.pem").write_text(key + certificate)
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "node.pem")
    if trusted:
        context.load_verify_locations(cadata=trusted)
        context.verify_mode = CERT_REQUIRED

    def answer(connection: socket) -> None:
        with connection.dup() as plain:
            try:
                with context.wrap_socket(connection, server_side=True) as inside:
                    inside.recv(1000)
            except SSLError:  # an end with something unread would overtake the reason that was sent
                plain.shutdown(SHUT_WR)
                while plain.recv(1000):
                    continue

    with listening(answer) as port:
        yield port


def refusal_of(port: int, access: DatabaseAccess, node: str = "localhost") -> ProviderError:
    with pytest.raises(ProviderError) as refused:
        Session(node, port, access, tls_context(access))
    return refused.value


AUTHORITY = Authority("theirs")
EXPIRED = Authority("theirs, of old", days=-1)


def test_an_expired_certificate_is_to_be_renewed(tmp_path: Path) -> None:
    with encrypted(tmp_path, *EXPIRED.sign("localhost", [])) as port:
        refused = refusal_of(port, DatabaseAccess(authority=EXPIRED.pem))
    assert "certificate has expired" in refused.what
    assert refused.mend.startswith("renew the node's certificate")


def test_a_certificate_with_a_common_name_alone_is_nobodys(tmp_path: Path) -> None:
    with encrypted(tmp_path, *AUTHORITY.sign("localhost", None)) as port:
        refused = refusal_of(port, DatabaseAccess(authority=AUTHORITY.pem))
    assert "certificate is of another host" in refused.what
    assert "SAN" in refused.mend


def test_an_authority_that_is_not_known_is_to_be_put_where_it_is_read_from(tmp_path: Path) -> None:
    (tmp_path / "authority").write_text(Authority("another").pem)
    variables = EnvironmentSecrets(None, "", DatabaseVariables(authority=tmp_path / "authority"))
    with encrypted(tmp_path, *AUTHORITY.sign("localhost", [])) as port:
        on_the_command_line = refusal_of(port, variables.database("theirs"))
        in_airflow = refusal_of(port, DatabaseAccess(authority=Authority("another").pem))
    assert on_the_command_line.mend.endswith("into the file that PLIMSOLL_DATABASE_AUTHORITY names")
    assert in_airflow.mend.endswith("into `authority` in the connection's extras")


@pytest.mark.parametrize(
    ("certificate", "what", "mend"),
    [
        (("", ""), "asks for a client certificate", "give "),
        (EXPIRED.sign("client", []), "client's certificate has expired", "renew "),
        (Authority("another").sign("client", []), "refuses the client's certificate", "let an authority"),
    ],
)
def test_a_client_certificate_that_a_node_refuses(
    certificate: tuple[str, str], what: str, mend: str, tmp_path: Path
) -> None:
    with encrypted(tmp_path, *AUTHORITY.sign("localhost", []), AUTHORITY.pem + EXPIRED.pem) as port:
        refused = refusal_of(port, DatabaseAccess("", "", AUTHORITY.pem, *certificate))
    assert what in refused.what
    assert refused.mend.startswith(mend)
    assert AccessNames().certificate in refused.mend
