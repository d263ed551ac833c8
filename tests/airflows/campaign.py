"""Run a campaign by `airflow standalone`, from the trigger to the report, as somebody with an Airflow would.

    python -m tests.airflows.campaign [--real]

Everything of Airflow is as it comes: executor, database, DAGs folder. Plimsoll is what this environment has installed.
Cells are instant, and begin once somebody has approved them. With `--real` there is one, on a real node of Cassandra,
and Airflow sees nothing of the checkout.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import httpx
from tests.fakes.gated import DEAR, toolkit
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.local_definition import ONE_INTERVAL, local_definition
from tests.support.processes import CHECKOUT, end_marked, until

import plimsoll
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.keys.trigger import Approve
from plimsoll.prefix import dag_id_of
from plimsoll_airflow.local.client import AirflowClient, DagRun
from plimsoll_airflow.local.demo import CampaignRun
from plimsoll_airflow.local.home import ApiError
from plimsoll_airflow.local.shutdown import destroy_clusters
from plimsoll_airflow.runs.ownership import APPROVE_TASK, AWAITS_ANSWER

PATIENCE_S = 900.0
OF_FAKES = ("PLIMSOLL_TOOLKIT", "PLIMSOLL_CACHE", "PYTHONPATH")


def main() -> None:
    """Run the campaign and say what was found. Raises AssertionError where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", action="store_true", help="one cell on one real node, not four instant ones")
    is_real = parser.parse_args().real
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that nothing is left running
    assert not Path(plimsoll.__file__).is_relative_to(CHECKOUT), "this environment has an editable installation"
    with tempfile.TemporaryDirectory(prefix="plimsoll-airflow-") as folder:
        home, installation = Path(folder) / "airflow", Installation(Path(folder) / "plimsoll", toolkit)
        definition = installation.define(real_definition() if is_real else dear_definition())
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environment = environment_of(home, installation, port)
        if is_real:
            environment = {name: value for name, value in environment.items() if name not in OF_FAKES}
        with standalone(environment, Path(folder) / "log"):
            run_campaign(home, environment, f"http://127.0.0.1:{port}", installation, definition)


def real_definition() -> Definition:
    """Return one cell on one node, with one judged interval."""
    small = local_definition("mine", variants=1, nodes=1).model_dump(mode="json")
    patient = {**small["system"], "start_within": "15m"}
    return Definition.model_validate({**small, **ONE_INTERVAL, "system": patient, "loads": ["50/s"]})


def dear_definition() -> Definition:
    """Return four instant cells, which a person must approve."""
    instant = instant_definition("mine", parallel=1, load_s=2)
    rule = Approve.model_validate({"above": "1 USD"})
    return instant.model_copy(update={"provider": ProviderChoice(name=DEAR), "approve": rule})


def environment_of(home: Path, installation: Installation, port: int) -> Mapping[str, str]:
    """Return the environment of a new Airflow, whose DAGs folder has a file with one line."""
    (home / "dags").mkdir(parents=True)
    (home / "dags" / "benchmarks.py").write_text("from plimsoll_airflow.dags import make_dags; make_dags()\n")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")},
        **installation.environment,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(CHECKOUT),  # for the fakes alone
        "SPT_NOENV": "1",  # else titles of processes are written over the mark by which they are found
        "PLIMSOLL_PREFIX": os.environ["PLIMSOLL_PREFIX"],
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
    }


@contextmanager
def standalone(environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """Run `airflow standalone`, all processes of which end with the block."""
    with log.open("wb") as output:
        started = subprocess.Popen(
            ["airflow", "standalone"], env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            yield
        except BaseException:
            print(log.read_text(errors="replace")[-5_000:])
            raise
        finally:
            end_marked("AIRFLOW_HOME", environment["AIRFLOW_HOME"])
            started.wait(timeout=30)
            destroy_clusters(environment, others=True)


def run_campaign(
    home: Path, environment: Mapping[str, str], url: str, installation: Installation, definition: Definition
) -> None:
    """Make the pool, unpause and trigger the DAG, and look at the report by the API of Plimsoll's plugin."""
    passwords = home / "simple_auth_manager_passwords.json.generated"
    until(passwords.exists, "the password of a new Airflow", patience_s=PATIENCE_S)
    password = json.loads(passwords.read_text())["admin"]
    with AirflowClient(url, password) as client:
        dag_ids = [dag_id_of("cell"), dag_id_of("reaper"), definition.dag_id]
        until(lambda: _answers(client) and all(map(client.dag, dag_ids)), "the DAGs", patience_s=PATIENCE_S)
        client.set_pool(f"{environment['PLIMSOLL_PREFIX']}clusters", 2, "How many clusters may live at once")
        client.unpause(definition.dag_id)
        checked = subprocess.run(
            ["plimsoll", "doctor", "--airflow"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        print(checked.stdout)
        assert checked.returncode == 0, checked.stderr
        run = client.trigger(definition.dag_id, {"campaign_id": "mine-1"}, run_id="mine-1")
        if definition.approve:
            approve(client, run, url, password)
        until(lambda: client.dag_run(run.dag_id, run.run_id).is_final, "the campaign's end", patience_s=PATIENCE_S)
        ended = client.dag_run(run.dag_id, run.run_id)
        failures = CampaignRun(client, installation.toolkit.store, definition, ended).failures()
        assert ended.state == "success", "\n".join(failures)
    with logged_in(url, password) as http:
        pages = f"/{environment['PLIMSOLL_PREFIX'].strip('_')}"
        status = http.get(f"{pages}/api/v1/campaigns/mine-1").raise_for_status().json()
        expected = {"state": "complete", "cells": len(grid(resolve(definition))), "published": True}
        assert expected.items() <= status.items(), status
        assert [one["by"] for one in status.get("approvals", ())] == (["admin"] if definition.approve else [])
        for place in ("", "campaigns/mine-1", "campaigns/mine-1/report"):
            assert http.get(f"{pages}/{place}").raise_for_status().text
        require_one_at_a_time(http)
    print(f"a campaign of {status['cells']} cells ran to its report")


@contextmanager
def logged_in(url: str, password: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, trust_env=False, timeout=30) as http:
        token = http.post("/auth/token", json={"username": "admin", "password": password}).json()["access_token"]
        http.headers["Authorization"] = f"Bearer {token}"
        yield http


def approve(client: AirflowClient, run: DagRun, url: str, password: str) -> None:
    """Wait for the run's question, and answer it."""

    def is_asked() -> bool:
        tasks = client.task_instances(run.dag_id, run.run_id)
        return any(task.task_id == APPROVE_TASK and task.state in AWAITS_ANSWER for task in tasks)

    until(is_asked, lambda: f"the question: {client.task_instances(run.dag_id, run.run_id)}", patience_s=PATIENCE_S)
    with logged_in(url, password) as http:
        place = f"/api/v2/dags/{run.dag_id}/dagRuns/{run.run_id}/taskInstances/{APPROVE_TASK}/-1/hitlDetails"
        http.patch(place, json={"chosen_options": ["Approve"]}).raise_for_status()


def require_one_at_a_time(http: httpx.Client) -> None:
    """Look that no cell began before the one before it had ended, though the pool had room for two."""
    runs = http.get(f"/api/v2/dags/{dag_id_of('cell')}/dagRuns").raise_for_status().json()["dag_runs"]
    times = sorted((run["start_date"], run["end_date"]) for run in runs)
    assert all(ended <= began for (_, ended), (began, _) in pairwise(times)), times


def _answers(client: AirflowClient) -> bool:
    try:
        client.health()
    except ApiError:
        return False
    return True


if __name__ == "__main__":
    main()
