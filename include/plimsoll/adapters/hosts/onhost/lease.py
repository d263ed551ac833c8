"""The lease of a folder: a file that names the cluster that uses this host, changed atomically under a lock."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LEASE = "lease.json"
_LOCK = "lease.lock"
_MOST_CHARACTERS = 1 << 22


def read(folder: Path) -> dict[str, Any]:
    """Return the lease, or none, and this host's time: `{"lease": …, "now": seconds since the epoch}`."""
    try:
        with (folder / LEASE).open(encoding="utf-8") as file:
            lease = json.loads(file.read(_MOST_CHARACTERS))
    except FileNotFoundError:
        lease = None
    except (ValueError, RecursionError):
        raise OSError(f"{folder / LEASE} is damaged: end what runs for it by hand, and remove the file") from None
    return {"lease": lease, "now": time.time()}


def take(folder: Path, lease: dict[str, Any]) -> dict[str, Any]:
    """Take the folder unless somebody holds it. Returns the lease that is valid then, and this host's time."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    with _locked(folder):
        if read(folder)["lease"] is None:
            _write(folder, lease)
        return read(folder)


def take_over(
    folder: Path, lease: dict[str, Any], seen: dict[str, Any], clean: Callable[[], list[str]]
) -> dict[str, Any]:
    """Take the folder from an expired lease, if the lease is still as it was `seen`, after `clean` has removed its
    remains.

    The answer is that of `take`, with a sentence for each thing that could not be removed; then the lease is not taken.
    The call may be repeated after it was killed half way, or after its answer was lost.
    """
    with _locked(folder):
        current = read(folder)["lease"]
        is_as_seen = current is not None and _unready(current) == _unready(seen)
        left: list[str] = []
        if is_as_seen:
            # Under the lock, so that the holder can't renew its lease meanwhile. Its cluster is not whole from now on:
            # the holder must not go on with it if this program is killed here.
            _write(folder, _unready(seen))
            left = clean()
        if not left and (is_as_seen or current is None):
            _write(folder, lease)
        return {**read(folder), "left": left}


def _unready(lease: dict[str, Any]) -> dict[str, Any]:
    return {**lease, "ready": False}


def renew(folder: Path, lease: dict[str, Any]) -> bool:
    """Change the lease, such as its expiry. False where another key holds the folder.

    A cluster that is not whole on this host does not become whole by it: another may have begun to take it over.
    """
    is_ready = bool(lease.get("ready"))
    return _change(folder, lease["key"], lambda held: {**lease, "ready": is_ready and bool(held.get("ready"))})


def ready(folder: Path, key: str) -> bool:
    """Record that the holder's cluster is whole. False where another key holds the folder."""
    return _change(folder, key, lambda held: {**held, "ready": True})


def _change(folder: Path, key: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
    with _locked(folder):
        current = read(folder)["lease"]
        if current is None or current["key"] != key:
            return False
        _write(folder, changed(current))
        return True


def release(folder: Path, key: str) -> bool:
    """End the lease if that key holds it. Returns whether that key no longer holds it."""
    if not folder.is_dir():
        return True
    with _locked(folder):
        current = read(folder)["lease"]
        if current is not None and current["key"] == key:
            (folder / LEASE).unlink()
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
    unfinished = folder / f".{LEASE}.part"
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(lease, file)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(folder / LEASE)
