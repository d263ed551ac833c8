"""How the load generator logs in: a server of this process sees who comes, and with which certificate."""

import json
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.integration.stress.program import JVM, Program
from tests.support.certificates import Authority
from tests.support.processes import PATIENCE_S

SECRET = "not-to-be-seen"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("theirs")


@pytest.fixture
def server(authority: Authority, tmp_path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """The port of a server at two addresses, of which its certificate names one, and what trusted clients sent it."""
    (tmp_path / "node.pem").write_text("".join(authority.sign("node", ["127.0.0.1"])))
    (tmp_path / "authority.pem").write_text(authority.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "node.pem")
    context.load_verify_locations(tmp_path / "authority.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    sent: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with socket.create_server(("127.0.0.2", port)) as nameless:
            for one in (listening, nameless):
                Thread(target=serve, args=(one, context, sent), daemon=True).start()
            yield port, sent


def serve(listening: socket.socket, context: ssl.SSLContext, sent: list[bytes]) -> None:
    while True:
        try:
            client, _ = listening.accept()
        except OSError:  # closed with the test
            return
        try:
            with context.wrap_socket(client, server_side=True) as encrypted:
                sent.append(encrypted.recv(100))
        except OSError:
            continue


@pytest.fixture
def log_in(program: Program) -> Callable[..., tuple[int, str]]:
    """`log_in(text, host, port)`: exit code and output of a load that reads this from its standard input."""

    def run(text: str, host: str = "127.0.0.1", port: int = 1) -> tuple[int, str]:
        where = ("--host", host, "--port", str(port), "--dc", "dc", "--access-on-stdin")
        load = ("run", "KeyValue", "--rate", "10", "-d", "2s", *where)
        argv = [str(program.java), *JVM, "-cp", program.class_path, program.main, *load]
        ended = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    return run


@pytest.mark.parametrize(
    "text", [f'{{"password": {SECRET}', json.dumps({"tls": True, "ca": SECRET}), "x" * 70_000, f'["{SECRET}"]', "null"]
)
def test_what_can_not_be_read_is_refused_without_showing_it(log_in: Any, text: str) -> None:
    code, said = log_in(text)
    assert (code, SECRET in said) == (2, False)
    assert "on standard input can't be read" in said


def test_a_certificate_without_its_key_is_refused(log_in: Any, authority: Authority) -> None:
    code, said = log_in(json.dumps({**access(authority), "key": ""}))
    assert code == 2
    assert "on standard input is a certificate without its key: give both, or neither" in said
    assert "\tat " not in said


@pytest.mark.parametrize(
    ("host", "changes", "reason"),
    [
        ("127.0.0.1", {}, ""),
        ("127.0.0.1", {"ca": Authority("another").pem}, "unable to find valid certification path"),
        ("127.0.0.2", {}, "No subject alternative names matching IP address 127.0.0.2"),
        ("127.0.0.1", {"certificate": "", "key": ""}, "cannot connect"),
    ],
)
def test_certificates_are_shown_and_verified_with_their_names(
    log_in: Any, server: tuple[int, list[bytes]], authority: Authority, host: str, changes: Any, reason: str
) -> None:
    port, sent = server
    code, said = log_in(json.dumps({**access(authority), **changes}), host, port)
    assert (code, SECRET in said) == (3, False)  # this server is no database
    assert reason in said
    assert bool(sent) == (not reason)


def access(authority: Authority) -> dict[str, Any]:
    certificate, key = authority.sign("client", [])
    return {
        "user": "me",
        "password": SECRET,
        "tls": True,
        "ca": authority.pem,
        "certificate": certificate,
        "key": key,
    }


@pytest.mark.parametrize(
    ("names", "reason"), [(["localhost"], ""), (None, "names no host"), (["127.0.0.1"], "names no host")]
)
def test_a_common_name_is_no_hosts(log_in: Any, authority: Authority, tmp_path: Path, names: Any, reason: str) -> None:
    """Its common name is the host's name in each."""
    signed = authority.sign("localhost", [] if names == ["localhost"] else names)
    (tmp_path / "named.pem").write_text("".join(signed))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "named.pem")
    sent: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=serve, args=(listening, context, sent), daemon=True).start()
        code, said = log_in(json.dumps(access(authority)), "localhost", listening.getsockname()[1])
    assert (code, bool(sent)) == (3, not reason)
    assert reason in said
