"""A host that is used over SSH."""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import paramiko

from plimsoll.adapters.hosts.base import BaseHost, order
from plimsoll.adapters.hosts.host_files import few_files, mend_of
from plimsoll.adapters.hosts.processes import KILLED, NOT_FOUND
from plimsoll.adapters.providers.ssh import execution, files
from plimsoll.adapters.providers.ssh.bundles import FETCH, Bundle, Program, Staged, bundle_of, deliver
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.adapters.providers.ssh.execution import Answer, Feed
from plimsoll.adapters.providers.ssh.login import unreachable
from plimsoll.domain.attempt.load_summary import ClockReading
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import HostError, Unreachable
from plimsoll.ports.host import MOST_FILE_BYTES, CommandResult, Job
from plimsoll.ports.store import StoredFile, UploadTicket

_ANSWER_S = 60.0
_MEASURE_S, _UPLOAD_S = 300.0, 900.0
_CLEAR_S = 120.0
# The host ends a command itself when its time is over; that the answer stays away says that the link is lost.
_MARGIN_S = 30.0

_log = logging.getLogger("plimsoll")


class SshHost(BaseHost):
    """An implementation of the Host port. `tags` are environment variables of everything that is started here.

    Bundles are installed below `bundles`, by default the host's own folder. The host downloads them from where `staged`
    says; files that it can't download are sent over the connection. Everything but `run` is repeated when the link is
    lost. A job continues whatever happens to the link.
    """

    def __init__(  # noqa: PLR0913 - where it is, how it is reached, what it is given
        self,
        info: HostInfo,
        root: PurePosixPath,
        connection: Connection,
        *,
        tags: Mapping[str, str] | None = None,
        bundles: PurePosixPath | None = None,
        staged: Staged | None = None,
    ) -> None:
        super().__init__(info, root, f"host {info.name} ({connection.target.place})", tags or {})
        self._connection, self._bundles, self._staged = connection, bundles or root / "bundles", staged
        self._program = Program(connection, self._bundles, self._where, self._tags)

    def within(self, folder: PurePosixPath, tags: Mapping[str, str]) -> "SshHost":
        return SshHost(
            self.info, self.root / folder, self._connection, tags=tags, bundles=self._bundles, staged=self._staged
        )

    def clear(self, folder: PurePosixPath, cluster: str, keep: frozenset[str]) -> Sequence[str]:
        # The cluster's processes are identified by their tags, one of which is the host's own folder.
        request = {"work": str(self.root), "cluster": cluster, "hosts": [str(self.root / folder)], "keep": sorted(keep)}
        left: Sequence[str] = self._program.call("clear", timeout_s=_CLEAR_S, **request)
        return left

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True, stdin: str = "") -> CommandResult:
        """Run in the host's folder. On a timeout, the host itself kills the command and its child processes."""
        allowed = timeout.total_seconds()
        line = execution.run_command(argv, (self.root, self._bundles), self._tags, allowed, reads=bool(stdin))
        began = time.monotonic()
        answer = self._run_once(line, argv[0], allowed, stdin)
        # A command that was killed sooner was killed by somebody else, such as the kernel for lack of memory
        if answer.exit_code == KILLED and time.monotonic() - began >= allowed:
            raise self._too_slow(argv[0], timeout)
        # A shell script that is there ends with the same code if it lacks a program of its own
        if answer.exit_code == NOT_FOUND:
            lookup = self._connection.execute(execution.lookup_command(argv[0]), timeout_s=_ANSWER_S)
            if lookup.exit_code != 0:
                raise self._no_program(argv[0])
        result = CommandResult(answer.exit_code, _text(answer.stdout), _text(answer.stderr))
        if check:
            self._require_success(argv[0], result)
        return result

    def install(self, bundle: Path) -> PurePosixPath:
        """Copy the folder to the host unless it is there with the same content. Every file is verified there."""
        self._require_folder(bundle)
        with self._explained(PurePosixPath(bundle)):
            contents = bundle_of(bundle)
        fetch = self._fetch if self._staged and self._connection.reaches_store else None
        return deliver(self._connection, contents, self._bundles, self._where, fetch)

    def write(self, path: PurePosixPath, content: str) -> None:
        absolute = self._below_root(path)
        with self._explained(absolute):
            self._connection.with_files(lambda sftp: files.write_whole(sftp, absolute, content.encode()))

    def read_tail(self, path: PurePosixPath, *, max_bytes: int) -> str:
        absolute = self.root / path
        with self._explained(absolute):
            return _text(self._connection.with_files(lambda sftp: files.read_tail(sftp, absolute, max_bytes)))

    def files(self, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        absolute = self.root / folder
        answer = self._connection.execute(execution.list_command(absolute), timeout_s=_ANSWER_S)
        if answer.exit_code != 0:
            reason = _text(answer.stderr).strip()
            raise self._error(f"can't list {absolute}: {reason}", mend_of(reason, absolute))
        # As Python names files that are not UTF-8, so that they can be fetched by that name.
        names = answer.stdout.decode(errors="surrogateescape").split("\0")[:-1]
        return few_files((PurePosixPath(name) for name in names), self._where)

    def fetch(self, path: PurePosixPath, destination: Path) -> None:
        """Copy a file to the controller atomically."""
        absolute = self.root / path
        with self._explained(absolute):
            destination.parent.mkdir(parents=True, exist_ok=True)
            self._connection.with_own_files(lambda sftp: files.fetch(sftp, absolute, destination))

    def measure(self, paths: Sequence[PurePosixPath]) -> Mapping[PurePosixPath, StoredFile]:
        named = {str(self.root / path): path for path in paths}
        measured = self._program.call("measure", timeout_s=_MEASURE_S, paths=list(named), most_bytes=MOST_FILE_BYTES)
        return {named[name]: StoredFile(**figures) for name, figures in measured.items() if "error" not in figures}

    def upload(self, tickets: Mapping[PurePosixPath, UploadTicket]) -> Mapping[PurePosixPath, str]:
        files = [
            {"path": str(self.root / path), "url": ticket.url, "headers": dict(ticket.headers)}
            for path, ticket in tickets.items()
        ]
        results = self._program.call("send", timeout_s=_UPLOAD_S + _MARGIN_S, files=files, limit_s=_UPLOAD_S)
        return dict(zip(tickets, results, strict=True))

    def start(self, job: Job) -> None:
        if reason := self._call("start", **order(job, self.root, self._tags, 0, self._where)):
            raise self._not_started(job.id, reason)

    def _call(self, command: str, allowed_s: float = 0.0, **request: Any) -> Any:
        return self._program.call(command, timeout_s=max(_ANSWER_S, allowed_s + _MARGIN_S), **request)

    def clock(self) -> ClockReading:
        try:
            with self._connection.session(_ANSWER_S) as channel:
                channel.exec_command(execution.script_command(files.SCRIPT))
                return files.reading(files.round_trips(channel))
        except (OSError, EOFError, paramiko.SSHException, ValueError) as error:
            raise unreachable(self._where, error) from error

    def _fetch(self, bundle: Bundle, folder: PurePosixPath) -> None:
        """Let the host download the bundle. A host without access to the store is sent everything from then on."""
        assert self._staged is not None, "asked for only where it is staged"
        url, limit_s = self._staged(bundle), FETCH.total_seconds()
        try:
            self._program.call("fetch", timeout_s=limit_s + _MARGIN_S, place=str(folder), url=url, limit_s=limit_s)
        except Unreachable:
            # A lost link says nothing about the host's way to the store
            raise
        except HostError as error:
            self._connection.reaches_store = False
            _log.warning("%s is sent %s over SSH, for it can't fetch it: %s", self._where, bundle.name, error.what)

    def _run_once(self, line: str, program: str, allowed: float, stdin: str) -> Answer:
        try:
            content = stdin.encode()
            feed: Feed | None = (lambda channel: channel.write(content)) if content else None
            return self._connection.execute_once(line, timeout_s=allowed + _MARGIN_S, feed=feed)
        except (OSError, EOFError, paramiko.SSHException) as error:
            what = f"the link was lost while `{program}` ran; it may still run there, for {allowed:g} s at most"
            raise self._error(what, "see whether the network is well, then run the cell again") from error

    @contextmanager
    def _explained(self, path: PurePosixPath) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = str(error)
            # paramiko gives an errno to what is missing or forbidden. All else, a full disk too, is just "Failure".
            if not error.errno:
                answer = self._connection.execute(execution.free_space_command(self.root), timeout_s=_ANSWER_S)
                reason += f"; {execution.free_space(_text(answer.stdout))}"
            raise self._error(f"can't use {path}: {reason}", mend_of(reason, path)) from error


def _text(content: bytes) -> str:
    return content.decode(errors="replace")
