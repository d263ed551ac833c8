"""End everything that clusters left on this host: processes by the tags in their environment, and folders."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from plimsoll.adapters.hosts.onhost import control, supervisor

WORK, CLUSTER, ENVIRONMENT = "PLIMSOLL_WORK", "PLIMSOLL_CLUSTER", "PLIMSOLL_ENVIRONMENT"
PATIENCE_S = 20.0
"""The time that ended processes may take to be gone, s."""
_OVER_S = 3600.0
"""The time after which nothing was written for a cluster of which no process runs, and which nobody will go on with."""


def clean(work: Path, cluster: str | None) -> list[str]:
    """End and remove all of that cluster, or of all in the work folder. Returns a sentence on each remainder."""
    folder = work / cluster if cluster else work
    deadline = time.monotonic() + PATIENCE_S

    def end_and_list() -> list[str]:
        kill_all(work, cluster, deadline)
        obstacle = remove(folder)
        return [*running(work, cluster), *([obstacle] if obstacle else [])]

    left = until_nothing_is_left(end_and_list, deadline)
    if not left:
        _prune(work, folder)
    return left


def leave(work: Path, program: Path) -> None:
    """Remove what clusters have left in the work folder whose time is long over; then, without another one, this
    program's folder and the one around it. Whatever else is in that stays. What is left, the next one removes.
    """
    # A cluster's folder has its id as path: campaign, purpose and number
    for cluster in list(work.glob("*/*/*")):
        name = str(cluster.relative_to(work))
        with contextlib.suppress(OSError):  # others may clean up at the same time
            if _untouched_s(cluster) > _OVER_S and not running(work, name):
                clean(work, name)
    if not work.exists():
        shutil.rmtree(program, ignore_errors=True)
        with contextlib.suppress(OSError):
            program.parent.rmdir()


def _untouched_s(folder: Path) -> float:
    # Of a link itself, since it may lead nowhere.
    times = [folder.stat().st_mtime, *(path.lstat().st_mtime for path in folder.rglob("*"))]
    return time.time() - max(times)


def clear(work: Path, cluster: str, hosts: list[Path], keep: frozenset[str]) -> list[str]:
    """End and remove all of that cluster except the environments in `keep`. Returns a sentence on each remainder.

    `hosts` are the folders of the cluster's hosts, with a folder for each environment.
    """
    deadline = time.monotonic() + PATIENCE_S

    def end_and_list() -> list[str]:
        kill_all(work, cluster, deadline, keep)
        obstacles = [obstacle for folder in hosts for obstacle in _remove_others(folder, keep)]
        return [*running(work, cluster, keep), *obstacles]

    return until_nothing_is_left(end_and_list, deadline)


def until_nothing_is_left(end_and_list: Callable[[], list[str]], deadline: float) -> list[str]:
    """Go round, with pauses, until `end_and_list` lists nothing more or the deadline has passed. Returns what is left.

    One round is not enough: someone may have started a job between the kill and the look.
    """
    pauses = _pauses()
    while (left := end_and_list()) and time.monotonic() <= deadline:
        time.sleep(next(pauses))
    return left


def tagged_processes(work: Path, cluster: str | None, keep: frozenset[str] = frozenset()) -> Iterator[tuple[int, int]]:
    """Process id and start time of every living process of those clusters.

    This process and those of the environments in `keep` are left out.
    """
    kept = {f"{ENVIRONMENT}={one}".encode() for one in keep}
    wanted = {f"{WORK}={work}".encode(), *([f"{CLUSTER}={cluster}".encode()] if cluster else [])}
    for entry in Path("/proc").iterdir():
        # Zombies have no environment any more; other users' can't be read, and were not started by this one.
        with contextlib.suppress(OSError):
            if not entry.name.isdigit() or (pid := int(entry.name)) == os.getpid():
                continue
            environment = set((entry / "environ").read_bytes().split(b"\0"))
            if wanted <= environment and not kept & environment:
                yield pid, supervisor.start_time(pid)


def kill_all(work: Path, cluster: str | None, deadline: float, keep: frozenset[str] = frozenset()) -> None:
    """Kill all processes of that cluster, or of all clusters, until none lives or the deadline has passed.

    The deadline is a value of `time.monotonic()`. Processes that are forked meanwhile are found in the next round.
    """
    pauses = _pauses()
    while (living := list(tagged_processes(work, cluster, keep))) and time.monotonic() < deadline:
        for pid, start in living:
            control.send(pid, start, signal.SIGKILL)
        time.sleep(next(pauses))


def _pauses() -> Iterator[float]:
    # Others may be measuring on this host: what resists is looked for less and less often.
    pause_s = 0.02
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, 0.5)


def _remove_others(host: Path, keep: frozenset[str]) -> Iterator[str]:
    """Remove everything in a host's folder except these environments. Returns a sentence for each failure."""
    for path in list(host.iterdir()) if host.is_dir() else []:
        if path.name not in keep:
            obstacle = remove(path) if path.is_dir() and not path.is_symlink() else _unlink(path)
            yield from [obstacle] if obstacle else []


def _unlink(path: Path) -> str:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        return str(error)
    return ""


def remove(folder: Path) -> str:
    """Remove a folder: first the folders in it, then its own files, one of which tells whose it is.

    No link is followed. Returns the reason of a failure; empty where the folder is gone.
    """
    if folder.is_symlink():
        return f"{folder} is a symbolic link"
    try:
        for below in folder.iterdir():
            if below.is_dir() and not below.is_symlink():
                shutil.rmtree(below)
        shutil.rmtree(folder)
    except FileNotFoundError:  # someone else removes the same
        pass
    except OSError as error:
        return str(error)
    return f"{folder} is there again" if folder.exists() else ""


def running(work: Path, cluster: str | None, keep: frozenset[str] = frozenset()) -> list[str]:
    """Return a sentence for each process that still runs."""
    return [f"process {pid} ({_name(pid)}) runs" for pid, _ in tagged_processes(work, cluster, keep)]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "ended by now"


def _prune(work: Path, folder: Path) -> None:
    """Remove empty parent folders, up to the work folder."""
    for parent in folder.parents:
        if work not in (parent, *parent.parents):
            return
        with contextlib.suppress(OSError):
            parent.rmdir()
