"""A migrated metadata database, made once on a machine and copied for each Airflow of the tests.

`airflow db migrate` takes ten times as long as everything else that PostgreSQL does at its start. The database is in
Plimsoll's cache, under a digest of everything that its content depends on. The very code of `make up` makes it, and
makes it again when that code has changed.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest
from filelock import FileLock

from plimsoll.settings import Settings
from plimsoll_airflow.local import database, stack
from plimsoll_airflow.local.guard import Guard
from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.process_environment import StackSettings

CHECKOUT = Path(__file__).resolve().parents[3]
AIRFLOW = version("apache-airflow")
MIGRATE_TIMEOUT_S = 600.0
"""For a busy machine."""
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
    """Return a digest of the lock file, of the code that makes the database, and of its only user."""
    code = (database, stack)
    made_by = [CHECKOUT / "requirements-dev.txt", *(Path(str(module.__file__)) for module in code)]
    digest = sha256(pwd.getpwuid(os.geteuid()).pw_name.encode())
    for path in made_by:
        digest.update(path.read_bytes())
    return f"airflow-{AIRFLOW}-{digest.hexdigest()[:16]}"


def _make(place: Path) -> None:
    """Migrate a database in a temporary home, and move it to its place only when it is complete."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(stack, "MIGRATE_TIMEOUT_S", MIGRATE_TIMEOUT_S)
        made = _stack_of_its_own(Path(folder))
        guard = Guard.start(made.home, made.environment(port=0))
        try:
            made.start_database(made.environment(port=0))
        finally:
            made.down()
            guard.dismiss()
        partial = place.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        _copy(made.home.database, partial)
        partial.rename(place)


def _stack_of_its_own(folder: Path) -> stack.Stack:
    home, nothing = Home(folder / "airflow"), folder / "nothing"
    home.create()
    nothing.mkdir()
    settings = StackSettings(
        dags=nothing, store=str(nothing), cache=nothing, work=nothing, campaigns=nothing, port=None
    )
    return stack.Stack(home, settings)


def _copy(source: Path, target: Path) -> None:
    """Copy with owners and permissions, because PostgreSQL refuses a folder of another user."""
    target.mkdir(exist_ok=True)
    subprocess.run(["cp", "--archive", "--reflink=auto", f"{source}/.", str(target)], check=True, timeout=120)


def _forget_old(cache: Path) -> None:
    """Remove all databases but those that were used last."""
    made = sorted(cache.glob("airflow-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in made[KEPT:]:
        shutil.rmtree(folder)
