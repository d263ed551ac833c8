"""Real processes in tests: wait for them, find them by their marks, and end them."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import psutil

from plimsoll.ports.host import Host, Job

CHECKOUT = Path(__file__).resolve().parents[2]
SOURCES = os.pathsep.join(str(CHECKOUT / folder) for folder in ("", "include", "plugins"))
"""The `PYTHONPATH` of processes that import this checkout's packages, also `tests`."""
PLIMSOLL = str(Path(sys.executable).with_name("plimsoll"))
"""The program of the virtual environment that runs the tests."""

PATIENCE_S = 300
"""The longest wait, s. It is for a busy machine, and only limits a test that has failed anyway."""

_SHORTEST_S, _LONGEST_S = 0.01, 2.0
"""The shortest and the longest pause between two checks of a condition, s."""

_T = TypeVar("_T")


def until(
    condition: Callable[[], _T],
    what: str | Callable[[], str],
    *,
    patience_s: float = PATIENCE_S,
    longest_s: float = _LONGEST_S,
) -> _T:
    """Wait until the condition is true, and return its value. The deadline only limits a test that has failed anyway.

    `what` is told if it never came true; a function is asked only then. A condition that is true only for a short time
    needs a small `longest_s`, the longest pause between two checks.
    """
    began = time.monotonic()
    while not (value := condition()):
        waited = time.monotonic() - began
        assert waited < patience_s, f"never came: {what() if callable(what) else what}"
        time.sleep(min(longest_s, pause_s(waited)))
    return value


def pause_s(waited_s: float) -> float:
    """Return the pause before the next check, s: a twentieth of the time waited so far, because checks take processor
    time.
    """
    return min(_LONGEST_S, max(_SHORTEST_S, waited_s / 20))


def marked(name: str, value: str) -> list[psutil.Process]:
    """Return the living processes whose environment has that mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(name) == value and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def end_marked(name: str, value: str) -> None:
    """Kill all processes with that mark. Some may end by themselves first, also with the one that was just killed."""
    while left := marked(name, value):
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()


def command_line(process: psutil.Process) -> list[str]:
    """Return the command line of a process. Empty if the process has ended, or is about to."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def python_job(job_id: str, code: str, **changes: Any) -> Job:
    """Return a job that runs that Python code."""
    return Job(**{"id": job_id, "argv": [sys.executable, "-c", code], "expires": timedelta(hours=1), **changes})


def ended(host: Host, job_id: str) -> int | None:
    """Wait until the job has ended, and return its exit code."""
    until(lambda: host.status(job_id).state == "exited", f"the end of {job_id}")
    return host.status(job_id).exit_code


def job_record(host: Host, job_id: str) -> Any:
    """Return what a host of this machine keeps of the job."""
    return json.loads(Path(host.root, "jobs", f"{job_id}.job").read_text())


def log_of(host: Host, job_id: str) -> str:
    """Return the output of the job."""
    return host.read_tail(PurePosixPath("jobs", f"{job_id}.log"), max_bytes=10_000)


@cache
def oldest_python() -> Path:
    """Return the oldest Python that a host may have, if this machine has it; otherwise the one that runs the tests."""
    for program in _pythons("3.9"):
        command = [program, "-c", "import sys; print(sys.executable)"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return Path(answer.stdout.strip())
    return Path(sys.executable).resolve()


def _pythons(version: str) -> Iterator[str]:
    if found := shutil.which(f"python{version}"):
        yield found
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(root.glob(f"versions/{version}*/bin/python{version}")))
