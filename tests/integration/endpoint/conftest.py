"""A PostgreSQL of somebody else, and what the guide measures it by."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from tests.integration.command_database.guide import guided
from tests.support.nodes.their_postgresql import HOST, PASSWORD, USER, TheirPostgresql, their_postgresql

from plimsoll.bootstrap import full_toolkit
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings


@pytest.fixture(scope="package")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TheirPostgresql]:
    with closing(socket()) as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    with their_postgresql(tmp_path_factory.mktemp("theirs"), port) as postgresql:
        yield postgresql


@pytest.fixture
def tools(theirs: TheirPostgresql, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Toolkit]:
    """`tools(password="…")`: an installation whose environment has the access to it."""
    monkeypatch.setenv("PATH", str(theirs.programs), prepend=":")
    authority = tmp_path / "authority.pem"
    authority.write_text(theirs.authority.pem)

    def made(password: str = PASSWORD, **further: Any) -> Toolkit:
        own: Any = {"store": str(tmp_path / "store"), "work": tmp_path / "work", "cache": Settings().cache}
        secrets = {"database_user": USER, "database_password": password, "database_authority": authority}
        return full_toolkit(Settings.model_validate({**own, **secrets, **further}))

    return made


@pytest.fixture
def definition(theirs: TheirPostgresql) -> Callable[..., Definition]:
    """`definition(name="…", …)`: the guide's, as one short cell, with keys changed."""
    words = {"db.example:5432": f"{HOST}:{theirs.port}"}
    return lambda **changes: guided("staging-postgresql", words, {"scale": 1}, "endpoint.md", **changes)
