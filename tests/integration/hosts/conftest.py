"""Hosts to hold the Host port's contract against: this machine's own, and one behind a real sshd."""

import os
from pathlib import PurePosixPath

import pytest
from tests.support.processes import end_marked, oldest_python
from tests.support.ssh.sshd import OneKey, make_key, running_sshd
from tests.support.stores.s3 import running_s3

from plimsoll.adapters.local import LocalHost
from plimsoll.adapters.ssh import Connections, SshHost, bundles
from plimsoll.domain.cluster import HostInfo

INFO = HostInfo(name="node1", role="node", address="127.0.0.1", facts={"machine": "here"})
UNWANTED = {"JAVA_TOOL_OPTIONS": "-Xmx1g"}
MIB = 1 << 20


def make_folder(folder, *, big):
    """A folder with an executable, and a file of so many random bytes."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\necho started\n")
    (folder / "bin" / "java").chmod(0o700)
    (folder / "big.jar").write_bytes(os.urandom(big))
    return folder


@pytest.fixture(scope="session")
def user_key(tmp_path_factory):
    return make_key(tmp_path_factory.mktemp("keys"), "user")


@pytest.fixture
def marks(tmp_path):
    """Of everything that a test starts; all of it is ended after the test."""
    yield {"PLIMSOLL_TEST": str(tmp_path)}
    end_marked("PLIMSOLL_TEST", str(tmp_path))


@pytest.fixture
def sshd(tmp_path, user_key):
    with running_sshd(tmp_path / "sshd", [user_key.public], python=oldest_python(), environment=UNWANTED) as server:
        yield server


@pytest.fixture
def connections(user_key):
    pool = Connections(OneKey(user_key.private))
    yield pool
    pool.close()


@pytest.fixture
def connection(sshd, connections):
    return connections.to(sshd.target())


@pytest.fixture
def ssh_host(connection, marks, tmp_path):
    root, bundles = PurePosixPath(tmp_path / "node1"), PurePosixPath(tmp_path / "bundles")
    return SshHost(INFO, root, connection, marks=marks, bundles=bundles)


@pytest.fixture(params=["local", "ssh"])
def host(request, marks, tmp_path, monkeypatch):
    """Either kind of host. Both find an environment that they must not pass on."""
    if request.param == "ssh":
        return request.getfixturevalue("ssh_host")
    for name, value in UNWANTED.items():
        monkeypatch.setenv(name, value)
    return LocalHost(INFO, tmp_path / "node1", marks)


@pytest.fixture
def sent(monkeypatch):
    """Paths that went over SSH, the program's own aside."""
    paths = []
    send = bundles._send

    def noting(connection, bundle, missing, place, where):
        paths.extend(path for path in missing if bundle.name != "onhost")
        send(connection, bundle, missing, place, where)

    monkeypatch.setattr(bundles, "_send", noting)
    return paths


@pytest.fixture
def service():
    """S3 on a loopback address."""
    with running_s3() as running:
        yield running


@pytest.fixture
def store(service):
    return service.store()
