"""Says in a few seconds what a host's processors, disk and network can do. Imports nothing of its own, to be a script.

measure FOLDER             prints bytes a second as JSON: SHA-256 on all processors, writing and reading below FOLDER
receive ADDRESS PORT WORD  prints how many bytes a second come from whoever says the word first
send ADDRESS PORT WORD     sends to that for a second
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
from typing import Any

CPU_S, DISK_S, NETWORK_S = 1.0, 5.0, 1.0
_FILE = 256 << 20
_BLOCK = 1 << 20
_PATIENCE_S = 60.0
_PAUSE_S = 0.05


def measure(folder: Path) -> dict[str, float]:
    """Measure processors, then the disk, since they would disturb each other. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    return {"cpu_bytes_s": cpu(), **disk(folder)}


def cpu() -> float:
    """Bytes per second of SHA-256 with a thread for each processor. Hashing large blocks releases Python's lock."""
    count = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(count) as pool:
        return sum(pool.map(_hash_rate, range(count)))


def disk(folder: Path) -> dict[str, float]:
    """Bytes per second of writing and reading a file of 256 MiB, or less on a slow disk.

    The file is synced to the disk and dropped from the page cache before it is read. It has no name.
    """
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        number = file.fileno()
        block = os.urandom(_BLOCK)
        written = rate(lambda: os.write(number, block), DISK_S, lambda: os.fsync(number))
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
        os.lseek(number, 0, os.SEEK_SET)
        read = rate(lambda: len(os.read(number, _BLOCK)), DISK_S)
    return {"disk_write_bytes_s": written, "disk_read_bytes_s": read}


def receive(address: str, port: int, word: str) -> float:
    """Bytes per second received, from the first byte to the last. Raises OSError when nothing arrives."""
    with socket.create_server((address, port)) as server:
        server.settimeout(_PATIENCE_S)
        while True:
            link, _ = server.accept()
            link.settimeout(_PATIENCE_S)
            with link, link.makefile("rb") as stream:
                if stream.readline(100).strip() == word.encode():
                    return rate(lambda: len(stream.read1(_BLOCK)), _PATIENCE_S, most=None)


def send(address: str, port: int, word: str) -> None:
    """Send for a second, once somebody listens. Raises OSError when nobody does."""
    block = os.urandom(_BLOCK)
    with _connected(address, port) as link:
        link.sendall(f"{word}\n".encode())
        until = time.monotonic() + NETWORK_S
        while time.monotonic() < until:
            link.sendall(block)


def _hash_rate(_: int) -> float:
    block = bytes(_BLOCK)
    return rate(lambda: hashlib.sha256(block).digest_size and _BLOCK, CPU_S, most=None)


def rate(
    step: Callable[[], int], limit_s: float, end: Callable[[], object] = lambda: None, most: int | None = _FILE
) -> float:
    """Bytes per second of a repeated step, until a step moves nothing, the byte limit is reached, or time is over."""
    began, moved = time.monotonic(), 0
    while (most is None or moved < most) and time.monotonic() - began < limit_s:
        size = step()
        if not size:
            break
        moved += size
    end()
    return moved / max(time.monotonic() - began, 1e-9)


def _connected(address: str, port: int) -> socket.socket:
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            link = socket.create_connection((address, port), timeout=_PATIENCE_S)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE_S)
        else:
            return link


def main(command: str, *arguments: str) -> Any:
    """The result of the command."""
    if command == "measure":
        return measure(Path(arguments[0]))
    address, port, word = arguments
    return receive(address, int(port), word) if command == "receive" else send(address, int(port), word)


if __name__ == "__main__":
    try:
        json.dump(main(*sys.argv[1:]), sys.stdout)
    except OSError as refused:
        sys.exit(str(refused))
