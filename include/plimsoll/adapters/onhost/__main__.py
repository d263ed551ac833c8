"""`python3 FOLDER COMMAND`: reads a request as JSON from standard input, prints the answer as JSON.

What it can't do ends with exit code 1 and the reason on standard error.
"""

from __future__ import annotations

import json
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plimsoll.adapters.onhost import cleaning, control, lease, readings

Request = dict[str, Any]


def room(folder: Path) -> int:
    """Free bytes below the folder. It is created and written to first. Raises OSError where that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x")
    return shutil.disk_usage(folder).free


def free_port(address: str) -> int:
    """A TCP port of that address on which nothing listens."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def fetch(asked: Request) -> None:
    """Download a bundle from a store."""
    transfers().fetch(Path(asked["place"]), asked["url"], asked["limit_s"])


def transfers() -> Any:
    """Import the transfers module only when needed, because importing HTTP takes longer than most commands."""
    from plimsoll.adapters.onhost import transfers

    return transfers


COMMANDS: Mapping[str, Callable[[Request], Any]] = {
    "start": control.start,
    "status": lambda asked: control.status(Path(asked["folder"]), asked["id"]),
    "stop": lambda asked: control.stop(Path(asked["folder"]), asked["id"], asked["grace_s"]),
    "readings": lambda asked: readings.read(),  # noqa: ARG005 - every command takes a request
    "free-port": lambda asked: free_port(asked["address"]),
    "room": lambda asked: room(Path(asked["folder"])),
    "fetch": fetch,
    "measure": lambda asked: transfers().measure(asked["paths"]),
    "send": lambda asked: transfers().send(asked["files"], asked["limit_s"]),
    "clean": lambda asked: cleaning.clean(Path(asked["work"]), asked["cluster"]),
    "lease-read": lambda asked: lease.read(Path(asked["folder"])),
    "lease-take": lambda asked: lease.take(Path(asked["folder"]), asked["lease"], asked["over"]),
    "clear": lambda asked: cleaning.clear(
        Path(asked["work"]), asked["cluster"], [Path(host) for host in asked["hosts"]], frozenset(asked["keep"])
    ),
    "lease-renew": lambda asked: lease.renew(Path(asked["folder"]), asked["lease"]),
    "lease-ready": lambda asked: lease.ready(Path(asked["folder"]), asked["key"]),
    "lease-release": lambda asked: lease.release(Path(asked["folder"]), asked["key"]),
}


if __name__ == "__main__":
    try:
        json.dump(COMMANDS[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
    except OSError as refused:
        sys.exit(str(refused))
