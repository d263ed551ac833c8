"""The directory a stack lives in: where things are, and the secrets made for it."""

import hashlib
import json
import os
import secrets
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT = 107
"""Longest path of a Unix socket on Linux in bytes (sockaddr_un holds 108, the last is zero)."""


@dataclass(frozen=True)
class Home:
    """AIRFLOW_HOME and the places in it; everything of one stack is below `path`."""

    path: Path

    @property
    def logs(self) -> Path:
        """Airflow's base log folder; task logs by DAG and run."""
        return self.path / "logs"

    @property
    def run(self) -> Path:
        """What is known of the running processes (hints; the process table has the last word)."""
        return self.path / "run"

    @property
    def database(self) -> Path:
        """The embedded PostgreSQL with its stamp; removing it starts afresh."""
        return self.path / "database"

    @property
    def passwords(self) -> Path:
        """SimpleAuthManager's file: a JSON object of user to password."""
        return self.path / "passwords.json"

    @property
    def keys(self) -> Path:
        """Fernet key, JWT secret and API secret of this home."""
        return self.path / "keys.json"

    @property
    def socket_dir(self) -> Path:
        """Where PostgreSQL's socket lies: in the home, or in a short temporary folder when the home's path is long."""
        inside = self.database / "socket"
        if len(os.fsencode(inside / SOCKET_NAME)) <= SOCKET_PATH_LIMIT:
            return inside
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"plimsoll-{os.getuid()}-{digest}"

    def log(self, component: str) -> Path:
        """The log file of one component's process."""
        return self.run / f"{component}.log"

    def session_note(self, component: str) -> Path:
        """Where the session's number of a component is noted."""
        return self.run / f"{component}.session"

    def session_notes(self) -> list[Path]:
        """The notes there are; each one's stem is its component."""
        return sorted(self.run.glob("*.session"))

    @cached_property
    def secrets(self) -> "Secrets":
        """The keys of this home; made on first use."""
        return Secrets(**json.loads(_once(self.keys, lambda: json.dumps(Secrets.fresh().__dict__))))

    def password_of(self, user: str) -> str:
        """A user's password; made on first use. Airflow would make it too, but print it into the api-server's log."""
        known: dict[str, str] = json.loads(self.passwords.read_text()) if self.passwords.exists() else {}
        if user not in known:
            known[user] = secrets.token_urlsafe(18)
            _write_private(self.passwords, json.dumps(known))
        return known[user]

    def create(self) -> None:
        """Make the folders; nobody else may look into them."""
        for folder in (self.path, self.logs, self.run, self.database):
            folder.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)


@dataclass(frozen=True, repr=False)
class Secrets:
    """Random keys of one home; their `repr` is the object's default, so that no log shows them."""

    fernet_key: str
    jwt_secret: str
    api_secret: str

    @classmethod
    def fresh(cls) -> "Secrets":
        """New random keys (a Fernet key is 32 random bytes in URL-safe base64)."""
        return cls(urlsafe_b64encode(os.urandom(32)).decode(), secrets.token_urlsafe(48), secrets.token_urlsafe(48))


def _once(path: Path, make: Callable[[], str]) -> str:
    """The file's text; when it isn't there, made first: private, and whole or not at all."""
    if not path.exists():
        _write_private(path, make())
    return path.read_text()


def _write_private(path: Path, text: str) -> None:
    """Write a file that nobody else can read, whole or not at all."""
    partial = path.with_suffix(f".{os.getpid()}")
    partial.touch(mode=0o600)
    partial.write_text(text)
    partial.replace(path)
