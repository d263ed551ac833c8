"""The two paths of docs/guides/rest.md hold for a search in rounds.

`system/instant/test_rest.py` takes them on a running Airflow, with a full grid.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.support.suite.requirements import needs

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "guides" / "rest.md").read_text(encoding="utf-8")
HERE = "/plimsoll/api/v1/campaigns/sought"
OTHER = {"dag_run_id": "round__other__1", "state": "queued", "conf": {"campaign_id": "other"}}
SCHEDULED = {"dag_run_id": "scheduled__1", "state": "queued", "conf": None}
# An hour goes by at each pause.
BASH = "sleep() { SECONDS=$((SECONDS + 3600)); }\n"
PYTHON = """import time
_now = [0.0]
time.monotonic = lambda: _now[0]
time.sleep = lambda _: _now.append(_now.pop() + 3600)
"""


class Search:
    """A search of so many rounds. A round ends at the third look at the runs that live."""

    def __init__(self, rounds: int, ends: str = "complete") -> None:
        self.rounds, self.ends, self.looks = rounds, ends, 0

    @property
    def round(self) -> int:
        return min(self.looks // 3, self.rounds)

    @property
    def is_over(self) -> bool:
        return self.round == self.rounds

    @property
    def status(self) -> dict[str, object]:
        state = self.ends if self.is_over else "incomplete"
        return {"state": state, "counts": {"met": self.round}, "published": state == "complete"}

    def answer(self, path: str) -> object:
        """Return what is at that address, or None."""
        place, _, query = path.partition("?")
        if place == "/auth/token":
            return {"access_token": "secret"}
        if place == "/api/v2/dags/sought/dagRuns" and query:
            assert query == "state=queued&state=running"
            self.looks += 1
            live = [] if self.is_over else [self._run(self.round, "running")]
            return {"dag_runs": [OTHER, SCHEDULED, *live]}
        if run := re.fullmatch(r"/api/v2/dags/sought/dagRuns(?:/round__sought__(\d+))?", place):
            number = int(run[1] or 0)
            return self._run(number, "success")
        found = {
            "/api/v2/dags/sought": {},
            "/plimsoll/api/v1/definitions/sought/plan": {"totals": {}, "cost": None},
            HERE: self.status,
            f"{HERE}/capacity": [
                {"variant": "v1", "kind": "found" if self.is_over else "unknown", "capacity_ops_s": 2}
            ],
        }
        if self.status["published"]:
            found[f"{HERE}/report/report.json"] = {"campaign_id": "sought"}
        return found.get(place)

    def _run(self, number: int, state: str) -> dict[str, object]:
        return {"dag_run_id": f"round__sought__{number}", "state": state, "conf": {"campaign_id": "sought"}}


@contextmanager
def served(search: Search) -> Iterator[Mapping[str, str]]:
    """Serve it, and give the variables that the document takes for given."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = search.answer(self.path)
            body = json.dumps({"detail": "there is none"} if found is None else found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PATCH = do_GET  # noqa: N815  # as the server looks for them

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        given = {"PASSWORD": "secret", "DEFINITION": "sought", "CAMPAIGN": "sought", "NO_PROXY": "127.0.0.1"}
        yield {**os.environ, **given, "no_proxy": "127.0.0.1", "AIRFLOW": f"http://127.0.0.1:{server.server_port}"}
        server.shutdown()
        thread.join()


def done(command: list[str], search: Search, folder: Path) -> subprocess.CompletedProcess[str]:
    with served(search) as environment:
        return subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )


def with_curl(search: Search, folder: Path) -> subprocess.CompletedProcess[str]:
    return done(["bash", "-euo", "pipefail", "-c", BASH + blocks("bash")], search, folder)


def with_python(search: Search, folder: Path) -> subprocess.CompletedProcess[str]:
    return done([sys.executable, "-c", PYTHON + blocks("python")], search, folder)


def blocks(language: str) -> str:
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL))


curl = needs(bool(shutil.which("curl") and shutil.which("jq")), "curl and jq are not installed")


@curl
@pytest.mark.parametrize("rounds", [1, 3])
def test_the_curl_commands_wait_for_the_last_round(rounds: int, tmp_path: Path) -> None:
    ended = with_curl(Search(rounds), tmp_path)

    assert ended.returncode == 0, ended.stderr
    assert "the campaign is complete" in ended.stdout
    assert '{"variant":"v1","kind":"found","capacity_ops_s":2}' in ended.stdout
    assert json.loads((tmp_path / "report.json").read_text()) == {"campaign_id": "sought"}


@curl
def test_the_curl_commands_tell_of_a_campaign_that_ends_incomplete(tmp_path: Path) -> None:
    ended = with_curl(Search(2, ends="incomplete"), tmp_path)

    assert ended.returncode != 0  # there is no report
    assert "the campaign is incomplete" in ended.stdout


@curl
def test_the_curl_commands_wait_no_longer_than_the_token_is_valid(tmp_path: Path) -> None:
    search = Search(1000)

    assert "the campaign is incomplete" in with_curl(search, tmp_path).stdout
    assert search.looks == 24


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_python_client_waits_for_the_last_round(rounds: int, tmp_path: Path) -> None:
    ended = with_python(Search(rounds), tmp_path)

    assert (ended.stdout, ended.returncode) == ("v1 found 2\n", 0), ended.stderr


@pytest.mark.parametrize("search", [Search(2, ends="incomplete"), Search(1000)], ids=["incomplete", "endless"])
def test_the_python_client_ends_without_a_report(search: Search, tmp_path: Path) -> None:
    ended = with_python(search, tmp_path)

    assert ended.returncode != 0
    assert "the campaign is incomplete, without a report" in ended.stderr
    assert search.looks <= 24


def test_the_python_client_is_short() -> None:
    assert len([line for line in blocks("python").splitlines() if line.strip()]) <= 30
