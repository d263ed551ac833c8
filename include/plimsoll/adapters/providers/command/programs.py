"""A cloud as its three programs show it: each call with its input, its exit code in words, and its answer checked.

And how such a program of the installation is run: by its name in one folder, with JSON as input, in bounded time and
output.
"""

import os
import signal
import subprocess
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, repeat
from pathlib import Path
from threading import Thread
from typing import IO, Protocol

from plimsoll.adapters.providers.command import contract
from plimsoll.adapters.providers.command.options import CommandOptions
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import ProviderError
from plimsoll.domain.text.wording import shortened

MOST_BYTES = 8 << 20
"""The most that a program may print, bytes: some hundred hosts take less than one MiB."""
_MOST_WORDS = 64 << 10
_LOOK_S, _LAST_WORDS_S = 0.02, 5.0
_OWN = ("AIRFLOW_", "_AIRFLOW_", "PLIMSOLL_")
SETTING = "PLIMSOLL_PROVIDER_PROGRAMS"
MEND_MISSING = f"let the installation's administrator put it into the folder that {SETTING} names, on every worker"


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
            raise ProviderError(why, where="provider.options", mend=MEND_MISSING)
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


NO_ROOM, AGAIN, REFUSED = 69, 75, 77
"""Exit codes, as in sysexits.h: EX_UNAVAILABLE, EX_TEMPFAIL and EX_NOPERM."""
_MOST_SHOWN = 1500


class ProgramError(ProviderError):
    """A program that failed, or that did not keep to the contract. `passes`: whether a later try may succeed."""

    def __init__(self, what: str, *, where: str = "", mend: str = "", passes: bool = False) -> None:
        super().__init__(what, where=where, mend=mend)
        self.passes = passes


@dataclass(frozen=True)
class Login:
    """Who logs in to hosts: the public key, and the user where the connection has one."""

    public_key: str
    user: str


@dataclass(frozen=True)
class Cloud:
    """The programs of one definition's options, for the hosts of one installation, `store`."""

    programs: Programs
    options: CommandOptions
    store: str

    @property
    def place(self) -> Hashable:
        """Return what tells one cloud from another: how its hosts are listed."""
        return self.options.list, str(self.options.options)

    def launch(self, tags: contract.Tags, login: Login, ports: tuple[int, ...]) -> tuple[contract.AnsweredHost, ...]:
        """Make the hosts that these tags name. Raises ProviderError, also where others than these are printed."""
        stdin = contract.LaunchInput(
            token=tags.token,
            tags=tags.as_text(),
            hosts=tuple(contract.RequestedHost(name=name, role=contract.role_of(name)) for name in tags.names),
            public_key=login.public_key,
            user=login.user,
            ports=ports,
            expires_at=tags.expires,
            options=self.options.options,
        )
        printed = self._run(self.options.launch, stdin, self.options.launch_within)
        try:
            hosts = contract.parse_hosts(printed, self.store)
            contract.require_asked(hosts, tags)
        except contract.Garbage as error:
            raise _broken(self.options.launch, error) from error
        return hosts

    def living(self) -> tuple[contract.AnsweredHost, ...]:
        """Return all hosts of the installation. Raises ProviderError where that can't be told."""
        stdin = contract.ListInput(tags={f"{contract.PREFIX}store": self.store}, options=self.options.options)
        printed = self._run(self.options.list, stdin, self.options.answer_within)
        try:
            return contract.parse_hosts(printed, self.store)
        except contract.Garbage as error:
            raise _broken(self.options.list, error) from error

    def of_cluster(self, cluster_id: ClusterId) -> tuple[contract.AnsweredHost, ...]:
        """Return the hosts of one cluster, the nodes first, in the order of their numbers."""
        own = [host for host in self.living() if host.owned.id == cluster_id]
        return tuple(sorted(own, key=lambda host: (host.role == "load", len(host.name), host.name)))

    def end(self, cluster_id: ClusterId, ids: Sequence[str]) -> None:
        """Have the cluster's hosts ended. Raises ProviderError. Whether they have, `living` tells."""
        tags = {f"{contract.PREFIX}store": self.store, f"{contract.PREFIX}cluster": str(cluster_id)}
        stdin = contract.EndInput(tags=tags, ids=tuple(dict.fromkeys(ids)), options=self.options.options)
        self._run(self.options.end, stdin, self.options.answer_within)

    def _run(self, argv: Sequence[str], stdin: Model, limit: timedelta) -> bytes:
        ended = self.programs.run(argv, stdin.model_dump_json().encode(), limit)
        if ended.exit_code == 0:
            return ended.printed
        reason = shortened(ended.words[-_MOST_SHOWN:]) or "it gave no reason on its error output"
        code = ended.exit_code
        if code == NO_ROOM and argv != self.options.launch:  # what makes no hosts needs no room for them
            code = AGAIN
        how = f"was killed by signal {-code}" if code < 0 else f"failed with exit code {code}"
        means, mend = _MEANING.get(code, (how, "see what it says"))
        passes = code in (NO_ROOM, AGAIN)
        raise ProgramError(f"{argv[0]} {means}: {reason}", where=" ".join(argv), mend=mend, passes=passes)


_MEANING = {
    NO_ROOM: ("has no room", "run fewer cells at once, or let it look in further places"),
    AGAIN: ("could not do it now", "try again later"),
    REFUSED: ("refuses it for good", "do what it says, or change the definition's provider.options"),
}


def _broken(argv: Sequence[str], error: contract.Garbage) -> ProgramError:
    return ProgramError(f"{argv[0]}: {error}", where=" ".join(argv), mend=error.mend)


def poll_pauses() -> Iterator[float]:
    """Yield the seconds between two looks at what is listed, without end."""
    return chain((2.0, 3.0, 5.0), repeat(10.0))
