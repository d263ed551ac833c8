"""Run one command on one channel: write its input, read both its outputs, wait for its exit code. This is the only
module that quotes a caller's words for a host's shell.
"""

import json
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import paramiko

from plimsoll.adapters.hosts.base import INHERITED, PYTHON
from plimsoll.adapters.hosts.onhost import guard
from plimsoll.adapters.hosts.onhost.lease import LEASE
from plimsoll.domain.text.errors import HostError
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.host import MOST_OUTPUT_BYTES

_BLOCK = 1 << 16
_SHOWN = 1000


class Input:
    """A command's standard input, with the part of the file interface that writers need."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel, self._read = channel, True

    def write(self, data: bytes) -> int:
        """Write all bytes. OSError once when the reader has gone; later writes, as of an archive's end, are ignored."""
        if self._read:
            self._read = False
            self._channel.sendall(data)
            self._read = True
        return len(data)


Feed = Callable[[Input], object]
"""Writes a command's whole input; called again from the start when the command is repeated."""


@dataclass(frozen=True)
class Answer:
    """A finished command."""

    exit_code: int
    stdout: bytes
    stderr: bytes

    def parsed(self, where: str) -> Any:
        """Parse the command's output, which is JSON. Raises HostError for anything else; `where` names the host."""
        try:
            # Python raises RecursionError for thousands of open brackets
            return json.loads(self.stdout)
        except (ValueError, RecursionError) as error:
            what = f"its answer is no JSON: {shortened(self.stdout[:_SHOWN].decode(errors='replace'))!r}"
            mend = "see what prints at each login there, such as the user's start-up files"
            raise HostError(what, where=where, mend=mend) from error


def execute(channel: paramiko.Channel, command: str, timeout_s: float, feed: Feed | None) -> Answer:
    """Run it to its end. Raises TimeoutError when nothing arrives for that long, EOFError when the link is lost.

    HostError for too much output; of errors beyond the bound nothing is kept.
    """
    channel.exec_command(command)
    # Both outputs share one window: if only one were read, the other could stop the command.
    errors: list[bytes] = []
    reader = threading.Thread(target=lambda: errors.extend(_blocks(channel.recv_stderr)), daemon=True)
    reader.start()
    if feed is not None:
        # A command that ends before its input does has a reason, which it tells on its other side.
        with suppress(OSError):
            feed(Input(channel))
    channel.shutdown_write()
    try:
        output = _read(channel.recv)
    except OverflowError:
        host = ":".join(map(str, channel.getpeername()[:2]))
        what = f"the command printed more than {MOST_OUTPUT_BYTES >> 20} MiB"
        raise HostError(what, where=f"host {host}", mend="see what it prints there") from None
    reader.join(timeout_s)
    # Not `recv_exit_status`, which waits without a limit
    if reader.is_alive() or not channel.status_event.wait(timeout_s):
        raise TimeoutError(f"nothing came for {timeout_s:g} s")
    # paramiko sets the event when the channel closes, too, and leaves -1
    if channel.exit_status < 0:
        raise EOFError("the link was lost before the command's end was reported")
    return Answer(channel.exit_status, b"".join(output), b"".join(errors))


