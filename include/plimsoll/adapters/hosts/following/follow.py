"""Copies what is written to logs from now on. A program of its own: Python 3.9, its standard library only.

Usage: python3 FOLDER OUTPUT NAME=PATH... Each log is followed into the file OUTPUT/NAME, through rotations, until the
process is ended. `check USER PATH...` prints what is in the way of that instead, a line each.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from pathlib import Path
from pwd import getpwnam

PERIOD_S = 1.0
MOST_BYTES = 64 << 20
"""The most that is taken of one log."""
CUT = "plimsoll: more than {} MiB were written to this log, and what followed was not taken\n"
_BLOCK = 1 << 20


class Log:
    """One log: the file that is followed, and as much of it as was taken."""

    def __init__(self, path: str, copy: Path) -> None:
        self._path, self._copy = path, copy
        self._read: dict[tuple[int, int], int] = {}  # file → how far it was read
        self._file, self._is_full = -1, False
        copy.touch()
        for there in glob(path):  # noqa: PTH207 - patterns begin at the root
            with suppress(OSError):
                state = os.stat(there)  # noqa: PTH116
                self._read[state.st_dev, state.st_ino] = state.st_size
        self.take()

    def take(self) -> None:
        """Take what is new of the file, and of the one that has taken its place."""
        if self._is_full:
            return
        if self._file >= 0:
            self._drain()
        with suppress(OSError):
            newest = os.open(_newest(self._path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            if self._file >= 0 and _identity(newest) == _identity(self._file):
                os.close(newest)
                return
            if self._file >= 0:
                os.close(self._file)
            self._file = newest
            self._drain()

    def _drain(self) -> None:
        """Copy the file from where it was left. One that became shorter was begun anew."""
        identity, size = _identity(self._file), os.fstat(self._file).st_size
        at = self._read.get(identity, 0)
        at = 0 if at > size else at
        with self._copy.open("ab") as copy:
            while block := os.pread(self._file, _BLOCK, at):
                copy.write(block[: max(0, MOST_BYTES - copy.tell())])
                at += len(block)
                if copy.tell() >= MOST_BYTES:
                    copy.write(f"\n{CUT.format(MOST_BYTES >> 20)}".encode())
                    self._is_full = True
                    break
        self._read[identity] = at


def _newest(path: str) -> str:
    """Return the file that was written to last; empty where there is none."""
    return max(glob(path), key=_written, default="")  # noqa: PTH207


def _written(path: str) -> int:
    with suppress(OSError):
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    return 0


def _identity(file: int) -> "tuple[int, int]":
    state = os.fstat(file)
    return state.st_dev, state.st_ino


def obstacles(user: str, *paths: str) -> "Iterator[str]":
    """Yield a sentence for a user as whom nothing runs, and for each log that can't be read."""
    number = user
    with suppress(KeyError):
        number = str(getpwnam(user).pw_uid)
    if not any(_runs_as(pid, number) for pid in os.listdir("/proc") if pid.isdigit()):  # noqa: PTH208
        yield f"no process runs as {user} there"
    for path in paths:
        newest = _newest(path)
        if not newest:
            yield f"there is no file {path}, or its folder can't be listed"
        elif not os.access(newest, os.R_OK):
            yield f"{newest} can't be read"


def _runs_as(pid: str, user: str) -> bool:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/status").read_text(errors="replace").split("\nUid:")[1].split()[1] == user
    return False


def main(output: str, *logs: str) -> None:
    """Follow the logs until the process is ended."""
    if output == "check":
        for sentence in obstacles(*logs):
            print(sentence)
        return
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    followed = [Log(path, folder / name) for name, _, path in (log.partition("=") for log in logs)]
    while True:
        time.sleep(PERIOD_S)
        for log in followed:
            log.take()


if __name__ == "__main__":
    main(*sys.argv[1:])
