"""The launcher as people use it: whatever ends it, and whenever, nothing of the stack is left."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest
from tests.support.processes import CHECKOUT, until
from tests.support.suite.requirements import IS_LONG, long

from plimsoll_airflow.local import processes
from plimsoll_airflow.local.home import Home

DAGS = Path(__file__).parent / "dags"
ANY = (signal.SIGTERM, *((signal.SIGINT, signal.SIGHUP) if IS_LONG else ()))
"""All are caught alike, as tests/unit/local/test_interrupts.py shows; the others strike in `make test-all`."""

PATIENCE_S = 400.0
"""For a busy machine; nothing here takes a tenth of it on an idle one."""

_PROGRAM = ("-m", "plimsoll_airflow.local")
_NEVER_READY = (
    "import time; from plimsoll_airflow.local import __main__, shutdown, stack; await_ready = stack.await_ready; "
    "stack.await_ready = lambda *told: (await_ready(*told), time.sleep(3600)); "
)
_IS_NEVER_READY = ("-c", f"{_NEVER_READY} __main__.main()")
"""The launcher, which waits an hour when all is up: on a fast machine, too, it still starts when the signal comes."""
_WAITS_AN_HOUR = ("-c", f"{_NEVER_READY} shutdown.WORKERS_GRACE_S = 3600.0; __main__.main()")
"""The same, which also gives the scheduler more time to end than a test has."""

Launch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def home(folder: Path) -> Iterator[Home]:
    """Provide the home; nothing of it runs after the test."""
    home = Home(folder / "airflow")
    yield home
    _launcher(folder, "down").communicate(timeout=PATIENCE_S)
    assert not processes.members(home)


@pytest.fixture
def launch(folder: Path) -> Iterator[Launch]:
    """Start launchers, and kill those that still run after the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*command: str, program: Sequence[str] = _PROGRAM) -> "subprocess.Popen[str]":
        started.append(_launcher(folder, *command, program=program))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", ANY, ids=lambda number: number.name)
def test_a_signal_at_any_moment_leaves_nothing(home: Home, launch: Launch, number: signal.Signals) -> None:
    moment_s = random.uniform(0.0, 8.0)
    launcher = launch("up", program=_IS_NEVER_READY)
    until(lambda: f"process {launcher.pid}" in _owner(home), "the launcher", patience_s=PATIENCE_S)
    time.sleep(moment_s)
    launcher.send_signal(number)
    _, errors = launcher.communicate(timeout=PATIENCE_S)
    assert (launcher.returncode, processes.members(home)) == (128 + number, []), f"after {moment_s:.2f} s: {errors}"


def test_a_second_signal_stops_at_once(home: Home, launch: Launch) -> None:
    """The scheduler stalls, so that it never ends in order, for which this launcher would wait an hour."""
    launcher = launch("up", program=_WAITS_AN_HOUR)
    _await_component(home, "scheduler")
    scheduler = next(member.process for member in processes.members(home) if member.component == "scheduler")
    scheduler.send_signal(signal.SIGSTOP)
    launcher.send_signal(signal.SIGINT)
    until(lambda: _is_asked_to_end(scheduler), "the orderly stop", patience_s=PATIENCE_S)
    assert launcher.poll() is None
    launcher.send_signal(signal.SIGINT)
    launcher.communicate(timeout=PATIENCE_S)
    assert (launcher.returncode, processes.members(home)) == (130, [])


@long("test_guard.py kills launchers of a stand-in")
def test_what_a_killed_launcher_has_started_ends_and_a_second_one_waits_its_turn(home: Home, launch: Launch) -> None:
    first = launch("up")
    _await_component(home, "scheduler")
    left_behind = {member.process.pid for member in processes.members(home)}
    first.send_signal(signal.SIGSTOP)  # else its work may be done before the second one looks

    second = launch("up")
    _, errors = second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 2
    assert f"process {first.pid} is using this Airflow" in errors

    first.kill()
    first.communicate()
    third = launch("up")
    _, errors = third.communicate(timeout=PATIENCE_S)
    assert third.returncode == 0, errors
    assert not left_behind & {member.process.pid for member in processes.members(home)}

    status, _ = launch("status", "--json").communicate(timeout=PATIENCE_S)
    assert json.loads(status)["up"] is True
    down = launch("down")
    down.communicate(timeout=PATIENCE_S)
    assert down.returncode == 0
    assert not processes.members(home)
    status, _ = launch("status", "--json").communicate(timeout=PATIENCE_S)
    assert json.loads(status) == {"up": False, "url": None, "unhealthy": []}


def _launcher(folder: Path, *command: str, program: Sequence[str] = _PROGRAM) -> "subprocess.Popen[str]":
    """Start `python -m plimsoll_airflow.local` or another program in its own session; clusters are instant."""
    places = ["--home", str(folder / "airflow"), "--dags", str(DAGS)]
    own = {
        "PYTHONPATH": str(CHECKOUT),
        "PLIMSOLL_TOOLKIT": "tests.fakes.instant:toolkit",
        "PLIMSOLL_STORE": str(folder / "store"),
        "PLIMSOLL_WORK": str(folder / "work"),
        "COLUMNS": "1000",
    }
    return subprocess.Popen(
        [sys.executable, *program, *places, *command],
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _await_component(home: Home, component: str) -> None:
    def has_begun() -> bool:
        return component in {member.component for member in processes.members(home)}

    until(has_begun, component, patience_s=PATIENCE_S)


def _is_asked_to_end(process: psutil.Process) -> bool:
    """Tell whether SIGTERM waits for it, as for a process that stalls."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    pending = re.search(r"^ShdPnd:\s*(\w+)$", status, re.MULTILINE)
    assert pending
    return bool(int(pending[1], 16) >> (signal.SIGTERM - 1) & 1)


def _owner(home: Home) -> str:
    """Tell who holds the home's lock, as the launcher notes it."""
    owner = home.run / "launcher"
    return owner.read_text() if owner.exists() else ""
