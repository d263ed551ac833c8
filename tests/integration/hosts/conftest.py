"""Hosts to hold the Host port's contract against: this machine's own, and one behind a real sshd."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.support.processes import end_marked, oldest_python
from tests.support.ssh.host_folder import INFO
from tests.support.ssh.sshd import KeyPair, OneKey, Sshd, make_key, running_sshd
from tests.support.stores.s3 import S3Service, running_s3

from plimsoll.adapters.providers.local import LocalHost
from plimsoll.adapters.providers.ssh import Connections, SshHost, bundles
from plimsoll.adapters.providers.ssh.bundles import Bundle
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.adapters.stores.s3_store import S3Store

UNWANTED = {"JAVA_TOOL_OPTIONS": "-Xmx1g"}


@pytest.fixture(scope="session")
def user_key(tmp_path_factory: pytest.TempPathFactory) -> KeyPair:
    return make_key(tmp_path_factory.mktemp("keys"), "user")


@pytest.fixture
def tags(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Provide the tags of everything that a test starts, and end all of it after the test."""
    yield {"PLIMSOLL_TEST": str(tmp_path)}
    end_marked("PLIMSOLL_TEST", str(tmp_path))


@pytest.fixture
def sshd(tmp_path: Path, user_key: KeyPair) -> Iterator[Sshd]:
    with running_sshd(tmp_path / "sshd", [user_key.public], python=oldest_python(), environment=UNWANTED) as server:
        yield server


@pytest.fixture
def connections(user_key: KeyPair) -> Iterator[Connections]:
    pool = Connections(OneKey(user_key.private))
    yield pool
    pool.close()


@pytest.fixture
def connection(sshd: Sshd, connections: Connections) -> Any:
    return connections.to(sshd.target())


@pytest.fixture
def ssh_host(connection: Any, tags: dict[str, Any], tmp_path: Path) -> SshHost:
    root, bundles = PurePosixPath(tmp_path / "node1"), PurePosixPath(tmp_path / "bundles")
    return SshHost(INFO, root, connection, tags=tags, bundles=bundles)


@pytest.fixture(scope="module")
def shared_sshd(tmp_path_factory: pytest.TempPathFactory, user_key: KeyPair) -> Iterator[Sshd]:
    """Provide one server for the tests of a file to which nothing of it matters but that it is a real one."""
    folder = tmp_path_factory.mktemp("shared")
    with running_sshd(folder, [user_key.public], python=oldest_python(), environment=UNWANTED) as server:
        yield server


@pytest.fixture(scope="module")
def shared_connection(shared_sshd: Sshd, user_key: KeyPair) -> Iterator[Connection]:
    pool = Connections(OneKey(user_key.private))
    yield pool.to(shared_sshd.target())
    pool.close()


@pytest.fixture
def plain_ssh_host(shared_sshd: Sshd, shared_connection: Connection, tags: dict[str, Any], tmp_path: Path) -> SshHost:
    """Provide a folder of its own on a server, over a connection and with a program that earlier tests may have
    used.
    """
    bundles = PurePosixPath(shared_sshd.folder, "bundles")
    return SshHost(INFO, PurePosixPath(tmp_path / "node1"), shared_connection, tags=tags, bundles=bundles)


@pytest.fixture(params=["local", "ssh"])
def host(request: pytest.FixtureRequest, tags: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Provide either kind of host. Both find an environment that they must not pass on."""
    if request.param == "ssh":
        return request.getfixturevalue("plain_ssh_host")
    for name, value in UNWANTED.items():
        monkeypatch.setenv(name, value)
    return LocalHost(INFO, tmp_path / "node1", tags)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect paths that go over SSH, the program's own aside."""
    paths = []
    send = bundles.send

    def noting(connection: Any, bundle: Bundle, missing: Any, place: Any, where: Any) -> None:
        paths.extend(path for path in missing if bundle.name != "onhost")
        send(connection, bundle, missing, place, where)

    monkeypatch.setattr(bundles, "send", noting)
    return paths


@pytest.fixture
def service() -> Iterator[S3Service]:
    """Provide S3 on a loopback address."""
    with running_s3() as running:
        yield running


@pytest.fixture
def store(service: S3Service) -> S3Store:
    return service.store()
