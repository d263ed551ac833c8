"""The lease of a folder: a file that names the cluster that uses this host, changed atomically under a lock."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LEASE, _LOCK = "lease.json", "lease.lock"


def read(folder: Path) -> dict[str, Any]:
    """The lease, or none, and this host's time: `{"lease": …, "now": seconds since the epoch}`."""
    try:
        lease = json.loads((folder / _LEASE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        lease = None
    return {"lease": lease, "now": time.time()}


def take(folder: Path, lease: dict[str, Any], over: str | None) -> dict[str, Any]:
    """Take the folder unless a key other than `over` holds it.

    Returns the lease that is valid then, and this host's time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        current = read(folder)["lease"]
        if current is None or current["key"] == over != lease["key"]:
            _write(folder, lease)
        return read(folder)


def renew(folder: Path, lease: dict[str, Any]) -> bool:
    """Change the lease, such as its expiry. False where another key holds the folder."""
    with _locked(folder):
        current = read(folder)["lease"]
        if current is None or current["key"] != lease["key"]:
            return False
        _write(folder, lease)
        return True


def ready(folder: Path, key: str) -> bool:
    """Record that the holder's cluster is whole. False where another key holds the folder."""
    with _locked(folder):
        current = read(folder)["lease"]
        if current is None or current["key"] != key:
            return False
        _write(folder, {**current, "ready": True})
        return True


def release(folder: Path, key: str) -> bool:
    """End the lease if that key holds it. Returns whether that key no longer holds it."""
    if not folder.is_dir():
        return True
    with _locked(folder):
        current = read(folder)["lease"]
        if current is not None and current["key"] == key:
            (folder / _LEASE).unlink()
    return True


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(folder: Path, lease: dict[str, Any]) -> None:
    unfinished = folder / f".{_LEASE}.part"
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(lease, file)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(folder / _LEASE)
