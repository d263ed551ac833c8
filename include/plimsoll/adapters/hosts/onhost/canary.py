"""Says in a few seconds what a host's processors, disk and network can do. Imports nothing of its own, to be a script.

measure EFFORT FOLDER             prints bytes a second as JSON: SHA-256 on all processors, writing and reading there
receive EFFORT ADDRESS PORT WORD  prints how many bytes a second come from whoever says the word first
send EFFORT ADDRESS PORT WORD     sends to that for a while

EFFORT is an object in JSON with the fields of `Effort` that are not to be as usual.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

_BLOCK = 1 << 20


class Effort(NamedTuple):
    """Limits of a check, s: for each part of a host, and for hosts that wait for others; the largest file, bytes."""

    cpu_s: float = 1.0
    disk_s: float = 5.0
    file_bytes: int = 256 << 20
    network_s: float = 1.0
    patience_s: float = 60.0


USUAL = Effort()


def measure(folder: Path, effort: Effort = USUAL) -> dict[str, float]:
    """Measure processors, then the disk, since they would disturb each other. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    return {"cpu_bytes_s": cpu(effort.cpu_s), **disk(folder, effort)}


def cpu(limit_s: float) -> float:
    """Return bytes per second of SHA-256 with a thread for each processor. Large blocks release Python's lock."""
    count = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(count) as pool:
        return sum(pool.map(_hash_rate, [limit_s] * count))


def disk(folder: Path, effort: Effort) -> dict[str, float]:
    """Return bytes per second of writing and reading a file of that size, or less on a slow disk.

    The file is synced to the disk and dropped from the page cache before it is read. It has no name.
    """
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        number = file.fileno()
        block = os.urandom(_BLOCK)
        written = rate(lambda: os.write(number, block), effort.disk_s, lambda: os.fsync(number), effort.file_bytes)
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
        os.lseek(number, 0, os.SEEK_SET)
        read = rate(lambda: len(os.read(number, _BLOCK)), effort.disk_s, most=effort.file_bytes)
    return {"disk_write_bytes_s": written, "disk_read_bytes_s": read}


def receive(address: str, port: int, word: str, patience_s: float) -> float:
    """Return bytes per second received, from the first byte to the last. Raises OSError when nothing arrives."""
    with socket.create_server((address, port)) as server:
        server.settimeout(patience_s)
        while True:
            link, _ = server.accept()
            link.settimeout(patience_s)
            with link, link.makefile("rb") as stream:
                if stream.readline(100).strip() == word.encode():
                    return rate(lambda: len(stream.read1(_BLOCK)), patience_s)


def send(address: str, port: int, word: str, effort: Effort) -> None:
    """Send for as long as that, once somebody listens. Raises OSError when nobody does."""
    block = os.urandom(_BLOCK)
    with _connected(address, port, effort.patience_s) as link:
        link.sendall(f"{word}\n".encode())
        until = time.monotonic() + effort.network_s
        while time.monotonic() < until:
            link.sendall(block)


def _hash_rate(limit_s: float) -> float:
    block = bytes(_BLOCK)
    # The digest's size is never 0, so each step returns the size of the block that it hashed
    return rate(lambda: hashlib.sha256(block).digest_size and _BLOCK, limit_s)


def rate(
    step: Callable[[], int], limit_s: float, end: Callable[[], object] = lambda: None, most: int | None = None
) -> float:
    """Return bytes per second of a repeated step, until one moves nothing, or bytes or time are over."""
    began, moved = time.monotonic(), 0
    while (most is None or moved < most) and time.monotonic() - began < limit_s:
        size = step()
        if not size:
            break
        moved += size
    end()
    return moved / max(time.monotonic() - began, 1e-9)


def _connected(address: str, port: int, patience_s: float) -> socket.socket:
    until = time.monotonic() + patience_s
    while True:
        try:
            link = socket.create_connection((address, port), timeout=patience_s)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return link


def main(command: str, effort_json: str, *arguments: str) -> Any:
    effort = USUAL._replace(**json.loads(effort_json))
    if command == "measure":
        return measure(Path(arguments[0]), effort)
    address, port, word = arguments
    if command == "receive":
        return receive(address, int(port), word, effort.patience_s)
    return send(address, int(port), word, effort)


if __name__ == "__main__":
    try:
        json.dump(main(*sys.argv[1:]), sys.stdout)
    except OSError as refused:
        sys.exit(str(refused))
