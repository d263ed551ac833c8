"""The stack's processes: start them in sessions of their own, watch them, ask them to end, kill them if they don't;
and find those of a home in the process table, which shows what really runs, unlike any record.

Every process of a stack has its home in the environment. Two kinds hide it: PostgreSQL's backends write their titles
over it, and Airflow's task processes make themselves undumpable, so that only root can read it. Backends are recognised
by their working directory. Undumpable processes are recognised as descendants or, when their ancestors are dead, by the
session that their component was started in.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.process_environment import COMPONENT, HOME_TAG

AIRFLOW_COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "api-server": ("api-server",),
    # Their log servers would listen on every address of the machine; the api-server reads the files itself.
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
    "triggerer": ("triggerer", "--skip-serve-logs"),
}
POLL_S = 0.05


@dataclass(frozen=True)
class Member:
    """A living process of a stack. `is_top` when its parent is no member."""

    process: psutil.Process
    component: str
    is_top: bool


def airflow_command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "airflow", *arguments]


def start(component: str, command: Sequence[str], home: Home, environment: Mapping[str, str]) -> psutil.Process:
    """Start a process in a session of its own, with its output in its log file, and record the session.

    The previous log is kept beside it as `<component>.previous.log`.
    """
    log = home.log(component)
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
    with log.open("wb") as output:
        child = subprocess.Popen(
            command,
            env={**environment, HOME_TAG: str(home.path), COMPONENT: component},
            cwd=home.path,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # It outlives this object and maybe this launcher; whoever ends it finds it in the process table.
    child.returncode = 0
    home.session_note(component).write_text(str(child.pid))
    return psutil.Process(child.pid)


def wait_gone(
    processes: Iterable[psutil.Process], timeout_s: float, in_haste: Callable[[], bool] = lambda: False
) -> list[psutil.Process]:
    """Wait until the processes have ended. Returns those that run after the time limit or when haste is asked for."""
    deadline = time.monotonic() + timeout_s
    left = [process for process in processes if is_alive(process)]
    while left and time.monotonic() < deadline and not in_haste():
        time.sleep(POLL_S)
        left = [process for process in left if is_alive(process)]
    return left


def is_alive(process: psutil.Process) -> bool:
    """Tell whether the process runs and is no zombie. A zombie child of this process is reaped."""
    try:
        if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            return True
        process.wait(0)
    except (psutil.NoSuchProcess, psutil.TimeoutExpired):
        pass
    return False


def send(process: psutil.Process, number: int) -> None:
    """Send a signal. A process that has just ended is no error."""
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def log_tail(path: Path, lines: int = 15) -> str:
    """Return the last lines of a log file, for an error message; empty when there is no file."""
    with suppress(OSError):
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    return ""


def members(home: Home) -> list[Member]:
    """Return every living process of this home's stack, whoever started it, except this process and its ancestors."""
    everyone = {process.pid: process for process in psutil.process_iter(["ppid"])}
    sessions = _noted_sessions(home)
    components = {pid: name for pid, process in everyone.items() if (name := _component(process, home, sessions))}
    _adopt_descendants(everyone, components)
    me = psutil.Process()
    for process in (me, *me.parents()):
        components.pop(process.pid, None)
    return [
        Member(everyone[pid], component, is_top=_parent(everyone[pid]) not in components)
        for pid, component in sorted(components.items())
    ]


def _component(process: psutil.Process, home: Home, sessions: dict[int, str]) -> str:
    """Return the component that a process belongs to; empty when it does not belong to this home."""
    try:
        if environment := process.environ():
            if environment.get(HOME_TAG) != str(home.path):
                return ""
            return environment.get(COMPONENT, "unknown")
        is_backend = process.name() == "postgres" and Path(process.cwd()).is_relative_to(home.database)
        return "postgres" if is_backend else ""
    except psutil.AccessDenied:
        return sessions.get(_session(process.pid), "")
    except psutil.Error:
        return ""


def _adopt_descendants(everyone: dict[int, psutil.Process], components: dict[int, str]) -> None:
    """Add all descendants of members. A parent may have a higher process id than its child."""
    while orphans := {
        pid: components[_parent(process)]
        for pid, process in everyone.items()
        if pid not in components and _parent(process) in components
    }:
        components.update(orphans)


def _noted_sessions(home: Home) -> dict[int, str]:
    """Map sessions to components, without sessions whose leader's process id belongs to another process by now."""
    noted = {int(path.read_text() or 0): path.stem for path in home.session_notes()}
    return {pid: component for pid, component in noted.items() if pid and _is_ours_or_gone(pid, home)}


def _is_ours_or_gone(pid: int, home: Home) -> bool:
    try:
        return bool(psutil.Process(pid).environ().get(HOME_TAG) == str(home.path))
    except psutil.NoSuchProcess:
        # Its leader has ended, but others of the session may live: the kernel reuses no id that a session still has
        return True
    except psutil.Error:
        return False


def _session(pid: int) -> int:
    with suppress(OSError):
        return os.getsid(pid)
    return 0


def _parent(process: psutil.Process) -> int:
    parent: int = process.info["ppid"] or 0
    return parent
