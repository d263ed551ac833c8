"""A host made of a folder of this machine, with a loopback address and detached jobs of its own."""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.adapters.hosts.base import FOLDER, INHERITED, BaseHost, order, require_id
from plimsoll.adapters.hosts.host_files import copy_bounded, few_files, require_file
from plimsoll.adapters.hosts.onhost import control, supervisor
from plimsoll.adapters.hosts.onhost.__main__ import COMMANDS
from plimsoll.adapters.providers.local.folders import mend, write_whole
from plimsoll.adapters.providers.local.processors import join
from plimsoll.domain.attempt.load_summary import ClockReading
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.host import MOST_FILES, MOST_OUTPUT_BYTES, CommandResult, Job

_START_TIMEOUT_S = 60
_BLOCK = 1 << 16
NICENESS = "niceness"
"""The fact of a host that says how much its jobs give way to those of other hosts, as `nice` counts."""


class LocalHost(BaseHost):
    """An implementation of the Host port. `tags` are environment variables of everything that is started here.

    `members`: the file of the group of processes with processors of their own to which all of it belongs, if any.
    """

    def __init__(self, info: HostInfo, root: Path, tags: Mapping[str, str], members: Path | None = None) -> None:
        super().__init__(info, PurePosixPath(root), f"host {info.name} ({root})", tags)
        self._folder, self._members = root, members

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True, stdin: str = "") -> CommandResult:
        """Run a command in the host's folder. On a timeout, the command and its child processes are killed."""
        environment = {**_inherited(), **self._tags}
        if shutil.which(argv[0], path=environment.get("PATH")) is None:
            raise self._no_program(argv[0])
        with self._explained(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                result = self._result(argv, environment, timeout, stdin)
            except OverflowError:
                what = f"`{argv[0]}` printed more than {MOST_OUTPUT_BYTES >> 20} MiB"
                raise self._error(what, "see what it prints") from None
        if result is None:
            raise self._too_slow(argv[0], timeout)
        if check:
            self._require_success(argv[0], result)
        return result

    def _result(
        self, argv: Sequence[str], env: Mapping[str, str], timeout: timedelta, stdin: str
    ) -> CommandResult | None:
        """Run it in a session of its own, to be ended whole. None on a timeout; OverflowError for too much output."""
        pipe, deadline = subprocess.PIPE, time.monotonic() + timeout.total_seconds()
        given = pipe if stdin else subprocess.DEVNULL
        with subprocess.Popen(
            list(argv), env=env, cwd=self._folder, stdin=given, stdout=pipe, stderr=pipe, start_new_session=True
        ) as process:
            try:
                join(self._members, process.pid)
                if process.stdin is not None:
                    # It fits into the pipe (MOST_INPUT_BYTES), so a command that does not read it holds nothing up
                    with suppress(BrokenPipeError), process.stdin as told:  # who ends without reading says why
                        told.write(stdin.encode())
                stdout, stderr = _outputs(process, deadline)
                process.wait(max(0.0, deadline - time.monotonic()))
            except (TimeoutError, subprocess.TimeoutExpired):
                return None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        return CommandResult(process.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace"))

    def install(self, bundle: Path) -> PurePosixPath:
        """Return the folder itself, since this machine has it already."""
        self._require_folder(bundle)
        return PurePosixPath(bundle.resolve())

    def write(self, path: PurePosixPath, content: str) -> None:
        place = Path(self._below_root(path))
        with self._explained(place):
            write_whole(place, content)

    def read_tail(self, path: PurePosixPath, *, max_bytes: int) -> str:
        place = self._folder / path
        with self._explained(place):
            if not place.is_file():
                return ""
            with place.open("rb") as file:
                file.seek(max(0, place.stat().st_size - max_bytes))
                return file.read(max_bytes).decode(errors="replace")

    def files(self, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        found = (PurePosixPath(parent, name) for parent, _, names in os.walk(self._folder / folder) for name in names)
        # One file more than is allowed, by which `few_files` notices that there are too many
        return few_files(islice(found, MOST_FILES + 1), self._where)

    def fetch(self, path: PurePosixPath, destination: Path) -> None:
        place = self._folder / path
        with self._explained(place):
            if not place.resolve().is_relative_to(self._folder.resolve()):
                raise self._error(f"{path} is a link that leads out of the host's folder", "leave it where it is")
            state = place.stat()
            require_file(state.st_mode, state.st_size)
            destination.parent.mkdir(parents=True, exist_ok=True)
            with place.open("rb") as file, destination.open("wb") as own:
                copy_bounded(file, own)

    def start(self, job: Job) -> None:
        require_id(job.id, self._where)
        with self._explained(self._folder):
            if (self._folder / FOLDER / f"{job.id}.job").exists():
                return
            niceness = int(self.info.facts.get(NICENESS, "0"))
            group = None if self._members is None else str(self._members)
            told = {**order(job, self.root, self._tags, niceness, self._where), "group": group}
            control.make_folders(told)
            self._launch(job.id, told)

    def _launch(self, job_id: str, told: Mapping[str, object]) -> None:
        try:
            launched = subprocess.run(
                # Isolated: neither the user's packages nor PYTHON* variables get into it. A process of its own
                # because it forks, which a process of several threads must not.
                [sys.executable, "-I", "-S", supervisor.__file__],
                input=json.dumps(told),
                env={**_inherited(), **self._tags},
                start_new_session=True,
                capture_output=True,
                text=True,
                timeout=_START_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            what = f"job {job_id} did not start within {_START_TIMEOUT_S} s"
            raise self._error(what, "see what else this machine does, then run the cell again") from error
        if launched.returncode != 0:
            raise self._not_started(job_id, launched.stderr)

    def _call(self, command: str, allowed_s: float = 0.0, **request: Any) -> Any:
        with self._explained(self._folder):
            return COMMANDS[command](request)

    def clock(self) -> ClockReading:
        return ClockReading(offset_ms=0.0)

    @contextmanager
    def _explained(self, place: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._error(f"can't use {place}: {error}", mend(error, place)) from error


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def _outputs(process: "subprocess.Popen[bytes]", deadline: float) -> tuple[bytes, bytes]:
    """Return both outputs, read to their ends. TimeoutError at the deadline, OverflowError for too much of one."""
    assert process.stdout is not None, "its outputs are pipes"
    assert process.stderr is not None, "its outputs are pipes"
    read = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for pipe in read:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for pipe in (pipe for pipe in read if any(key.fileobj is pipe for key, _ in ready)):
                block = os.read(pipe.fileno(), _BLOCK)
                read[pipe] += block
                if not block:
                    selector.unregister(pipe)
                if len(read[pipe]) > MOST_OUTPUT_BYTES:
                    raise OverflowError
    return bytes(read[process.stdout]), bytes(read[process.stderr])
