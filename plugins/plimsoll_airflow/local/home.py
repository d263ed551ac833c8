"""The directory of a stack, with the paths in it, the secrets made for it, and its users: names and roles of
Airflow's SimpleAuthManager, from `PLIMSOLL_USERS`. And the error of whatever keeps a stack from running.
"""

import hashlib
import json
import os
import re
import secrets
import socket
import sys
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plimsoll.domain.text.errors import PlimsollError


class StackError(PlimsollError):
    """The stack could not be started, queried or stopped. `what` contains its status and the last log lines."""


class StackBusy(StackError):
    """Another launcher is working on this home."""


class ApiError(StackError):
    """The REST API answered with an error, or not at all."""

    def __init__(self, what: str, *, where: str = "", mend: str = "", status: int | None = None) -> None:
        super().__init__(what, where=where, mend=mend)
        self.status = status


SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT = 107
"""Longest path of a Unix socket on Linux in bytes (sockaddr_un holds 108, the last is zero)."""

ROLES = ("viewer", "user", "op", "admin")
"""The roles of SimpleAuthManager, from the least right to the most."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*\Z")
_MEND = "write PLIMSOLL_USERS as `name:role,name:role`, for example `ada:admin,bob:viewer`"


@dataclass(frozen=True)
class LocalUser:
    """A user who may log in. The password is in the home's file of passwords."""

    name: str
    role: str

    def __str__(self) -> str:
        return f"{self.name}:{self.role}"


@dataclass(frozen=True)
class Home:
    """AIRFLOW_HOME and the paths in it. Everything of one stack is below `path`."""

    path: Path

    @property
    def logs(self) -> Path:
        """Return Airflow's base log folder, with task logs by DAG and run."""
        return self.path / "logs"

    @property
    def run(self) -> Path:
        """Return records of the running processes. They are hints only; the process table decides."""
        return self.path / "run"

    @property
    def database(self) -> Path:
        """Return the embedded PostgreSQL with its stamp. Removing this folder gives a fresh database."""
        return self.path / "database"

    @property
    def passwords(self) -> Path:
        """Return SimpleAuthManager's file: a JSON object of user to password."""
        return self.path / "passwords.json"

    @property
    def keys(self) -> Path:
        """Return the file with Fernet key, JWT secret and API secret of this home."""
        return self.path / "keys.json"

    @cached_property
    def installation(self) -> str:
        """Return the id of this home's Airflow, made on first use. `make clean` leaves it, as the results."""
        return _once(self.path / "installation", lambda: secrets.token_hex(6))

    @property
    def socket_dir(self) -> Path:
        """Return the folder of PostgreSQL's socket: in the home, or in a short temporary path when that is long."""
        inside = self.database / "socket"
        if len(os.fsencode(inside / SOCKET_NAME)) <= SOCKET_PATH_LIMIT:
            return inside
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"plimsoll-{os.getuid()}-{digest}"

    def log(self, component: str) -> Path:
        return self.run / f"{component}.log"

    def session_note(self, component: str) -> Path:
        """Return the file that records the session of a component."""
        return self.run / f"{component}.session"

    def session_notes(self) -> list[Path]:
        """Return the existing records of sessions. The stem of each name is its component."""
        return sorted(self.run.glob("*.session"))

    @cached_property
    def secrets(self) -> "Secrets":
        """Return the keys of this home, made on first use."""
        return Secrets(**json.loads(_once(self.keys, lambda: json.dumps(Secrets.fresh().__dict__))))

    def password_of(self, user: str) -> str:
        """Return a user's password, made on first use. Airflow would print a password that it makes into a log.

        Raises StackError where the file of passwords can't be read, as people may change it.
        """
        passwords = _passwords(self.passwords) if self.passwords.exists() else {}
        if user not in passwords:
            passwords[user] = secrets.token_urlsafe(18)
            write_private(self.passwords, json.dumps(passwords))
        return passwords[user]

    def create(self) -> None:
        """Make the folders, with access for their owner only."""
        for folder in (self.path, self.logs, self.run, self.database):
            folder.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)


