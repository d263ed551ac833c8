"""The launcher's record of the stack that it started. The next launcher uses it as a hint and verifies it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from plimsoll_airflow.local.home import LOOPBACK, Home


@dataclass(frozen=True)
class Record:
    """A started stack: the port of its api-server, whether it outlives its launcher, and what it was told: a digest of
    its settings. The names are those in the file of a stack that may be running when Plimsoll is updated.
    """

    port: int
    kept: bool
    told: str

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def write(self, home: Home) -> None:
        partial = _path(home).with_suffix(".partial")
        partial.write_text(json.dumps(asdict(self)))
        partial.replace(_path(home))


def read(home: Home) -> Record | None:
    """Return the record; None without one, and of one that another version of Plimsoll has written."""
    try:
        return Record(**json.loads(_path(home).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def forget(home: Home) -> None:
    """Delete the record and the recorded sessions, because nothing runs any more."""
    for path in (_path(home), *home.session_notes()):
        path.unlink(missing_ok=True)


def digest(environment: Mapping[str, str]) -> str:
    settings = sorted((key, value) for key, value in environment.items() if key.startswith("PLIMSOLL_"))
    return sha256(json.dumps(settings).encode()).hexdigest()


def _path(home: Home) -> Path:
    return home.run / "stack.json"
