"""Query and end the jobs of a folder. The files that supervisors leave there hold the whole state.

`<id>.job` names the process of the job, `<id>.exit` holds its exit code, `<id>.log` its output.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from typing import Any, Literal

from plimsoll.adapters.hosts.onhost import supervisor

KILL_TIMEOUT_S = 20.0
"""The time for a killed process to end and for its supervisor to note the exit code, s: a busy host delays both."""
_MOST_CHARACTERS = 1 << 22


def start(job: dict[str, Any]) -> str:
    """Make the job's folders and start it. Returns the reason where it did not start, else an empty text."""
    if Path(job["record"]).exists():
        return ""
    make_folders(job)
    return supervisor.start(job)


def make_folders(job: dict[str, Any]) -> None:
    """Make the folders of the job's files, of its work and of its own data. Raises OSError."""
    owned = [] if job["owns"] is None else [Path(job["owns"]).parent]
    for folder in (Path(job["record"]).parent, Path(job["cwd"]), *owned):
        folder.mkdir(parents=True, exist_ok=True)


def status(folder: Path, job_id: str) -> tuple[Literal["missing", "running", "exited"], int | None]:
    """Return the state of a job, and its exit code where that is known."""
    record = folder / f"{job_id}.job"
    if not record.exists():
        return "missing", None
    # The exit code comes before the process goes: whoever finds no process looks for the code after that.
    running = _is_alive(record)
    code = _exit_code(folder / f"{job_id}.exit")
    return ("running", None) if running and code is None else ("exited", code)


def stop(folder: Path, job_id: str, grace_s: float) -> bool:
    """Ask a job to end, then kill it. An ended or missing job is no error. False when it survives SIGKILL."""
    return any(
        _signalled(folder, job_id, number, seconds)
        for number, seconds in (
            (signal.SIGTERM, grace_s),
            # On this signal the supervisor kills the job, and notes its exit code
            (supervisor.KILL_NOW, KILL_TIMEOUT_S),
            # This one ends a supervisor that hangs. Its job ends with it, without an exit code.
            (signal.SIGKILL, KILL_TIMEOUT_S),
        )
    )


def send(pid: int, start: int, number: int) -> None:
    """Signal the process with that id and start time through a handle, so that a reused id is never hit."""
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        handle = os.pidfd_open(pid)
        try:
            if supervisor.start_time(pid) == start:
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def _signalled(folder: Path, job_id: str, number: int, seconds: float) -> bool:
    """Send the signal, and return whether the job has ended within that time."""
    deadline = time.monotonic() + seconds
    if status(folder, job_id)[0] == "running":
        known = _read(folder / f"{job_id}.job")
        send(known["pid"], known["start"], number)
    while (ended := status(folder, job_id)[0] != "running") is False and time.monotonic() < deadline:
        time.sleep(0.05)
    return ended


def _is_alive(record: Path) -> bool:
    """Tell whether exactly the recorded process still runs: same boot, same start, not a zombie."""
    known = _read(record)
    if known["boot"] != supervisor.boot_id():
        return False
    try:
        fields = supervisor.stat(known["pid"])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[0] != "Z" and int(fields[19]) == known["start"]


def _exit_code(path: Path) -> int | None:
    if not path.exists():
        return None
    try:
        return int(_text(path))
    except ValueError:
        raise _damaged(path) from None


def _read(record: Path) -> dict[str, Any]:
    """Return the process of the job. Raises OSError for a record that no supervisor has written."""
    try:
        known = json.loads(_text(record))
        return {"boot": str(known["boot"]), "pid": int(known["pid"]), "start": int(known["start"])}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _damaged(record) from None


def _text(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.read(_MOST_CHARACTERS)


def _damaged(path: Path) -> OSError:
    return OSError(f"{path} is damaged: end its job by hand and remove the file, or destroy the cluster")
