"""A MariaDB that Plimsoll did not start is measured by sysbench, left as it was, and its password seen nowhere."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from tests.integration.command_database.guide import guided, need
from tests.integration.endpoint.test_postgresql import texts
from tests.support.campaigns.running import run_cell
from tests.support.processes import until

from plimsoll.bootstrap import full_toolkit
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings

HOST, PASSWORD = "127.0.0.1", "not-to-be-seen-anywhere"
_AS_ROOT = () if os.geteuid() else ("--user=root",)


@pytest.fixture
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    need("mariadbd", "mariadb-install-db", "mariadb-admin", "mariadb", "sysbench")
    folder = tmp_path_factory.mktemp("theirs")
    with closing(socket()) as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
    made = ["mariadb-install-db", "--no-defaults", *_AS_ROOT, f"--datadir={folder}/data", "--skip-test-db"]
    subprocess.run([*made, "--auth-root-authentication-method=normal"], check=True, capture_output=True, timeout=120)
    argv = ["mariadbd", "--no-defaults", *_AS_ROOT, f"--datadir={folder}/data", f"--bind-address={HOST}"]
    files = [f"--port={port}", f"--socket={folder}/socket", f"--pid-file={folder}/pid"]
    with (folder / "log").open("w") as log, subprocess.Popen([*argv, *files], stdout=log, stderr=log) as server:
        try:
            until(lambda: _asked(folder, "SELECT 1") == ["1"], "their MariaDB")
            _asked(folder, f"CREATE USER bench@{HOST} IDENTIFIED BY '{PASSWORD}'")
            _asked(folder, rf"GRANT ALL ON `plimsoll\_%`.* TO bench@{HOST}")
            yield port
            assert not [name for name in _asked(folder, "SHOW DATABASES") if name.startswith("plimsoll_")]
        finally:
            server.terminate()


def _asked(folder: Path, statement: str) -> list[str]:
    argv = ["mariadb", "--no-defaults", f"--socket={folder}/socket", "--user=root", "-BN", f"--execute={statement}"]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60).stdout.split()


def test_it_is_measured_and_left_as_it_was(port: int, tmp_path: Path) -> None:
    own: Any = {"store": str(tmp_path / "store"), "work": tmp_path / "work", "database_password": PASSWORD}
    tools = full_toolkit(Settings.model_validate({**own, "database_user": "bench"}))
    words = {"db.example:3306": f"{HOST}:{port}", "--report-interval=10": "--report-interval=2"}
    definition, said = guided("staging-mariadb", words, {"rows": "1k"}, "endpoint.md", loads=["20/s"]), list[str]()
    assert problems(tools, definition) == ()
    CampaignStore(tools.store, definition.name).open(definition)
    _, verdict = run_cell(tools, definition.name, said.append)
    # It draws its schedule at random, so of so few operations 1 % may be missing.
    assert set(verdict.invalidated_by) <= {"load generator", "rate"}, verdict.reasons
    assert verdict.operations > 20
    assert PASSWORD not in "".join([*said, *texts(tmp_path)])
