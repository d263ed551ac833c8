"""The connections of a process: none is opened here."""

from typing import Any

import pytest
from tests.unit.adapters.ssh.host_key_line import LINE

from plimsoll.adapters.providers.ssh import Connections, Target
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.ports.secrets import AwsAccess, SshIdentity


class NoKeys:
    def ssh_identity(self, connection_id: Any) -> SshIdentity:
        return SshIdentity("me", "")

    def aws(self, connection_id: str) -> AwsAccess:
        raise AssertionError


@pytest.fixture
def pool() -> Connections:
    return Connections(NoKeys())


def target(number: Any) -> Target:
    return Target(f"10.0.0.{number}", LINE, "bench")


def test_a_host_has_one_connection(pool: Connections) -> None:
    assert pool.to(target(1)) is pool.to(target(1))
    assert pool.to(target(1)) is not pool.to(target(2))


def test_what_nobody_uses_is_closed_and_made_anew(pool: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    monkeypatch.setattr(Connection, "close", lambda one: closed.append(one.target))
    first = pool.to(target(1))
    monkeypatch.setattr(Connection, "idle_s", lambda one: 601.0 if one.target == target(1) else 0.0)
    pool.to(target(2))
    assert closed == [target(1)]
    assert pool.to(target(1)) is not first


def test_nothing_of_another_process_is_used(pool: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pool.to(target(1))
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.connection.os.getpid", lambda: -1)
    assert pool.to(target(1)) is not first
