"""Copies what is written to logs from now on. A program of its own: Python 3.9, its standard library only.

Usage: python3 FILE OUTPUT NAME=PATH... Each log is followed into the file OUTPUT/NAME, through rotations, until the
process is ended. `check FOLDER USER PATH...` prints what would be in the way of that instead, a line each.
"""

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from pathlib import Path
from pwd import getpwnam

PERIOD_S = 1.0
MOST_BYTES = 64 << 20
"""The most that is taken of all logs together."""
ROOM_BYTES = 32 << 20
"""The room that is left to others where the copies lie."""
CUT = "plimsoll: what followed was not taken"
"""Begins the line that ends what was taken of a log, with the reason."""
_BLOCK = 1 << 20
GC_LOG = "gc.log"
_DETAILS = (b"][trace", b"][debug")
"""In lines that a JVM writes into its GC log of each region of its heap, some thousands a collection."""
_PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst")


class Log:
    """One log: the file that is followed, and as much of it as was taken."""

    def __init__(self, path: str, copy: Path) -> None:
        self._path, self._copy = path, copy
        self._read: dict[tuple[int, int], int] = {}  # file → how far it was read
        self._file, self.is_over = -1, False
        copy.touch()
        for present in glob(path):  # noqa: PTH207 - patterns begin at the root
            with suppress(OSError):
                state = os.stat(present)  # noqa: PTH116
                self._read[state.st_dev, state.st_ino] = state.st_size
        # Opens the newest file, so that its end is read even if it is renamed before the first look
        self.take(MOST_BYTES)

    def take(self, most: int) -> int:
        """Take what is new of the file, and of the one that has taken its place; `most` bytes. Return how many."""
        taken = self._drain(most) if self._file >= 0 else 0
        newest = _opened(newest_of(self._path))
        if newest < 0:
            return taken
        if self._file >= 0 and _identity(newest) == _identity(self._file):
            os.close(newest)
            return taken
        if self._file >= 0:
            taken += self._drain(most - taken)  # what came between the two looks
            os.close(self._file)
        self._file = newest
        return taken + self._drain(most - taken)

    def end(self, why: str) -> None:
        """Take no more of it."""
        self.is_over = True
        with suppress(OSError), self._copy.open("a") as copy:
            copy.write(f"\n{CUT}: {why}\n")

    def _drain(self, most: int) -> int:
        """Copy the file from where it was left. One that became shorter was begun anew."""
        identity, size = _identity(self._file), os.fstat(self._file).st_size
        at = self._read.get(identity, 0)
        at = 0 if at > size else at
        taken = 0
        with self._copy.open("ab") as copy:
            while taken < most and (lines := self._lines(at)):
                kept = lines
                if self._copy.name == GC_LOG:
                    kept = b"".join(
                        line for line in lines.splitlines(True) if not any(d in line[:100] for d in _DETAILS)
                    )
                copy.write(kept)
                at, taken = at + len(lines), taken + len(kept)
        self._read[identity] = at
        return taken

    def _lines(self, at: int) -> bytes:
        """Return what comes there, as whole lines where one has ended."""
        block = os.pread(self._file, _BLOCK, at)
        whole = block[: block.rfind(b"\n") + 1]
        # A line that is longer than a block is taken in pieces: its end would never be in sight
        return whole or (block if len(block) == _BLOCK else b"")


def newest_of(path: str) -> str:
    """Return the file that was written to last, of those that are not packed; empty where there is none."""
    plain = (match for match in glob(path) if not match.endswith(_PACKED))  # noqa: PTH207
    return max(plain, key=_written, default="")


def _written(path: str) -> int:
    with suppress(OSError):
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    return 0


def _opened(path: str) -> int:
    """Return the open file; -1 where it can't be read, or is none."""
    with suppress(OSError):
        # Without O_NONBLOCK the opening of a pipe waits until somebody writes to it
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if stat.S_ISREG(os.fstat(file).st_mode):
            return file
        os.close(file)
    return -1


def _identity(file: int) -> "tuple[int, int]":
    state = os.fstat(file)
    return state.st_dev, state.st_ino


def follow(logs: "list[Log]", left: int, room: int) -> int:
    """Take once of each log. Return how many bytes may still be taken of all."""
    for log in [log for log in logs if not log.is_over]:
        try:
            left -= log.take(left if room > ROOM_BYTES else 0)
            if left <= 0 or room <= ROOM_BYTES:
                log.end("too much was written" if left <= 0 else "there is no room")
        except OSError as error:
            log.end(str(error))
    return left


def obstacles(folder: str, user: str, *paths: str) -> "Iterator[str]":
    """Yield a sentence for a folder that can't be used, a user as whom nothing runs, a log that can't be read."""
    yield from _of_folder(folder)
    number = user
    with suppress(KeyError):
        number = str(getpwnam(user).pw_uid)
    pids = [pid for pid in os.listdir("/proc") if pid.isdigit()]  # noqa: PTH208
    # Where others' processes are hidden, what they take is not known later on.
    if "1" in pids and _user_of("1") and number not in map(_user_of, pids):
        yield f"no process runs as {user} there"
    for path in paths:
        newest = newest_of(path)
        if not newest:
            yield f"there is no file {path}, or its folder can't be listed"
        elif not (os.access(newest, os.R_OK) and os.path.isfile(newest)):  # noqa: PTH113
            yield f"{newest} can't be read"


def _of_folder(folder: str) -> "Iterator[str]":
    existing = Path(folder)
    while not existing.exists():
        existing = existing.parent
    if not os.access(existing, os.W_OK | os.X_OK):
        yield f"nothing can be written to {existing}"
    elif (free := os.statvfs(existing).f_bavail * os.statvfs(existing).f_frsize) < MOST_BYTES + 2 * ROOM_BYTES:
        yield f"{free >> 20}M are free in {existing}, {(MOST_BYTES + 2 * ROOM_BYTES) >> 20}M are needed"


def _user_of(pid: str) -> str:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/status").read_text(errors="replace").split("\nUid:")[1].split()[1]
    return ""


def main(output: str, *arguments: str) -> None:
    """Follow the logs until the process is ended."""
    if output == "check":
        for sentence in obstacles(*arguments):
            print(sentence)
        with suppress(OSError):  # the guard before it may have made the folder
            os.rmdir(arguments[0])  # noqa: PTH106
        return
    folder, left = Path(output), MOST_BYTES
    folder.mkdir(parents=True, exist_ok=True)
    logs = [Log(path, folder / name) for name, _, path in (argument.partition("=") for argument in arguments)]
    while True:
        time.sleep(PERIOD_S)
        free = os.statvfs(folder)
        left = follow(logs, left, free.f_bavail * free.f_frsize)


if __name__ == "__main__":
    main(*sys.argv[1:])