@dataclass(frozen=True, repr=False)
class Secrets:
    """Random keys of one home. Their `repr` does not show them, so that no log does."""

    fernet_key: str
    jwt_secret: str
    api_secret: str

    @classmethod
    def fresh(cls) -> "Secrets":
        """Make new random keys (a Fernet key is 32 random bytes in URL-safe base64)."""
        return cls(urlsafe_b64encode(os.urandom(32)).decode(), secrets.token_urlsafe(48), secrets.token_urlsafe(48))


def _passwords(path: Path) -> dict[str, str]:
    """Return the passwords by user. No error quotes the text, which is secret."""
    with suppress(ValueError):
        found = json.loads(path.read_text())
        if isinstance(found, dict) and all(isinstance(word, str) and word for word in found.values()):
            return found
    mend = 'write one JSON object of names and passwords, {"admin": "…"}, or remove the file: new ones are made'
    raise StackError("is no JSON object of users and their passwords", where=str(path), mend=mend)


def _once(path: Path, make: Callable[[], str]) -> str:
    """Return the file's text. A missing file is made first, private and atomically."""
    if not path.exists():
        write_private(path, make())
    return path.read_text()


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody else can read, atomically."""
    partial = path.with_suffix(f".{os.getpid()}")
    partial.touch(mode=0o600)
    partial.write_text(text)
    partial.replace(path)


ADMIN = LocalUser("admin", "admin")


def parse_users(text: str) -> tuple[LocalUser, ...]:
    """Parse users as `name:role,name:role`. Raises StackError for a malformed or repeated user, or no admin."""
    users = tuple(_user(part.strip()) for part in text.split(","))
    names = [user.name for user in users]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise StackError(f"{', '.join(repeated)} is there twice", where="PLIMSOLL_USERS", mend=_MEND)
    if not any(user.role == "admin" for user in users):
        raise StackError("nobody has the role admin, which starting Airflow takes", where="PLIMSOLL_USERS", mend=_MEND)
    return users


def administrator(users: tuple[LocalUser, ...]) -> LocalUser:
    """Return the user that the launcher itself logs in as: the first admin."""
    return next(user for user in users if user.role == "admin")


def _user(text: str) -> LocalUser:
    name, _, role = text.partition(":")
    if not _NAME.match(name):
        raise StackError(f"{text!r} has no name of letters, digits, . _ @ -", where="PLIMSOLL_USERS", mend=_MEND)
    if role not in ROLES:
        allowed = ", ".join(ROLES)
        raise StackError(f"{name} has the role {role!r}; allowed: {allowed}", where="PLIMSOLL_USERS", mend=_MEND)
    return LocalUser(name, role)


LOOPBACK = "127.0.0.1"
_LISTENS = "0A"
"""Linux's code of the state LISTEN in `/proc/net/tcp`."""


@contextmanager
def reserved(preferred: int | None) -> Iterator[int]:
    """Reserve the preferred port when it is free, so that bookmarks stay valid, else any free one.

    Inside the block this process has bound the port, but does not listen on it. So the kernel gives it to nobody who
    asks for any port, while a server, which sets SO_REUSEADDR, can listen on it. So can another user's: `is_ours` tells
    them apart. Connections in TIME_WAIT don't make a port busy.
    """
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind((LOOPBACK, preferred or 0))
        except OSError:
            holder.bind((LOOPBACK, 0))
        port: int = holder.getsockname()[1]
        yield port


def is_ours(port: int, sockets: Path = Path("/proc/net/tcp")) -> bool:
    """Tell whether a program of this process's user listens on exactly that port of the loopback address.

    Then no other user's program can listen there as well. `sockets` is the kernel's table of TCP sockets (proc(5)).
    """
    # The kernel writes the four bytes of the address as one number of this machine's byte order, but the port as it is
    address = f"{int.from_bytes(socket.inet_aton(LOOPBACK), sys.byteorder):08X}:{port:04X}"
    rows = (line.split() for line in sockets.read_text().splitlines()[1:])
    return any((row[1], row[3], int(row[7])) == (address, _LISTENS, os.geteuid()) for row in rows)
