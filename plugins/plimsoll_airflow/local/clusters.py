"""Destroy the clusters that campaigns left running. No other module of the stack touches clusters."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from plimsoll_airflow.local.home import StackError

TIMEOUT_S = 90.0
MEND = "`plimsoll clusters list` shows what is alive; end it by hand, then start again"


def destroy_clusters(environment: Mapping[str, str]) -> None:
    """Destroy every cluster on this machine, whoever works on it, and verify that it is gone.

    Clusters on other machines may belong to another Airflow where several share a store. The command runs in a process
    of its own, so that the launcher stays light and a provider that hangs can be given up. Raises StackError with the
    names of clusters that remain.
    """
    program = str(Path(sys.executable).with_name("plimsoll"))
    command = [program, "clusters", "destroy", "--all", "--here", "--others", "--json"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise StackError(f"clusters are not gone after {TIMEOUT_S:.0f} s", where="clusters", mend=MEND) from error
    if done.returncode:
        raise StackError(f"clusters could not be destroyed: {_reasons(done)}", where="clusters", mend=MEND)


def _reasons(done: subprocess.CompletedProcess[str]) -> str:
    try:
        answer = json.loads(done.stdout)
        reasons = [*(f"{cluster}: {reason}" for cluster, reason in answer["failed"].items()), *answer["unseen"]]
    except (ValueError, KeyError):
        return done.stderr.strip()[-1000:]
    return "; ".join(reasons)
