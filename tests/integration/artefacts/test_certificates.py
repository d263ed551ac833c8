"""Downloads through a company's proxy that opens TLS with a certificate of its own authority."""

import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server, socket

import pytest
from tests.support.certificates import Authority

from plimsoll.adapters.artefacts import Archives
from plimsoll.adapters.artefacts.jdks import download
from plimsoll.adapters.artefacts.maven import LockedJar, fetch
from plimsoll.domain.keys.variant import Archive
from plimsoll.domain.text.errors import ArtefactError, UntrustedServer

ARCHIVE = Archive(url="https://archives.example/jdk.tar.gz", sha256="0" * 64)
JAR = LockedJar(coordinates="org.x:a:1", sha256="0" * 64, size_bytes=5)


@dataclass
class Proxy:
    """Answers every request by 404, whatever server was meant. `authority`: a file with what signed its certificate."""

    authority: Path
    connections: list[str] = field(default_factory=list)


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    authority = Authority("a company")
    certificate, key = authority.sign("archives.example", [])
    for name, text in (("ca.pem", authority.pem), ("own.pem", certificate), ("own.key", key)):
        (tmp_path / name).write_text(text)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "own.pem", tmp_path / "own.key")
    found = Proxy(tmp_path / "ca.pem")

    def answer(client: socket) -> None:
        with client:
            found.connections.append(client.recv(4096).decode())
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            try:
                with context.wrap_socket(client, server_side=True) as opened:
                    opened.recv(4096)
                    opened.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            except OSError:  # whoever does not trust the certificate hangs up
                pass

    def serve(server: socket) -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(client,), daemon=True).start()

    with create_server(("127.0.0.1", 0)) as server:
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.lower(), raising=False)
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{server.getsockname()[1]}")
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        yield found


def jar(folder: Path) -> None:
    list(fetch([JAR], folder))


def wheel(folder: Path) -> None:
    download("nothing-of-that-name==1", folder)


def archive(folder: Path) -> None:
    Archives().unpack(ARCHIVE, folder / "unpacked", folder)


KINDS = [(jar, "REQUESTS_CA_BUNDLE", 1), (archive, "SSL_CERT_FILE", 1), (wheel, "PIP_CERT", 4)]


@pytest.mark.parametrize(("get", "variable", "tries"), KINDS)
def test_the_first_refusal_ends_it_with_the_variable_that_is_read(
    proxy: Proxy, tmp_path: Path, get: Callable[[Path], None], variable: str, tries: int
) -> None:
    with pytest.raises(UntrustedServer, match=f"certificate is refused: unable to get[^`]*set {variable} to the file"):
        get(tmp_path)
    assert len(proxy.connections) == tries  # pip tries again by itself


@pytest.mark.parametrize(("get", "variable", "_"), KINDS)
def test_a_file_of_authorities_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, get: Callable[[Path], None], variable: str, _: int
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "none.pem"))
    with pytest.raises(UntrustedServer, match=rf"{variable} names .*none\.pem, which is not there"):
        get(tmp_path)


def test_with_that_variable_the_server_is_trusted(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(proxy.authority))
    with pytest.raises(ArtefactError, match="the server answers 404"):
        archive(tmp_path)


def test_an_archive_in_a_bucket_asks_for_the_authorities_of_its_own_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    in_bucket = Archive(url="s3://jdks/jdk.tar.gz", sha256="0" * 64)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(ArtefactError, match="there is no access to S3 here"):
        Archives().unpack(in_bucket, tmp_path / "unpacked", tmp_path)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "none.pem"))
    with pytest.raises(UntrustedServer, match=r"AWS_CA_BUNDLE names .*none\.pem, which is not there"):
        Archives().unpack(in_bucket, tmp_path / "unpacked", tmp_path)
