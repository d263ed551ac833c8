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
    "start": lambda request: module("control").start(request),
    "status": lambda request: module("control").status(Path(request["folder"]), request["id"]),
    "stop": lambda request: module("control").stop(Path(request["folder"]), request["id"], request["grace_s"]),
    "readings": lambda request: module("readings").read(Path(request["folder"])),
    "free-port": lambda request: free_port(request["address"]),
    "room": lambda request: room(Path(request["folder"])),
    "fetch": lambda request: module("transfers").fetch(Path(request["place"]), request["url"], request["limit_s"]),
    "measure": lambda request: module("transfers").measure(request["paths"], request["most_bytes"]),
    "send": lambda request: module("transfers").send(request["files"], request["limit_s"]),
    "clean": lambda request: module("cleaning").clean(Path(request["work"]), request["cluster"]),
    "lease-read": lambda request: module("lease").read(Path(request["folder"])),
    "lease-take": lambda request: module("lease").take(Path(request["folder"]), request["lease"]),
    "lease-take-over": lambda request: module("lease").take_over(
        Path(request["folder"]),
        request["lease"],
        request["seen"],
        lambda: module("cleaning").clean(Path(request["work"]), request["seen"]["key"]),
    ),
    "clear": lambda request: module("cleaning").clear(
        Path(request["work"]), request["cluster"], [Path(host) for host in request["hosts"]], frozenset(request["keep"])
    ),
    "lease-renew": lambda request: module("lease").renew(Path(request["folder"]), request["lease"]),
    "lease-ready": lambda request: module("lease").ready(Path(request["folder"]), request["key"]),
    "leave": lambda request: module("cleaning").leave(Path(request["work"]), Path(request["program"])),
    "lease-release": lambda request: module("lease").release(Path(request["folder"]), request["key"]),
}


if __name__ == "__main__":
    try:
        json.dump(COMMANDS[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
    except OSError as refused:
        sys.exit(str(refused))
