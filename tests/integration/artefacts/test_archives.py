"""A JDK from an archive that a definition names, from a real server and from S3."""

import hashlib
import http.server
import io
import os
import socket
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.integration.artefacts.given_jdk import given

from plimsoll.adapters.artefacts import Archives, Artefacts, archives
from plimsoll.domain.keys.variant import Archive
from plimsoll.domain.text.errors import ArtefactError


@pytest.fixture
def packed(tmp_path: Path) -> Any:
    """Provide a JDK as Azul packs it: one folder, named after the release."""
    given(tmp_path / "made", "zing", version="11.0.13.0.101", name="Zing 64-Bit Tiered VM")
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        tar.add(tmp_path / "made" / "given" / "zing", "zing21.11-jdk11.0.13")
    return stream.getvalue()


def archive_of(content: Any, url: Any) -> Archive:
    return Archive(url=url, sha256=hashlib.sha256(content).hexdigest())


@pytest.fixture
def serve() -> Iterator[Callable[..., Any]]:
    """Serve these answers, one a request, the last one ever after; returns the URL."""
    servers = []

    def served(*answers: Any) -> str:
        waiting = list(answers)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, content, *location = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                self.send_response(status)
                for place in location:
                    self.send_header("Location", place)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        servers.append(http.server.HTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, args=(0.05,), daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/prime.tar.gz"

    yield served
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)


def test_it_is_fetched_once_and_used(tmp_path: Path, serve: Callable[..., Any], packed: Any) -> None:
    archive = archive_of(packed, serve((503, b""), (200, packed), (404, b"")))
    artefacts = Artefacts(tmp_path / "cache", print)
    assert artefacts.jdk("prime-11.0.13", archive).version == "11.0.13.0.101"
    assert artefacts.collectors("prime-11.0.13", archive) == {"C4"}
    assert artefacts.jdk("prime-11.0.13", archive).home.name == "zing21.11-jdk11.0.13"


def test_it_comes_from_a_bucket(tmp_path: Path, packed: Any) -> None:
    def get_object(**request: Any) -> dict[str, Any]:
        assert request == {"Bucket": "mine", "Key": "jdks/prime.tar.gz"}
        body = SimpleNamespace(iter_chunks=lambda _: iter([packed]), close=lambda: None)
        return {"Body": body}

    s3 = Archives(lambda: SimpleNamespace(get_object=get_object))
    archive = archive_of(packed, "s3://mine/jdks/prime.tar.gz")
    found = Artefacts(tmp_path / "cache", print, archives=s3).jdk("prime-11.0.13", archive)
    assert found.version == "11.0.13.0.101"


def test_another_content_is_refused_and_leaves_nothing(tmp_path: Path, serve: Callable[..., Any], packed: Any) -> None:
    archive = Archive(url=serve((200, packed)), sha256="ab" * 32)
    with pytest.raises(ArtefactError, match="its sha256 is not abab") as refused:
        Artefacts(tmp_path / "cache", print).jdk("prime-11.0.13", archive)
    assert hashlib.sha256(packed).hexdigest() not in str(refused.value)
    assert not list((tmp_path / "cache").glob("archives/*"))


def test_an_address_that_has_nothing_is_named(tmp_path: Path, serve: Callable[..., Any]) -> None:
    archive = Archive(url=serve((404, b"")), sha256="ab" * 32)
    with pytest.raises(ArtefactError, match=r"prime\.tar\.gz[\s\S]*404[\s\S]*`archive`"):
        Artefacts(tmp_path / "cache", print).jdk("prime-11.0.13", archive)


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://127.0.0.1:9/prime.tar.gz", "redirects to an address without https"),
        ("http://169.254.169.254/latest/meta-data/", "redirects to an address without https"),
        ("file:///etc/passwd", "redirects to an address without https"),
        ("https://169.254.169.254/latest/meta-data/", "link-local"),
        ("https://[::ffff:169.254.169.254]/", "link-local"),
        ("https://[fe80::1]/", "link-local"),
        ("https://inner.example/", "link-local"),
    ],
)
def test_a_redirect_leads_to_no_service_of_the_machine_s_own_network(
    tmp_path: Path, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, location: str, why: str
) -> None:
    resolve = socket.getaddrinfo
    inner = {"inner.example": "169.254.169.254"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **more: resolve(inner.get(host, host), *rest, **more)
    )
    archive = Archive(url=serve((302, b"", location)), sha256="ab" * 32)
    with pytest.raises(ArtefactError, match=why):
        Artefacts(tmp_path / "cache", print).jdk("prime-11.0.13", archive)


def test_a_link_local_address_is_not_asked_at_all(tmp_path: Path) -> None:
    archive = Archive(url="http://169.254.169.254/latest/meta-data/", sha256="ab" * 32)
    with pytest.raises(ArtefactError, match="link-local"):
        Artefacts(tmp_path / "cache", print).jdk("prime-11.0.13", archive)


def test_an_archive_has_a_folder_of_its_own_whatever_jdk_it_says_it_is(
    tmp_path: Path, serve: Callable[..., Any], packed: Any
) -> None:
    archive = archive_of(packed, serve((200, packed)))
    artefacts = Artefacts(tmp_path / "cache", print)
    artefacts.jdk("openjdk-11.0.13", archive)
    assert [path.name for path in (tmp_path / "cache" / "archives").iterdir()] == [archive.sha256]
    assert not (tmp_path / "cache" / "jdks").exists()


def test_a_process_reads_an_archive_s_files_before_it_uses_them(
    tmp_path: Path, serve: Callable[..., Any], packed: Any
) -> None:
    archive = archive_of(packed, serve((200, packed)))
    java = Artefacts(tmp_path / "cache", print).jdk("prime-11.0.13", archive).java
    content, times = java.read_bytes(), java.stat()
    with java.open("r+b") as file:  # with the same size, time and inode
        file.write(content.replace(b"11.0.13", b"99.9.99"))
    os.utime(java, ns=(times.st_atime_ns, times.st_mtime_ns))
    Artefacts(tmp_path / "cache", print).jdk("prime-11.0.13", archive)
    assert java.read_bytes() == content


@pytest.fixture
def endless() -> Iterator[str]:
    """Provide the URL of an archive of which a block of 1 KiB comes, and nothing more until the client has gone."""
    over = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 1024)
            over.wait()

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/prime.tar.gz"
    over.set()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("bound", "most", "what"),
    [("MOST_BYTES", 1000, "larger than 1000 bytes"), ("MOST_S", 0.0, "longer than the 0 s .*: 1024 bytes have")],
)
def test_what_never_ends_is_given_up_at_once(
    tmp_path: Path, endless: str, monkeypatch: pytest.MonkeyPatch, bound: str, most: float, what: str
) -> None:
    monkeypatch.setattr(archives, bound, most)
    with pytest.raises(ArtefactError, match=what):
        Artefacts(tmp_path / "cache", print).jdk("prime-11.0.13", Archive(url=endless, sha256="ab" * 32))
    assert not list((tmp_path / "cache").glob("archives/*"))


def test_an_archive_of_something_else_is_said(tmp_path: Path, serve: Callable[..., Any]) -> None:
    for content, what in ((b"<html>", "can't be unpacked"), (_empty(), "no bin/java")):
        archive = archive_of(content, serve((200, content)))
        with pytest.raises(ArtefactError, match=what):
            Artefacts(tmp_path / "cache", print).jdk("prime-11.0.13", archive)


def _empty() -> Any:
    stream = io.BytesIO()
    tarfile.open(fileobj=stream, mode="w:gz").close()
    return stream.getvalue()
