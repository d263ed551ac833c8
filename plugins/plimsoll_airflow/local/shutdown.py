"""Stop a stack in the right order and in bounded time, whatever is left of it."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from plimsoll_airflow.local import database, processes
from plimsoll_airflow.local.home import Home, StackError
from plimsoll_airflow.local.launcher import forget_record
from plimsoll_airflow.local.processes import Member
from plimsoll_airflow.runs.ownership import INSTALLATION_ENVIRONMENT

WORKERS_GRACE_S = 6.0
API_GRACE_S = 1.0
"""The time that the api-server gets to close its connections, s. Afterwards it only frees memory, for seconds."""
DATABASE_GRACE_S = 5.0
SWEEP_S = 10.0


def stop_stack(
    home: Home, destroy_clusters: Callable[[], object], *, in_haste: Callable[[], bool] = lambda: False
) -> None:
    """Stop everything: what could start more work first, then the clusters, then the servers, then the rest.

    Raises StackError when a process survives even SIGKILL.
    """
    # Triggers only poll, so that nothing is lost; asked politely, the triggerer takes ten seconds.
    _stop(_members_of(home, "triggerer"), signal.SIGKILL, 1.0, in_haste)
    _stop(_workers(home), signal.SIGTERM, WORKERS_GRACE_S, in_haste)
    try:
        destroy_clusters()
    finally:
        _stop(_members_of(home, "api-server"), signal.SIGTERM, API_GRACE_S, in_haste)
        # SIGINT is PostgreSQL's fast shutdown: it ends the sessions and writes a checkpoint.
        _stop(_members_of(home, "postgres"), signal.SIGINT, DATABASE_GRACE_S, in_haste)
        _sweep(home)
        forget_record(home)
        database.remove_socket_dir(home)


def _workers(home: Home) -> list[Member]:
    """Return all processes but the two servers, with the scheduler's children, as it would wait for its tasks."""
    others = [member for member in processes.members(home) if member.component not in {"api-server", "postgres"}]
    return [member for member in others if member.is_top or member.component == "scheduler"]


def _members_of(home: Home, component: str) -> list[Member]:
    return [member for member in processes.members(home) if member.component == component and member.is_top]


def _stop(members: Iterable[Member], number: int, grace_s: float, in_haste: Callable[[], bool]) -> None:
    ending = [member.process for member in members]
    for process in ending:
        processes.send(process, number)
    for process in processes.wait_gone(ending, grace_s, in_haste):
        processes.send(process, signal.SIGKILL)


def _sweep(home: Home) -> None:
    deadline = time.monotonic() + SWEEP_S
    while left := [member.process for member in processes.members(home)]:
        if time.monotonic() > deadline:
            numbers = ", ".join(str(process.pid) for process in left)
            raise StackError(f"processes can't be stopped: {numbers}", where=str(home.path), mend="end them by hand")
        for process in left:
            processes.send(process, signal.SIGKILL)
        processes.wait_gone(left, 1.0)


TIMEOUT_S = 90.0
MEND = "`plimsoll clusters list` shows what is alive; end it by hand, then start again"


def destroy_clusters(environment: Mapping[str, str], others: bool = False) -> Sequence[str]:
    """Destroy the clusters on this machine that nobody works on any more, as no run of this Airflow does once it has
    stopped, and verify that they are gone. Returns the names of those that are left alone; with `others` none is.

    Clusters on other machines may belong to another Airflow where several share a store. The command runs in a process
    of its own, so that the launcher stays light and a provider that hangs can be given up. Raises StackError with the
    names of clusters that could not be destroyed.
    """
    program = str(Path(sys.executable).with_name("plimsoll"))
    whose = ["--others"] if others else ["--ended-airflow", environment.get(INSTALLATION_ENVIRONMENT, "")]
    command = [program, "clusters", "destroy", "--all", "--here", *whose, "--json"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise StackError(f"clusters are not gone after {TIMEOUT_S:.0f} s", where="clusters", mend=MEND) from error
    if done.returncode:
        raise StackError(f"clusters could not be destroyed: {_reasons(done)}", where="clusters", mend=MEND)
    return tuple(json.loads(done.stdout).get("kept", ()))


def _reasons(done: subprocess.CompletedProcess[str]) -> str:
    try:
        answer = json.loads(done.stdout)
        reasons = [*(f"{cluster}: {reason}" for cluster, reason in answer["failed"].items()), *answer["unseen"]]
    except (ValueError, KeyError):
        return done.stderr.strip()[-1000:]
    return "; ".join(reasons)
