"""`python3 FOLDER COMMAND`: reads a request as JSON from standard input, prints the answer as JSON.

What it can't do ends with exit code 1 and the reason on standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

Request = dict[str, Any]


def room(folder: Path) -> int:
    """Free bytes below the folder. It is created and written to first. Raises OSError where that fails."""
    import shutil
    import tempfile

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x")
    return shutil.disk_usage(folder).free


def free_port(address: str) -> int:
    """Return a TCP port of that address on which nothing listens."""
    import socket

    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def module(name: str) -> Any:
    """Import a module of this program only when a command needs it, because imports take longer than most commands."""
    return import_module(f"plimsoll.adapters.hosts.onhost.{name}")


COMMANDS: Mapping[str, Callable[[Request], Any]] = {
    "start": lambda asked: module("control").start(asked),
    "status": lambda asked: module("control").status(Path(asked["folder"]), asked["id"]),
    "stop": lambda asked: module("control").stop(Path(asked["folder"]), asked["id"], asked["grace_s"]),
    "readings": lambda asked: module("readings").read(Path(asked["folder"])),
    "free-port": lambda asked: free_port(asked["address"]),
    "room": lambda asked: room(Path(asked["folder"])),
    "fetch": lambda asked: module("transfers").fetch(Path(asked["place"]), asked["url"], asked["limit_s"]),
    "measure": lambda asked: module("transfers").measure(asked["paths"], asked["most_bytes"]),
    "send": lambda asked: module("transfers").send(asked["files"], asked["limit_s"]),
    "clean": lambda asked: module("cleaning").clean(Path(asked["work"]), asked["cluster"]),
    "lease-read": lambda asked: module("lease").read(Path(asked["folder"])),
    "lease-take": lambda asked: module("lease").take(Path(asked["folder"]), asked["lease"]),
    "lease-take-over": lambda asked: module("lease").take_over(
        Path(asked["folder"]),
        asked["lease"],
        asked["seen"],
        lambda: module("cleaning").clean(Path(asked["work"]), asked["seen"]["key"]),
    ),
    "clear": lambda asked: module("cleaning").clear(
        Path(asked["work"]), asked["cluster"], [Path(host) for host in asked["hosts"]], frozenset(asked["keep"])
    ),
    "lease-renew": lambda asked: module("lease").renew(Path(asked["folder"]), asked["lease"]),
    "lease-ready": lambda asked: module("lease").ready(Path(asked["folder"]), asked["key"]),
    "lease-release": lambda asked: module("lease").release(Path(asked["folder"]), asked["key"]),
}


if __name__ == "__main__":
    try:
        json.dump(COMMANDS[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
    except OSError as refused:
        sys.exit(str(refused))
