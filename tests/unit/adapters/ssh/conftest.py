"""Hosts over SSH of which each is a folder with a lease in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.unit.adapters.ssh.leased import FURTHER_LOAD, LOAD, NODES, group_of

from plimsoll.adapters.hosts.onhost import lease
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.adapters.providers.ssh.member import Member
from plimsoll.domain.text.errors import Unreachable
from plimsoll.ports.provider import Places


@pytest.fixture
def silent() -> set[str]:
    """Addresses that do not answer."""
    return set()


@pytest.fixture
def asked() -> list[tuple[str, str]]:
    """The commands that were sent, each with the address of the host."""
    return []


@pytest.fixture
def provider(
    tmp_path: Path, silent: set[str], asked: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> SshProvider:
    commands: dict[str, Callable[[Path, Any], Any]] = {
        "lease-read": lambda folder, _: lease.read(folder),
        "lease-take": lambda folder, asked: lease.take(folder, asked["lease"]),
        "lease-take-over": lambda folder, asked: lease.take_over(folder, asked["lease"], asked["seen"], list),
        "lease-renew": lambda folder, asked: lease.renew(folder, asked["lease"]),
        "lease-ready": lambda folder, asked: lease.ready(folder, asked["key"]),
        "lease-release": lambda folder, asked: lease.release(folder, asked["key"]),
        "clean": lambda *_: [],
        "clear": lambda *_: [],
    }

    def ask(member: Member, command: str, timeout_s: float = 0, **request: Any) -> Any:
        asked.append((command, member.options.address))
        if member.options.address in silent:
            raise Unreachable("can't be reached", where=member.options.address)
        return commands[command](tmp_path / member.options.target("").address, request)

    monkeypatch.setattr(Member, "ask", ask)
    group = group_of("rack1", NODES, [LOAD, FURTHER_LOAD])
    secrets: Any = None
    places = Places(({"groups": [group], "folder": "/srv/plimsoll"},))
    return SshProvider(Connections(secrets), SteppingClock()).at(places)
