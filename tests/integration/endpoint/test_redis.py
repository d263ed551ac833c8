"""A Redis that Plimsoll did not start, with a password and TLS, is measured by the guide's script, and left empty."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from tests.integration.command_database.guide import code, guided, need
from tests.integration.endpoint.test_postgresql import texts
from tests.support.campaigns.running import run_cell
from tests.support.certificates import Authority
from tests.support.processes import until

from plimsoll.bootstrap import full_toolkit
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings

HOST, PASSWORD = "127.0.0.1", "not-to-be-seen-anywhere"


@pytest.fixture
def authority() -> Authority:
    return Authority("their authority")


@pytest.fixture
def port(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    need("redis-server", "redis-cli")
    folder = tmp_path_factory.mktemp("theirs")
    with closing(socket()) as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
    for name, text in zip(("node.crt", "node.key"), authority.sign("their node", [HOST]), strict=True):
        (folder / name).write_text(text)
    (folder / "authority.pem").write_text(authority.pem)
    certificates = {"cert-file": "node.crt", "key-file": "node.key", "ca-cert-file": "authority.pem"}
    settings = [f"tls-{name} {folder / file}" for name, file in certificates.items()]
    settings += ["port 0", f"tls-port {port}", f"bind {HOST}", "tls-auth-clients no", "save ''", f"dir {folder}"]
    (folder / "redis.conf").write_text("\n".join([*settings, f"requirepass {PASSWORD}"]).replace("''", '""'))
    argv = ["redis-server", str(folder / "redis.conf")]
    with (folder / "log").open("w") as log, subprocess.Popen(argv, stdout=log, stderr=log) as server:
        try:
            until(lambda: _asked(folder, port, "ping") == "PONG", "their Redis")
            yield port
            assert _asked(folder, port, "dbsize") == "0"
        finally:
            server.terminate()


def _asked(folder: Path, port: int, *words: str) -> str:
    argv = ["redis-cli", "-h", HOST, "-p", str(port), "--tls", "--cacert", str(folder / "authority.pem"), *words]
    environment = {"REDISCLI_AUTH": PASSWORD}
    told = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return told.stdout.strip()


def test_it_is_measured_and_left_as_it_was(port: int, authority: Authority, tmp_path: Path) -> None:
    own: Any = {"store": str(tmp_path / "store"), "work": tmp_path / "work", "database_password": PASSWORD}
    (tmp_path / "authority.pem").write_text(authority.pem)
    tools = full_toolkit(Settings.model_validate({**own, "database_authority": tmp_path / "authority.pem"}))
    script = tmp_path / "redis-load.py"
    script.write_text(code("python", '"""redis-load.py'))
    words = {"db.example:6379": f"{HOST}:{port}", "/opt/redis-load.py": str(script), "python3": sys.executable}
    definition, said = guided("staging-redis", words, {"rows": "1k"}, "endpoint.md"), list[str]()
    assert problems(tools, definition) == ()
    CampaignStore(tools.store, definition.name).open(definition)
    _, verdict = run_cell(tools, definition.name, said.append)
    assert (verdict.outcome, verdict.reasons) == ("met", ())
    assert verdict.operations == pytest.approx(600, abs=6)
    assert PASSWORD not in "".join([*said, *texts(tmp_path)])
