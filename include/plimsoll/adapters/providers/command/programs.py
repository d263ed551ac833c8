"""Run a program of the installation: by its name in one folder, with JSON as input, in bounded time and output."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import IO, Protocol

from plimsoll.domain.text.errors import Problem, ProviderError

MOST_BYTES = 8 << 20
"""The most that a program may print, bytes: some hundred hosts take less than one MiB."""
_MOST_WORDS = 64 << 10
_LOOK_S, _LAST_WORDS_S = 0.02, 5.0
_OWN = ("AIRFLOW_", "_AIRFLOW_", "PLIMSOLL_")
SETTING = "PLIMSOLL_PROVIDER_PROGRAMS"
_MEND = f"let the installation's administrator put it into the folder that {SETTING} names, on every worker"


@dataclass(frozen=True)
class Ended:
    """A program that has ended: its exit code, what it printed, and what it said on its error output."""

    exit_code: int
    printed: bytes
    words: str


class Programs(Protocol):
    def problem(self, name: str) -> str:
        """Return why there is no such program that may be run; empty where there is."""

    def run(self, argv: Sequence[str], given: bytes, limit: timedelta) -> Ended:
        """Run it to its end. Raises ProviderError where it can't be run, is too slow, or prints too much."""


@dataclass(frozen=True)
class FolderPrograms:
    """An implementation of Programs. Files of `folder` alone are run; there are none where no folder is set.

    Who may write definitions may so choose among what the installation's administrator has put there, and run nothing
    else on the controller. The programs get the worker's environment, in which their credentials are, without the
    settings of Airflow and Plimsoll, among which are other secrets.
    """

    folder: Path | None

    def problem(self, name: str) -> str:
        if self.folder is None:
            return f"no programs may be run: {SETTING} names no folder"
        # Python takes `..` for a file name
        if name != Path(name).name or name.startswith("."):
            return f"{name!r} is no plain file name: programs are those of {self.folder}"
        if not (self.folder / name).is_file() or not os.access(self.folder / name, os.X_OK):
            return f"there is no program {name!r} that can be run in {self.folder}"
        return ""

    def run(self, argv: Sequence[str], given: bytes, limit: timedelta) -> Ended:
        if self.folder is None or (why := self.problem(argv[0])):
            raise ProviderError(why, where="provider.options", mend=_MEND)
        command = [str((self.folder / argv[0]).absolute()), *argv[1:]]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.folder,
                env={name: value for name, value in os.environ.items() if not name.startswith(_OWN)},
                start_new_session=True,
            )
        except OSError as error:
            mend = "see its first line, `#!…`, and that its interpreter is there"
            raise ProviderError(f"{argv[0]} can't be started: {error.strerror}", where=argv[0], mend=mend) from error
        return _followed(process, " ".join(argv), given, limit)


def problems(programs: Programs, commands: Mapping[str, Sequence[str]]) -> Sequence[Problem]:
    reasons = ((key, programs.problem(argv[0])) for key, argv in commands.items())
    return [Problem(f"provider.options.{key}", why, _MEND) for key, why in reasons if why]


class _Output:
    """The end of what a program prints on one of its outputs, read in a thread so that it never blocks."""

    def __init__(self, pipe: IO[bytes], most: int) -> None:
        self._pipe, self._most, self._kept, self._size = pipe, most, bytearray(), 0
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def is_too_long(self) -> bool:
        return self._size > self._most

    def whole(self) -> bytes:
        """Return it, once nobody writes any more, or after some seconds."""
        # A child in a session of its own survives the kill of the group, and may keep the pipe open
        self._thread.join(_LAST_WORDS_S)
        return bytes(self._kept)

    def _read(self) -> None:
        with suppress(OSError), self._pipe:
            while block := os.read(self._pipe.fileno(), 1 << 16):
                self._size += len(block)
                self._kept += block
                del self._kept[: -self._most]


def _followed(process: "subprocess.Popen[bytes]", name: str, content: bytes, limit: timedelta) -> Ended:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    printed, words = _Output(process.stdout, MOST_BYTES), _Output(process.stderr, _MOST_WORDS)
    Thread(target=_feed, args=(process.stdin, content), daemon=True).start()
    deadline = time.monotonic() + limit.total_seconds()
    try:
        # Not `poll`, which would reap the process and free its number before its group is killed
        while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) and not printed.is_too_long:
            if time.monotonic() > deadline:
                mend = "see what it waits for; a definition gives it more time by `launch_within`, `answer_within`"
                raise ProviderError(f"{name} did not end within {limit}, and was killed", where=name, mend=mend)
            time.sleep(_LOOK_S)
    finally:
        # Before it is waited for: until then no other group can have its number. What it has left running goes, too.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    whole, errors = printed.whole(), words.whole().decode(errors="replace").strip()
    if printed.is_too_long:
        what = f"{name} printed more than {MOST_BYTES >> 20} MiB"
        raise ProviderError(what, where=name, mend="let it print its answer alone, and words on its error output")
    return Ended(process.returncode, whole, errors)


def _feed(pipe: IO[bytes], content: bytes) -> None:
    with suppress(OSError):  # it may end without reading
        pipe.write(content)
    with suppress(OSError):
        pipe.close()
