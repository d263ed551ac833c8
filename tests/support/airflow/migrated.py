"""A migrated metadata database, made once on a machine and copied for each Airflow of the tests.

`airflow db migrate` takes ten times as long as everything else that PostgreSQL does at its start. The database is in
Plimsoll's cache, under a digest of everything that its content depends on.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from plimsoll.settings import Settings
from plimsoll_airflow.local import database, processes
from plimsoll_airflow.local.environment import StackSettings, stack_environment
from plimsoll_airflow.local.guard import Guard
from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.internals import wakeup
from plimsoll_airflow.local.shutdown import stop_stack

CHECKOUT = Path(__file__).resolve().parents[3]
AIRFLOW = version("apache-airflow")
MIGRATE_TIMEOUT_S = 600.0
KEPT = 4
"""The number of databases that are kept in the cache. Each lock file has its own."""


def lay_migrated_database(home: Home) -> None:
    """Copy a migrated database into a home that has none yet. The first call on a machine makes the database."""
    if (home.database / "data").exists():
        return
    cache = Settings().cache / "tests" / "databases"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / "lock"):
        made = cache / _name()
        if not made.exists():
            _make(made)
            _forget_old(cache)
        made.touch()
        _copy(made, home.database)


def _name() -> str:
    """A digest of the lock file, of the code that makes the database, and of its only user."""
    made_by = [CHECKOUT / "requirements-dev.txt", *(Path(str(module.__file__)) for module in (database, wakeup))]
    digest = sha256(pwd.getpwuid(os.geteuid()).pw_name.encode())
    for path in made_by:
        digest.update(path.read_bytes())
    return f"airflow-{AIRFLOW}-{digest.hexdigest()[:16]}"


def _make(place: Path) -> None:
    """Migrate a database in a temporary home, and move it to its place only when it is complete."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        home, environment = _home_of_its_own(Path(folder))
        guard = Guard.start(home, environment)
        try:
            database.start(home, environment)
            database.migrate(home, AIRFLOW, lambda: _migrate(environment))
        finally:
            stop_stack(home, lambda: None)
            guard.dismiss()
        partial = place.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        _copy(home.database, partial)
        partial.rename(place)


def _home_of_its_own(folder: Path) -> tuple[Home, dict[str, str]]:
    home, nothing = Home(folder / "airflow"), folder / "nothing"
    home.create()
    nothing.mkdir()
    settings = StackSettings(
        dags=nothing, plugins=nothing, store=str(nothing), cache=nothing, work=nothing, campaigns=nothing, port=None
    )
    return home, stack_environment(home, home.secrets, 0, settings, os.environ)


def _migrate(environment: dict[str, str]) -> None:
    command = processes.airflow_command(["db", "migrate"])
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=MIGRATE_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr


def _copy(source: Path, target: Path) -> None:
    """Copy with owners and permissions, because PostgreSQL refuses a folder of another user."""
    target.mkdir(exist_ok=True)
    subprocess.run(["cp", "--archive", "--reflink=auto", f"{source}/.", str(target)], check=True, timeout=120)


def _forget_old(cache: Path) -> None:
    """Remove all databases but those that were used last."""
    made = sorted(cache.glob("airflow-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in made[KEPT:]:
        shutil.rmtree(folder)
