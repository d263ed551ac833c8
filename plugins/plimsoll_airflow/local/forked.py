"""`python -m plimsoll_airflow.local.forked`: Airflow's long-lived processes, forked from one that has imported Airflow.

Each of the four spends seconds of processor time on the same imports. This process makes them once, forks the four, and
ends. It opens no connection and starts no thread, for neither would survive a fork.
"""

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from plimsoll_airflow.internals import processes as airflow_processes
from plimsoll_airflow.local import processes
from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.process_environment import COMPONENT

DATABASE_MODULES = (
    "psycopg2",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.postgresql.psycopg2",
)
"""What at least two of the processes import, beside Airflow's own modules."""

YOUNGEST = 20_000
"""How many more objects are made than freed before Python looks for unreachable ones. Python 3.11 takes 700."""


def main() -> None:
    """Fork Airflow's processes for the home in `AIRFLOW_HOME`. In each of them it returns when that ends."""
    prepare()
    home = Home(Path(os.environ["AIRFLOW_HOME"]))
    for component, arguments in processes.AIRFLOW_COMPONENTS.items():
        if child := os.fork():
            processes.note_session(home, component, child)
        else:
            _become(home, component, arguments)
            return


def prepare() -> None:
    """Import what the processes share, and have each of them look less often for garbage.

    None of them looks among what is imported here, but the scheduler, whose `LocalExecutor` ends the freeze.
    """
    gc.disable()
    for module in airflow_processes.SHARED_MODULES + DATABASE_MODULES:
        importlib.import_module(module)
    airflow_processes.map_tables()
    # Each process does it itself too, and says itself why it can't.
    with suppress(Exception):
        importlib.import_module("plimsoll_airflow.warmup").warm_up()
    gc.freeze()
    gc.set_threshold(YOUNGEST, *gc.get_threshold()[1:])
    gc.enable()


def _become(home: Home, component: str, arguments: Sequence[str]) -> None:
    """Go on as that part of Airflow, as if `airflow` had been called in a session of its own."""
    os.setsid()
    with processes.fresh_log(home, component) as log:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(log.fileno(), stream.fileno())
    os.environ[COMPONENT] = component
    sys.argv = ["airflow", *arguments]
    importlib.import_module("setproctitle").setproctitle(" ".join(sys.argv))
    airflow_processes.run_command_line()


if __name__ == "__main__":
    main()
