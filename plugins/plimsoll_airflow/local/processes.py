"""The stack's processes: start them in sessions of their own, watch them, ask them to end, kill them if they don't."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
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


def airflow_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line of an Airflow command in this interpreter."""
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
    """Wait until the processes have ended.

    Returns those that still run after the time limit or when haste is asked for.
    """
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
