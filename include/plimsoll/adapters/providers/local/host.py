"""A host made of a folder of this machine, with a loopback address and detached jobs of its own."""

import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import cast

from plimsoll.adapters.hosts.host_files import copy_bounded, few_files, require_file
from plimsoll.adapters.hosts.jobs import FOLDER, INHERITED, not_started, order, require_id, resists
from plimsoll.adapters.hosts.onhost import control, readings, supervisor
from plimsoll.adapters.hosts.reported_facts import host_facts
from plimsoll.adapters.providers.local.folders import mend, write_whole
from plimsoll.domain.attempt.load_summary import ClockReading
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.hosts.fingerprint import HostFacts
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import MOST_FILES, MOST_OUTPUT_BYTES, CommandResult, Job, JobStatus

_START_TIMEOUT_S = 60


class Jobs:
    """The jobs of one host. `where` names the host in errors; `niceness` is the scheduling priority of its jobs."""

    def __init__(self, root: Path, where: str, niceness: int = 0) -> None:
        self._root, self._folder = root, root / FOLDER
        self._where, self._niceness = where, niceness

    def start(self, job: Job, *, env: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Start the job, or do nothing where it was started before.

        Its environment is `env`, its own variables, and `tags`, in rising precedence.
        """
        require_id(job.id, self._where)
        if (self._folder / f"{job.id}.job").exists():
            return
        told = dict(order(job, PurePosixPath(self._root), tags, self._niceness, self._where))
        control.make_folders(told)
        self._launch(told, {**env, **tags})

    def status(self, job_id: str) -> JobStatus:
        """Return the state of a job."""
        require_id(job_id, self._where)
        return JobStatus(*control.status(self._folder, job_id))

    def stop(self, job_id: str, grace: timedelta) -> None:
        """Ask a job to end, then kill it. An ended or no job is no error. Raises HostError if it survives SIGKILL."""
        require_id(job_id, self._where)
        if not control.stop(self._folder, job_id, grace.total_seconds()):
            raise resists(job_id, self._where)

    def _launch(self, told: Mapping[str, object], env: Mapping[str, str]) -> None:
        job_id = cast(str, told["id"])
        try:
            launched = subprocess.run(
                # Isolated: neither the user's packages nor PYTHON* variables get into it. A process of its own
                # because it forks, which a process of several threads must not.
                [sys.executable, "-I", "-S", supervisor.__file__],
                input=json.dumps(told),
                env=dict(env),
                start_new_session=True,
                capture_output=True,
                text=True,
                timeout=_START_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            what = f"job {job_id} did not start within {_START_TIMEOUT_S} s"
            mend = "see what else this machine does, then run the cell again"
            raise HostError(what, where=self._where, mend=mend) from error
        if launched.returncode != 0:
            raise not_started(job_id, launched.stderr, self._root, self._where)


_BLOCK = 1 << 16
NICENESS = "niceness"
"""The fact of a host that says how much its jobs give way to those of other hosts, as `nice` counts."""
# The load generator measures: it must not wait for the nodes' CPU, as it would not on a host of its own.
NODE_NICENESS = 10


class LocalHost:
    """An implementation of the Host port. `tags` are environment variables of everything that is started here."""

    def __init__(self, info: HostInfo, root: Path, tags: Mapping[str, str]) -> None:
        self.info = info
        self.root = PurePosixPath(root)
        self._folder = root
        self._tags = dict(tags)
        self._where = f"host {info.name} ({root})"
        niceness = int(info.facts.get(NICENESS, "0"))
        self._jobs = Jobs(root, where=self._where, niceness=niceness)

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True) -> CommandResult:
        """Run a command in the host's folder. On a timeout, the command and its child processes are killed."""
        environment = {**_inherited(), **self._tags}
        if shutil.which(argv[0], path=environment.get("PATH")) is None:
            raise self._error(f"there is no program `{argv[0]}`", "install it, or put it on the PATH")
        with self._explained(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                result = _run(argv, environment, self._folder, timeout)
            except OverflowError:
                what = f"`{argv[0]}` printed more than {MOST_OUTPUT_BYTES >> 20} MiB"
                raise self._error(what, "see what it prints") from None
        if result is None:
            raise self._error(f"`{argv[0]}` did not end within {timeout.total_seconds():g} s", "see what it waits for")
        if check and result.exit_code != 0:
            said = (result.stderr or result.stdout).strip()
            raise self._error(f"`{argv[0]}` ended with exit code {result.exit_code}: {said}", "mend the reason given")
        return result

    def install(self, bundle: Path) -> PurePosixPath:
        """Return the folder itself, since this machine has it already."""
        if not bundle.is_dir():
            raise self._error(f"there is no folder {bundle} to install", "prepare the artefacts again: `make setup`")
        return PurePosixPath(bundle.resolve())

    def write(self, path: PurePosixPath, content: str) -> None:
        place = self._below_root(path)
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
        return few_files(islice(found, MOST_FILES + 1), self._where)

    def fetch(self, path: PurePosixPath, destination: Path) -> None:
        place = self._folder / path
        with self._explained(place):
            if not place.resolve().is_relative_to(self._folder.resolve()):
                raise self._error(f"{path} is a link that leads out of the host's folder", "leave it where it is")
            require_file(place.stat())
            destination.parent.mkdir(parents=True, exist_ok=True)
            with place.open("rb") as file, destination.open("wb") as own:
                copy_bounded(file, own)

    def start(self, job: Job) -> None:
        with self._explained(self._folder):
            self._jobs.start(job, env=_inherited(), tags=self._tags)

    def status(self, job_id: str) -> JobStatus:
        with self._explained(self._folder):
            return self._jobs.status(job_id)

    def stop(self, job_id: str, *, grace: timedelta) -> None:
        with self._explained(self._folder):
            self._jobs.stop(job_id, grace)

    def free_port(self) -> int:
        with self._explained(self._folder), socket.socket() as probe:
            probe.bind((self.info.address, 0))
            port: int = probe.getsockname()[1]
            return port

    def facts(self) -> HostFacts:
        with self._explained(Path("/proc")):
            return host_facts(readings.read(Path(self.root)), self.info.facts)

    def clock(self) -> ClockReading:
        """Return no difference: host and controller have the same clock."""
        return ClockReading(offset_ms=0.0)

    def _below_root(self, path: PurePosixPath) -> Path:
        place = Path(os.path.normpath(self._folder / path))
        if not place.is_relative_to(self._folder):
            raise self._error(f"{path} is not below the host's folder", "write to a path below the host's root")
        return place

    @contextmanager
    def _explained(self, place: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._error(f"can't use {place}: {error}", mend(error, place)) from error

    def _error(self, what: str, how: str) -> HostError:
        return HostError(what, where=self._where, mend=how)


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def _run(argv: Sequence[str], env: Mapping[str, str], cwd: Path, timeout: timedelta) -> CommandResult | None:
    """Run the command in a session of its own, so that its child processes can be ended with it. None on a timeout.

    Raises OverflowError for too much output.
    """
    pipe, deadline = subprocess.PIPE, time.monotonic() + timeout.total_seconds()
    with subprocess.Popen(
        list(argv), env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        try:
            stdout, stderr = _outputs(process, deadline)
            process.wait(max(0.0, deadline - time.monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return CommandResult(process.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace"))


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
