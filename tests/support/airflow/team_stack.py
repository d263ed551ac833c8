"""A team's Airflow for tests: CeleryExecutor with two workers, PostgreSQL and Redis, all as plain processes.

It has the settings of docker-compose.yaml, except for those that belong to containers.
"""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from celery import Celery
from ruamel.yaml import YAML
from tests.support.airflow.stack import StackUnderTest, running_stack
from tests.support.processes import CHECKOUT, until

from plimsoll_airflow.local import processes
from plimsoll_airflow.local.stack import Stack
from plimsoll_airflow.runs.ownership import INSTALLATION_ENVIRONMENT

WORKERS = ("ada", "grace")
QUEUE = "default"
REDIS = shutil.which("redis-server")
_OF_CONTAINERS = ("AIRFLOW__CORE__AUTH_MANAGER", "AIRFLOW__CORE__EXECUTION_API_SERVER_URL", "AIRFLOW__LOGGING__")
_OF_ONE_MACHINE = {
    "AIRFLOW__CELERY__WORKER_CONCURRENCY": "8",
    "AIRFLOW__CELERY__SYNC_PARALLELISM": "1",
    # PostgreSQL allows only a few connections here.
    "AIRFLOW__DATABASE__SQL_ALCHEMY_POOL_SIZE": "2",
    "AIRFLOW__SCHEDULER__ENABLE_HEALTH_CHECK": "False",
    "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.5",
}


@dataclass(frozen=True)
class Team(StackUnderTest):
    """A running stack with workers, and their broker."""

    broker: Celery

    @contextmanager
    def unpaused(self, dag_id: str) -> Iterator[None]:
        """Let runs of the DAG start inside the block, and those of its schedule too."""
        self.client.unpause(dag_id)
        try:
            yield
        finally:
            self.client.call("PATCH", f"/dags/{dag_id}", json={"is_paused": True})

    def let_take_tasks(self, worker: str, *, allowed: bool) -> None:
        """Let the worker take tasks from the queue, or keep it from doing so."""
        control = self.broker.control
        change = control.add_consumer if allowed else control.cancel_consumer
        [answer] = change(QUEUE, destination=[_node(worker)], reply=True, timeout=30)
        assert "ok" in answer[_node(worker)]

    def tasks_done(self) -> Mapping[str, int]:
        """Return the number of tasks that each worker has taken since its start."""
        stats = self.broker.control.inspect(timeout=30, limit=len(WORKERS)).stats()
        return {worker: sum(stats[_node(worker)]["total"].values()) for worker in WORKERS}

    def processes_of(self, worker: str) -> Sequence[psutil.Process]:
        """Return the worker's main process and all its descendants."""
        return [member.process for member in processes.members(self.stack.home) if member.component == worker]

    def kill(self, worker: str) -> None:
        """Send SIGKILL to all processes of the worker."""
        killed = self.processes_of(worker)
        for process in killed:
            processes.send(process, signal.SIGKILL)
        psutil.wait_procs(killed, timeout=30)


@contextmanager
def running_team(folder: Path, *, env: Mapping[str, str], dag_ids: Sequence[str]) -> Iterator[Team]:
    """Provide a team's Airflow with workers that are ready. All of its processes have ended after the block."""
    with _running_redis() as broker, Celery(broker=broker) as app, _told_no_id():
        variables = {**shipped_settings(), **_OF_ONE_MACHINE, "AIRFLOW__CELERY__BROKER_URL": broker, **env}
        with running_stack(folder, env=variables, dag_ids=dag_ids) as airflow:
            team = Team(airflow.stack, airflow.running, airflow.client, app)
            for name in WORKERS:
                _start_worker(team, name)
            until(
                lambda: len(app.control.ping(timeout=5, limit=len(WORKERS))) == len(WORKERS), "workers", patience_s=240
            )
            yield team


def shipped_settings() -> Mapping[str, str]:
    """Return the environment of a worker in docker-compose.yaml, without secrets and paths."""
    services: dict[str, Any] = YAML(typ="safe").load(CHECKOUT / "docker-compose.yaml")["services"]
    environment = services["worker"]["environment"]
    settings = {name: str(value) for name, value in environment.items() if name.startswith("AIRFLOW_")}
    return {
        name: value for name, value in settings.items() if "${" not in value and not name.startswith(_OF_CONTAINERS)
    }


def _start_worker(team: Team, name: str) -> None:
    command = processes.airflow_command(["celery", "worker", "--skip-serve-logs", "--celery-hostname", _node(name)])
    processes.start(name, command, team.stack.home, team.stack.environment(team.running.port))


def _node(worker: str) -> str:
    return f"{worker}@localhost"


@contextmanager
def _told_no_id() -> Iterator[None]:
    """Let the scheduler make the id of the Airflow, and workers ask for it; the local stack tells its
    processes.
    """
    given = Stack.environment

    def without_id(stack: Stack, port: int) -> dict[str, str]:
        return {name: value for name, value in given(stack, port).items() if name != INSTALLATION_ENVIRONMENT}

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Stack, "environment", without_id)
        yield


@contextmanager
def _running_redis() -> Iterator[str]:
    """Run Redis on a socket of its own. Yields its URL for Celery."""
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:  # a socket's path must be short
        socket = Path(folder) / "socket"
        options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"]
        with subprocess.Popen([REDIS or "redis-server", *options], cwd=folder, stdout=subprocess.DEVNULL) as server:
            try:
                until(socket.exists, "Redis' socket")
                yield f"redis+socket://{socket}"
            finally:
                server.kill()