def _read(receive: Callable[[int], bytes]) -> list[bytes]:
    blocks, size = [], 0
    while block := receive(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > MOST_OUTPUT_BYTES:
            raise OverflowError
    return blocks


def _blocks(receive: Callable[[int], bytes]) -> list[bytes]:
    """Read until the end. The reader of the other output reports a broken link."""
    blocks, size = [], 0
    with suppress(OSError):
        while block := receive(_BLOCK):
            size += len(block)
            if size <= MOST_OUTPUT_BYTES:
                blocks.append(block)
    return blocks


def in_shell(script: str) -> str:
    """Return the script for a POSIX shell, whatever the user's login shell is."""
    return f"exec /bin/sh -c {shlex.quote(script)}"


def run_command(
    argv: Sequence[str],
    folders: Sequence[PurePosixPath],
    tags: Mapping[str, str],
    timeout_s: float,
    *,
    reads: bool = False,
) -> str:
    """Return a command in the first of these folders with a clean environment, once no other user can change any of
    them. `reads`: whether it reads what is written to it.

    On a timeout it is killed with its child processes. The host itself enforces the time limit, so that a lost link
    leaves nothing that runs for ever. There is always an exit code: for a command that a signal ended, 128 plus the
    signal's number.
    """
    limited = ["timeout", "-s", "KILL", f"{timeout_s:.3f}", *argv]
    stdin = "" if reads else " </dev/null"
    # `timeout -s KILL` kills itself, too, and paramiko is told no exit code of a process that a signal ended. `exit $?`
    # keeps the shell from replacing itself by the command, so that it lives to report 137.
    return in_shell(f"{_clean(tags)} {_guarded(folders, *limited)}{stdin}; exit $?")


def program_command(program: PurePosixPath, command: str, tags: Mapping[str, str]) -> str:
    """Return a command of the program on hosts, once no other user can change the folder that the program lies in.

    Everything that it starts has a clean environment and the tags.
    """
    return in_shell(f"exec {_clean(tags)} {_guarded([program.parent], str(program), command)}")


def receiver_command(source: str, command: str, folder: PurePosixPath) -> str:
    """Return a command of the receiver, which is not on the host yet, once nobody else can change what is around it."""
    return in_shell(f"exec {_guarded([folder.parent], *PYTHON, '-c', source, command, str(folder))}")


def script_command(source: str, *arguments: str, within: PurePosixPath | None = None) -> str:
    """Return a Python script that is not on the host yet, run once no other user can change that folder."""
    argv = (*PYTHON, "-c", source, *arguments)
    return in_shell(f"exec {_guarded([within], *argv) if within else quoted(*argv)}")


def lookup_command(program: str) -> str:
    """Return a command that succeeds where there is such a program."""
    return in_shell(f"command -v {quoted(program)}")


def list_command(folder: PurePosixPath) -> str:
    """Return a command that lists all files below a folder, each ended by a zero byte; no output without the folder."""
    path = quoted(str(folder))
    return in_shell(f"[ -d {path} ] || exit 0; exec find {path} ! -type d -print0")


def default_folder_command(below_home: PurePosixPath, former: PurePosixPath) -> str:
    """Return a command that prints the folder below the user's home.

    It prints the former default folder as long as that is this user's and a lease of his lies there.
    """
    path, lease = quoted(str(former)), quoted(str(former / LEASE))
    is_used = f"[ -O {path} ] && [ ! -L {path} ] && [ -O {lease} ]"
    # `pwd -P`, because the guard refuses folders that are reached through a link
    below = f'cd && printf %s/%s "$(pwd -P)" {quoted(str(below_home))}'
    return in_shell(f"if {is_used}; then printf %s {path}; else {below}; fi")


def free_space_command(folder: PurePosixPath) -> str:
    """Return a command with two lines of output, the second with the free KiB below the folder in its fourth column.

    Where the folder does not exist yet, its parent is measured, because it may be on a disk of its own.
    """
    return in_shell(f"cd {quoted(str(folder))} 2>/dev/null || cd {quoted(str(folder.parent))}; exec df -Pk .")


def quoted(*words: str) -> str:
    return shlex.join(words)


def _guarded(folders: Sequence[PurePosixPath], *argv: str) -> str:
    return quoted(*PYTHON, "-c", _guard(), *map(str, folders), "--", *argv)


@lru_cache(1)
def _guard() -> str:
    return Path(guard.__file__).read_text(encoding="utf-8")


def _clean(tags: Mapping[str, str]) -> str:
    """Return `env` with the few variables that are passed on unchanged, and the tags."""
    # A variable that is not set there gives no word at all, where `NAME=$NAME` would make it an empty one
    passed = " ".join(f'${{{name}+"{name}=${name}"}}' for name in INHERITED)
    added = quoted(*(f"{name}={value}" for name, value in tags.items()))
    return f"env -i {passed} {added}".rstrip()


def free_space(answer: str) -> str:
    """Return the output of `df -Pk` in words."""
    lines = [line.split() for line in answer.splitlines()[1:]]
    free = next((int(fields[3]) for fields in lines if len(fields) > 3 and fields[3].isdigit()), None)
    if free is None:
        return "how much disk is free there is not known"
    return "No space left on device" if free == 0 else f"{free} KiB of disk are free there"
