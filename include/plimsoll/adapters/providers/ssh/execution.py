"""Run one command on one channel: write its input, read both its outputs, wait for its exit code."""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import paramiko

from plimsoll.domain.errors import HostError
from plimsoll.domain.excerpts import shortened
from plimsoll.ports.host import MOST_OUTPUT_BYTES

_BLOCK = 1 << 16
_SHOWN = 1000


class Input:
    """A command's standard input, with the part of the file interface that writers need."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel, self._read = channel, True

    def write(self, data: bytes) -> int:
        """Write all bytes. Raises OSError once when the reader has gone; later writes are ignored.

        Archives write their ends even when they are given up.
        """
        if self._read:
            self._read = False
            self._channel.sendall(data)
            self._read = True
        return len(data)


Feed = Callable[[Input], None]
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
    if reader.is_alive() or not channel.status_event.wait(timeout_s):
        raise TimeoutError(f"nothing came for {timeout_s:g} s")
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
