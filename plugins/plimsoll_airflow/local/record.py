"""What the launcher wrote down about the stack it started: a hint for the next one, checked before it is believed."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.ports import LOOPBACK


@dataclass(frozen=True)
class Record:
    """A started stack: the port of its api-server, whether it outlives its launcher, what it was told."""

    port: int
    kept: bool
    told: str

    @property
    def url(self) -> str:
        """Where Airflow answers."""
        return f"http://{LOOPBACK}:{self.port}"

    def write(self, home: Home) -> None:
        """Write it down, whole or not at all."""
        partial = _path(home).with_suffix(".partial")
        partial.write_text(json.dumps(asdict(self)))
        partial.replace(_path(home))


def read(home: Home) -> Record | None:
    """The record of this home, or None when there is none."""
    try:
        return Record(**json.loads(_path(home).read_text()))
    except FileNotFoundError:
        return None


def forget(home: Home) -> None:
    """Nothing runs any more: no record, no noted sessions."""
    for path in (_path(home), *home.session_notes()):
        path.unlink(missing_ok=True)


def digest(environment: Mapping[str, str], keys: str = "PLIMSOLL_") -> str:
    """A fingerprint of what the processes are told about campaigns."""
    told = sorted((key, value) for key, value in environment.items() if key.startswith(keys))
    return sha256(json.dumps(told).encode()).hexdigest()


def _path(home: Home) -> Path:
    return home.run / "stack.json"
