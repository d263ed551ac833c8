"""A real Airflow for tests: the same stack as that of `make up`, in a home of its own, until the block ends."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.support.airflow.migrated import lay_migrated_database
from tests.support.processes import CHECKOUT, pause_s

from plimsoll_airflow.local import processes
from plimsoll_airflow.local.client import AirflowClient, DagRun
from plimsoll_airflow.local.home import Home, administrator
from plimsoll_airflow.local.launcher import Record
from plimsoll_airflow.local.process_environment import StackSettings
from plimsoll_airflow.local.shutdown import destroy_clusters
from plimsoll_airflow.local.stack import Stack

POLL_S = 0.2
RUN_TIMEOUT_S = 240.0
_READY_S = 600.0
"""The longest start, s. Several Airflows may start at once on a busy machine."""


@dataclass(frozen=True)
class StackUnderTest:
    """A running stack, and a client of it."""

    stack: Stack
    running: Record
    client: AirflowClient

    def connect(self, name: str, *, extra: Mapping[str, str], **values: str) -> None:
        """Add a connection to Airflow's database, as its UI does."""
        body = {"connection_id": name, "extra": json.dumps(extra), **values}
        user = administrator(self.stack.settings.users).name
        with AirflowClient(self.running.url, self.stack.home.password_of(user), user=user) as api:
            api.call("POST", "/connections", json=body)

    def run_to_end(
        self, dag_id: str, conf: Mapping[str, Any], *, timeout_s: float = RUN_TIMEOUT_S, poll_s: float = POLL_S
    ) -> DagRun:
        """Trigger a DAG and wait for the run's end. Returns the run as it ended."""
        self.client.unpause(dag_id)
        return self.wait_for(self.client.trigger(dag_id, conf), timeout_s=timeout_s, poll_s=poll_s)

    def wait_for(self, run: DagRun, *, timeout_s: float = RUN_TIMEOUT_S, poll_s: float = POLL_S) -> DagRun:
        """Wait for a run's end. The longer it takes, the less often Airflow is asked.

        An answer costs Airflow more time if the run has more tasks. Asking five times a second takes a tenth of a
        processor.
        """
        began = time.monotonic()
        while not (current := self.client.dag_run(run.dag_id, run.run_id)).is_final:
            waited = time.monotonic() - began
            assert waited < timeout_s, f"{run.run_id} is still {current.state} after {timeout_s:.0f} s"
            time.sleep(max(poll_s, pause_s(waited)))
        return current


def settings_for(folder: Path, *, dags: Path, env: Mapping[str, str] | None = None) -> StackSettings:
    """Return the settings of a stack with all files below `folder` and any free port."""
    return StackSettings(
        dags=dags,
        store=str(folder / "store"),
        cache=folder / "cache",
        work=folder / "work",
        campaigns=folder / "campaigns",
        port=None,
        extra=env or {},
    )


@contextmanager
def running_stack(
    folder: Path,
    *,
    dags: Path = CHECKOUT / "dags",
    env: Mapping[str, str] | None = None,
    dag_ids: Sequence[str] = (),
) -> Iterator[StackUnderTest]:
    """Provide an Airflow with these DAGs, whose home, store, work and campaigns are in `folder`.

    It is ready when `dag_ids` are parsed. Its processes get `env`, which replaces all other settings. All of them have
    ended after the block.
    """
    settings = settings_for(folder, dags=dags, env=env)
    stack = Stack(Home(folder / "airflow"), settings, destroy_clusters=destroy_clusters)
    stack.home.create()
    lay_migrated_database(stack.home)
    try:
        with patient_start():
            running = stack.up(dag_ids, kept=False)
        with stack.client(running) as client:
            yield StackUnderTest(stack, running, client)
    finally:
        stack.down(others=True)
        assert not processes.members(stack.home)


@contextmanager
def patient_start() -> Iterator[None]:
    """Give an Airflow that starts inside the block as long as it takes on a busy machine."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("plimsoll_airflow.local.stack.READY_TIMEOUT_S", _READY_S)
        yield


def listening_addresses(home: Home) -> set[str]:
    """Return the addresses that processes of a stack listen on.

    Only root can look into processes that are not dumpable.
    """
    found = set()
    for member in processes.members(home):
        with suppress(psutil.AccessDenied, psutil.NoSuchProcess):  # a worker may have ended meanwhile
            connections = member.process.net_connections("inet")
            found |= {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}
    return found
