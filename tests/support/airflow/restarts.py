"""Restart a stack's processes when they die. A thread of the test does this in place of Compose or systemd."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
from tests.support.airflow.stack import StackUnderTest

from plimsoll_airflow.local import database, processes
from plimsoll_airflow.local.home import StackError

_LOOK_S = 0.5


@contextmanager
def kept_running(airflow: StackUnderTest) -> Iterator[list[str]]:
    """Restart each component whose main process dies, until the block ends. Yields the names of those."""
    restarted: list[str] = []
    over = threading.Event()
    keeper = threading.Thread(target=_keep, args=(airflow, restarted, over))
    keeper.start()
    try:
        yield restarted
    finally:
        over.set()
        keeper.join()


def main_process(airflow: StackUnderTest, component: str) -> psutil.Process:
    """Return the main process of that component. Raises psutil.NoSuchProcess when it has ended."""
    return psutil.Process(int(airflow.stack.home.session_note(component).read_text()))


def _keep(airflow: StackUnderTest, restarted: list[str], over: threading.Event) -> None:
    while not over.wait(_LOOK_S):
        for component in ("postgres", *processes.AIRFLOW_COMPONENTS):
            if not _is_alive(airflow, component):
                restarted.append(component)
                _start(airflow, component)


def _is_alive(airflow: StackUnderTest, component: str) -> bool:
    try:
        return processes.is_alive(main_process(airflow, component))
    except psutil.NoSuchProcess:
        return False


def _start(airflow: StackUnderTest, component: str) -> None:
    home, environment = airflow.stack.home, airflow.stack.environment(airflow.running.port)
    if component == "postgres":
        with suppress(StackError):  # children of the killed server may still be ending; the next try starts it
            database.start(home)
        return
    command = processes.airflow_command(processes.AIRFLOW_COMPONENTS[component])
    processes.start(component, command, home, environment)
