"""A PostgreSQL of somebody else: it lets nobody in without a password that it never sees, and speaks TLS alone."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.certificates import Authority
from tests.support.processes import until
from tests.support.suite.requirements import leave_out

HOST, USER, PASSWORD, FIRST = "127.0.0.1", "plimsoll", "not-to-be-seen-anywhere", "their-own-secret"
_DEBIAN = Path("/usr/lib/postgresql")
NOBODY = 65534
"""The user as whom the server runs where the test is root."""
_AS_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--securebits=+no_setuid_fixup"),
    *("--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--"),
)
"""The server refuses to run as root; whoever becomes another user may still enter the folders of tests."""


@dataclass(frozen=True)
class TheirPostgresql:
    """A server that runs. `programs`: the folder of its programs, which clients use too."""

    programs: Path
    port: int
    authority: Authority

    def asked(self, statement: str) -> list[str]:
        """Return the rows that their first user gets."""
        environment = {"PGPASSWORD": FIRST, "PGSSLMODE": "require", "PATH": os.environ["PATH"]}
        argv = [
            str(self.programs / "psql"),
            "-XAtc",
            statement,
            "-h",
            HOST,
            "-p",
            str(self.port),
            "-U",
            "them",
            "postgres",
        ]
        told = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True, timeout=60)
        return told.stdout.splitlines()


def programs() -> Path:
    """Return the newest PostgreSQL's programs of this machine; leaves out the test that asks where there is none."""
    found = sorted(_DEBIAN.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if not found:
        leave_out("no PostgreSQL with TLS here: install Debian's postgresql")
    return found[-1].parent


@contextmanager
def their_postgresql(folder: Path, port: int) -> Iterator[TheirPostgresql]:
    """Provide one, in that folder."""
    own, data = programs(), folder / "data"
    authority = Authority("their authority")
    (folder / "first").write_text(FIRST)
    data.mkdir(mode=0o700)
    run_as = () if os.geteuid() else _AS_NOBODY
    if run_as:
        shutil.chown(data, NOBODY, NOBODY)
    _called([*run_as, own / "initdb", "-D", data, "-U", "them", "-A", "scram-sha-256", "--pwfile", folder / "first"])
    for name, text in zip(("server.crt", "server.key"), authority.sign("their node", [HOST]), strict=True):
        (data / name).write_text(text)
        (data / name).chmod(0o600)
        if run_as:
            shutil.chown(data / name, NOBODY, NOBODY)
    (data / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 scram-sha-256\n")
    settings = {"listen_addresses": HOST, "port": port, "ssl": "on", "unix_socket_directories": "", "fsync": "off"}
    set_to = (word for key, value in settings.items() for word in ("-c", f"{key}={value}"))
    argv = [*run_as, own / "postgres", "-D", data, *set_to]
    with (folder / "log").open("w") as log, subprocess.Popen(argv, stdout=log, stderr=log) as server:
        try:
            until(lambda: _is_up(own, port), "their PostgreSQL")
            theirs = TheirPostgresql(own, port, authority)
            theirs.asked(f"CREATE ROLE {USER} LOGIN CREATEDB PASSWORD '{PASSWORD}'")
            yield theirs
        finally:
            server.terminate()


def _called(argv: Sequence[object]) -> None:
    subprocess.run([str(word) for word in argv], check=True, capture_output=True, timeout=120)


def _is_up(own: Path, port: int) -> bool:
    argv = [str(own / "pg_isready"), "-h", HOST, "-p", str(port)]
    return subprocess.run(argv, capture_output=True, check=False, timeout=60).returncode == 0
