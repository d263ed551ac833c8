"""Holds one detached job. Imports nothing of its own, so that an isolated interpreter can run it as a script.

It reads the job as JSON from standard input, starts it once, and answers by exit code and standard error; the job
goes on in a session of its own. Whatever ends this process ends the job too (PR_SET_PDEATHSIG), and what the job
forked is adopted by it (PR_SET_CHILD_SUBREAPER) and ended with the job.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

KILL_NOW = signal.SIGUSR1
_SIGNALS = {signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, KILL_NOW}
_AUTOGROUP = Path("/proc/self/autogroup")
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def start(job: dict[str, Any]) -> str:
    """Start the job unless it was started before. Returns the reason where it did not start, else an empty text.

    It forks, so the caller must have only one thread. Raises OSError when the job's folders can't be used.
    """
    if job.get("stdin"):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash would leave what it says in a file
    # Held until the record is written, by the supervisor even when this launcher is killed: two callers start one job.
    lock = _open_lock(Path(job["record"]).with_suffix(".lock"))
    fcntl.flock(lock, fcntl.LOCK_EX)
    if Path(job["record"]).exists():
        return ""
    owned = _own(job)
    reading, telling = os.pipe()
    if os.fork() == 0:
        _supervise(job, telling, lock, owned)
    os.close(telling)
    with os.fdopen(reading, encoding="utf-8") as answer:
        return answer.read()


def _own(job: dict[str, Any]) -> int | None:
    """Lock the folder that the job owns. The job inherits the lock, which lasts as long as any of its processes."""
    if job["owns"] is None:
        return None
    lock = _open_lock(Path(f"{job['owns']}.lock"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 200, 0).decode()
        raise BlockingIOError(f"{job['owns']} is in use by {holder or 'another job'}") from None
    os.truncate(lock, 0)
    os.pwrite(lock, f"job {job['id']} (supervisor {os.getpid()})".encode(), 0)
    return lock


def _open_lock(path: Path) -> int:
    # Makes no folder: a start that comes too late must not bring a destroyed cluster's back.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _supervise(job: dict[str, Any], telling: int, lock: int, owned: int | None) -> None:
    """Supervise the job in the second process of the fork. The call never returns."""
    code = 1
    try:
        _detach(Path(job["log"]))
        _give_way(job["niceness"])
        if job.get("group"):  # all that is started from now on belongs to it, too
            Path(job["group"]).write_text(str(os.getpid()), encoding="ascii")
        child = _spawn(job, owned)
        # With start and boot, because a process id alone may be reused
        own = {"pid": os.getpid(), "start": start_time(os.getpid()), "boot": boot_id(), "child": child.pid}
        _write(Path(job["record"]), json.dumps({**own, "argv": job["argv"]}))
        os.close(lock)
        os.close(telling)
        code = _outlive(child.pid, job["expires_s"])
        _write(Path(job["exit"]), str(code))
    except Exception as error:  # whatever it is, the caller must hear it and nothing may stay behind
        with contextlib.suppress(OSError):
            os.write(telling, (str(error) or repr(error)).encode())
        _end_descendants()
    finally:
        # This process is a copy of the launcher, whose exit handlers must not run a second time
        os._exit(code)


def _detach(log: Path) -> None:
    """Start a session of its own, without terminal and the caller's open files. What it makes is for its user alone."""
    os.setsid()
    os.umask(0o077)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    silence = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((silence, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(silence)
    os.close(output)
    # Blocked signals wait until `_outlive` takes them, so none is lost and none ends this process
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _give_way(niceness: int) -> None:
    """Lower the priority of this session and, where the kernel groups processes by session, of its whole group."""
    os.nice(niceness)
    # Again and again, because the kernel accepts it only ten times a second over all users of the machine
    for _ in range(20 if niceness and _AUTOGROUP.exists() else 0):
        try:
            _AUTOGROUP.write_text(str(niceness), encoding="ascii")
        except BlockingIOError:
            time.sleep(0.1)
        except PermissionError:
            return
        else:
            return


def _spawn(job: dict[str, Any], owned: int | None) -> subprocess.Popen[bytes]:
    """Start the job in a process group of its own, so that a signal reaches the whole job and not this process."""
    import subprocess  # here, because who only asks for the state of a job needs none of it

    supervisor = os.getpid()

    def before_exec() -> None:
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # If the supervisor died before the prctl, its death sends no signal
        if os.getppid() != supervisor:
            os._exit(1)
        # The program would inherit the blocked signals, and could not be asked to end
        signal.pthread_sigmask(signal.SIG_SETMASK, set())

    kept = () if owned is None else (owned,)
    # This process has one thread, so that preexec_fn is safe.
    environment = {**os.environ, **job["env"]}
    options: dict[str, Any] = {"env": environment, "cwd": job["cwd"], "pass_fds": kept}
    with _input(job.pop("stdin", "")) as stdin:
        return subprocess.Popen(job["argv"], preexec_fn=before_exec, stdin=stdin, **options)  # noqa: PLW1509


@contextlib.contextmanager
def _input(text: str) -> Iterator[int | None]:
    """Give a pipe that holds the text until its reader has it; None, the standard input of this process, without text.

    No other process can read it there, and nothing is left of it.
    """
    if not text:
        yield None
        return
    reading, telling = os.pipe()
    try:
        os.set_blocking(telling, False)  # the kernel may give a small pipe, which nobody empties yet
        if os.write(telling, text.encode()) < len(text.encode()):
            raise OSError("its standard input does not fit into a pipe")
        os.close(telling)
        yield reading
    finally:
        os.close(reading)


def _prctl(option: int, value: int) -> None:
    import ctypes  # here for the same reason

    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


def start_time(pid: int) -> int:
    """Start of a process in clock ticks since boot. Raises OSError where there is no such process."""
    return int(stat(pid)[19])


def stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat from the third on: state, parent, ...; the second may hold blanks."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _outlive(child: int, expires_s: float) -> int:
    """Wait for the job, pass signals on, and end it when time is over. Returns its exit code as a shell gives it."""
    deadline, last_word = time.monotonic() + expires_s, False
    while (code := _reap(child)) is None:
        received = signal.sigtimedwait(_SIGNALS, max(0.0, deadline - time.monotonic()))
        if received is None:
            _signal_group(child, signal.SIGKILL if last_word else signal.SIGTERM)
            deadline, last_word = time.monotonic() + 10.0, True
        elif received.si_signo == KILL_NOW:
            _signal_group(child, signal.SIGKILL)
        elif received.si_signo != signal.SIGCHLD:
            _signal_group(child, received.si_signo)
    _end_descendants()
    return code


def _signal_group(child: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, number)


def _reap(child: int) -> int | None:
    """Collect all ended processes. Returns the job's exit code if it is among them; 128 + n where signal n ended it."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if pid == 0:
            return None


def _end_descendants() -> None:
    """End the processes that the job left behind, which are this process' children by now."""
    while children := _children():
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(-1, 0)


def _children() -> list[int]:
    """Return the child processes, found by asking every process, because not every kernel lists children."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and int(stat(int(entry.name))[1]) == os.getpid():
                found.append(int(entry.name))
    return found


if __name__ == "__main__":
    try:
        sys.exit(start(json.load(sys.stdin)) or 0)
    except OSError as refused:
        sys.exit(str(refused))
