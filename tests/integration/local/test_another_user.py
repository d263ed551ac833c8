"""Another user of the machine listens on the api-server's port before it does, and answers as Airflow would."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.support.suite.requirements import needs

from plimsoll_airflow.local import client
from plimsoll_airflow.local.client import AirflowClient
from plimsoll_airflow.local.home import LOOPBACK, ApiError, reserved
from plimsoll_airflow.local.stack import OwnServers

pytestmark = needs(os.geteuid() == 0, "only root can start a program of another user")

IMPOSTOR = """
import encodings.idna, http.server, json, os, sys
os.setgroups([]), os.setgid(65534), os.setuid(65534)
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200); self.end_headers(); self.wfile.write(json.dumps({"access_token": "x"}).encode())
        print(self.path, content, flush=True)
    do_POST = do_GET
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
print("listens", flush=True)
server.serve_forever()
"""
"""Becomes the user nobody, who may be unable to import more; sets SO_REUSEADDR, as `http.server` does; prints what it
is sent.
"""


@pytest.fixture
def impostor() -> Iterator[tuple[int, "subprocess.Popen[str]"]]:
    """Provide the reserved port, and another user's server that listens on it."""
    with reserved(None) as port:
        command = [sys.executable, "-c", IMPOSTOR, str(port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                assert server.stdout.readline() == "listens\n"
                yield port, server
            finally:
                server.kill()


def test_it_is_sent_no_password(impostor: tuple[int, "subprocess.Popen[str]"], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "RETRY_PAUSE_S", 0.0)
    port, server = impostor
    with AirflowClient(f"http://{LOOPBACK}:{port}", "secret", wire=OwnServers()) as ours:
        for ask in (ours.health, lambda: ours.call("GET", "/dags")):
            with pytest.raises(ApiError, match="no program of this user listens"):
                ask()
    server.kill()
    assert server.stdout.read() == ""


def test_whoever_does_not_look_sends_it(impostor: tuple[int, "subprocess.Popen[str]"]) -> None:
    port, server = impostor
    with AirflowClient(f"http://{LOOPBACK}:{port}", "secret") as careless:
        careless.call("GET", "/dags")
    server.kill()
    assert "secret" in server.stdout.read()
