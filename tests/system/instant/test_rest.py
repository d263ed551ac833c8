"""Plimsoll by REST, on a running Airflow: the path that docs/guides/rest.md shows, word for word, and *Run again*."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import PATIENCE_S, until
from tests.support.suite.requirements import long, needs
from tests.system.instant.definitions import DEFINITIONS

from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

DEFINITION = DEFINITIONS["by-rest"]
MET, FAILING = "v1-001k-r1", "v1-002k-r1"
TIMEOUT_S = 600

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def airflow(shared_airflow: StackUnderTest) -> StackUnderTest:
    shared_airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    return shared_airflow


@pytest.fixture
def environment(airflow: StackUnderTest) -> Mapping[str, str]:
    """Provide the variables that the document takes for given."""
    return {
        **os.environ,
        "AIRFLOW": f"http://127.0.0.1:{airflow.running.port}",
        "PASSWORD": airflow.stack.home.password_of("admin"),
        "DEFINITION": DEFINITION.name,
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


def blocks(checkout: Path, language: str) -> str:
    text = (checkout / "docs" / "guides" / "rest.md").read_text()
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL))


@needs(bool(shutil.which("curl") and shutil.which("jq")), "curl and jq are not installed")
def test_the_documents_curl_commands_lead_from_a_token_to_a_capacity(
    environment: Mapping[str, str], checkout: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", blocks(checkout, "bash")],
        env={**environment, "CAMPAIGN": "with-curl"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "the campaign is complete" in done.stdout
    assert '{"variant":"v1","kind":"at-least","capacity_ops_s":2000}' in done.stdout
    assert json.loads((tmp_path / "report.json").read_text())["campaign_id"] == "with-curl"


@long("the commands above do the same")
def test_the_documents_python_client_does_the_same(environment: Mapping[str, str], checkout: Path) -> None:
    program = blocks(checkout, "python")
    assert len([line for line in program.splitlines() if line.strip()]) <= 30

    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "CAMPAIGN": "with-python"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )

    assert (done.stdout, done.returncode) == ("v1 at-least 2000\n", 0), done.stderr


def test_the_gate_names_the_failed_cell_which_alone_runs_again_while_everything_else_stays(
    airflow: StackUnderTest, installation: Installation, environment: Mapping[str, str]
) -> None:
    campaign = CampaignStore(installation.toolkit.store, "again")
    with installation.faults.planted(FAILING, "load"):
        failed = airflow.run_to_end("by_rest", {"campaign_id": "again"}, timeout_s=TIMEOUT_S)
    tasks = airflow.client.task_instances("by_rest", failed.run_id)
    gate = next(task for task in tasks if task.task_id == "quality_gate")
    before = layout.MANIFEST.read(campaign.store, campaign.key(MET, 1))

    with closing(_logged_in(environment)) as browser:
        page = browser.get("/plimsoll/campaigns/again").text
        token = re.search(r'name="token" value="([^"]+)"', page)
        assert token
        answer = browser.post("/plimsoll/campaigns/again/again", data={"token": token[1], "cell": FAILING})
        assert answer.status_code == 303, answer.text
        _await(browser, "again", "complete")

    run = airflow.client.dag_runs("by_rest")[0]
    assert sorted(task.state or "" for task in tasks if task.name.startswith("run_cell")) == ["failed", "success"]
    assert FAILING in "\n".join(airflow.client.task_errors(failed, gate))
    assert (failed.state, airflow.wait_for(run, timeout_s=TIMEOUT_S).state) == ("failed", "success")
    assert [key.attempt for key in campaign.attempts(MET)] == [1]
    assert layout.MANIFEST.read(campaign.store, campaign.key(MET, 1)) == before
    verdicts = [layout.VERDICT.read(campaign.store, key) for key in campaign.attempts(FAILING)]
    assert [verdict and verdict.valid for verdict in verdicts] == [False, True]


def _logged_in(environment: Mapping[str, str]) -> httpx.Client:
    """Return a client that is logged in as a browser is: by a cookie."""
    http = httpx.Client(
        base_url=environment["AIRFLOW"], timeout=PATIENCE_S, trust_env=False, headers={"Sec-Fetch-Site": "same-origin"}
    )
    login = {"username": "admin", "password": environment["PASSWORD"]}
    http.cookies.set("_token", http.post("/auth/token", json=login).raise_for_status().json()["access_token"])
    return http


def _await(http: httpx.Client, campaign_id: str, state: str) -> None:
    def found() -> str:
        return str(http.get(f"/plimsoll/api/v1/campaigns/{campaign_id}").json()["state"])

    until(lambda: found() == state, lambda: f"a campaign that is {state}: it is {found()}", patience_s=TIMEOUT_S)
