"""The executor of `make up` when a worker of it is killed, by real processes without a scheduler and a database."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.processes import SOURCES

PATIENCE_S = 120.0
_SCENE = """
import os, signal, sys, time
from types import SimpleNamespace
from airflow.executors.base_executor import BaseExecutor
from plimsoll_airflow.internals import executor as module

def run(workload, **_):
    if workload.display_name == "kills its worker":
        os.kill(os.getpid(), signal.SIGKILL)

def give(name):
    executor.queued_tasks[name] = workload = SimpleNamespace(
        key=name, display_name=name, running_state=None, success_state="success", failure_state="failed"
    )
    executor.running.add(name)
    executor._process_workloads([workload])

def until(condition):
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        executor.sync()
        time.sleep(0.02)
    return bool(condition())

def waits(pid):
    with open(f"/proc/{pid}/wchan") as state:
        return state.read().strip() not in ("", "0")

BaseExecutor.run_workload = staticmethod(run)
executor = module.RepairedLocalExecutor(parallelism=2)
executor.start()
"""
_IDLE_ONES_KILLED = """
workers = list(executor.workers)
until(lambda: all(map(waits, workers)))
time.sleep(0.2)  # past the start of Python's own code, in the wait for work
for pid in workers:
    os.kill(pid, signal.SIGKILL)
until(lambda: not executor.workers)
give("later")
print(until(lambda: executor.event_buffer.get("later")))
"""
_ONE_KILLED_WITH_ITS_TASK = """
give("kills its worker")
until(lambda: len(executor.workers) == 1)
executor.revoke_task(ti=SimpleNamespace(key="kills its worker"))
print("kills its worker" not in executor.running)
give("later")
print(until(lambda: executor.event_buffer.get("later")))
"""


@pytest.mark.parametrize(
    ("deed", "checks"), [(_IDLE_ONES_KILLED, 1), (_ONE_KILLED_WITH_ITS_TASK, 2)], ids=["idle", "busy"]
)
def test_a_killed_worker_keeps_no_other_from_its_work(deed: str, checks: int, tmp_path: Path) -> None:
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path), "PYTHONPATH": SOURCES, "PYTHONWARNINGS": "ignore"}

    ended = subprocess.run(
        [sys.executable, "-c", f"{_SCENE}{deed}executor.terminate()\nos._exit(0)"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )

    printed = [line for line in ended.stdout.splitlines() if line in ("True", "False")]
    assert printed == ["True"] * checks, f"{ended.stdout[-1000:]}{ended.stderr[-2000:]}"
