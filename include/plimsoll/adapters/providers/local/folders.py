"""A cluster's folder, `<work>/<campaign>/<name>/`, with its `cluster.json` and a folder for each host.

Files are written atomically. A lock holds a folder for one process at a time; it is gone when nobody needs it.
"""

import errno
import fcntl
import os
import stat
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil
from pydantic import ValidationError

from plimsoll.adapters.hosts.processes import SUBNET, ProcessTags, read_process_tags
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo, Role, is_load_host
from plimsoll.domain.text.errors import ProviderError

PROVIDER = "local"
_UNKNOWN = HostInfo(name="node1", role="node", address="unknown")


def tagged_processes(work: Path) -> Iterator[tuple[psutil.Process, ProcessTags]]:
    """Yield every living process of clusters of that work folder but this one. Zombies have no environment.

    Those of other users, whom root could read, may say of themselves what they like.
    """
    for process, environment in _environments():
        tags = read_process_tags(environment, work)
        if tags is not None and process.pid != os.getpid() and _is_own(process.pid):
            yield process, tags


def _is_own(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}").stat().st_uid == os.geteuid()
    except OSError:  # it has ended
        return False


def subnets_in_use() -> frozenset[str]:
    """Return subnets of every tagged process of this machine, of any user, as far as they are readable."""
    return frozenset(environment[SUBNET] for _, environment in _environments() if SUBNET in environment)


def _environments() -> Iterator[tuple[psutil.Process, Mapping[str, str]]]:
    for process in psutil.process_iter():
        try:
            yield process, process.environ()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue


def remnant(cluster_id: ClusterId, found: Sequence[ProcessTags], folder: Path, now: datetime) -> Cluster:
    """Return a cluster from the remaining facts: the tags of its processes, else the time of its folder."""
    try:
        made = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    except OSError:
        made = now
    hosts = {tags.host: _host(tags) for tags in found if tags.host} or {_UNKNOWN.name: _UNKNOWN}
    return Cluster(
        id=cluster_id,
        owner=next((tags.owner for tags in found), ""),
        provider=PROVIDER,
        hosts=tuple(hosts[name] for name in sorted(hosts)),
        created_at=min((tags.since for tags in found if tags.since), default=made),
        expires_at=max((tags.expires for tags in found if tags.expires), default=made),
    )


def _host(tags: ProcessTags) -> HostInfo:
    role: Role = "load" if is_load_host(tags.host) else "node"
    return HostInfo(name=tags.host, role=role, address=tags.address or _UNKNOWN.address)


_RECORD = "cluster.json"

PATIENCE_S = 60.0
"""The time to wait for another process that holds the lock, s."""

_POLL_S = 0.01
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def folder_of(work: Path, cluster_id: ClusterId) -> Path:
    return work / str(cluster_id)


def ids(work: Path) -> Iterator[ClusterId]:
    """Yield every cluster that has a folder, whole or not."""
    for path in sorted(work.glob("*/*/*")):
        with suppress(ValueError):
            yield ClusterId.parse(path.relative_to(work).as_posix())


def read(work: Path, cluster_id: ClusterId) -> Cluster | None:
    """Return the cluster as its folder describes it, whether hosts' folders are there or not; None where none does."""
    try:
        return Cluster.model_validate_json((folder_of(work, cluster_id) / _RECORD).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def lost(work: Path, cluster: Cluster) -> tuple[str, ...]:
    """Return names of hosts that are lost, because their folder is missing."""
    folder = folder_of(work, cluster.id)
    return tuple(info.name for info in cluster.hosts if not (folder / info.name).is_dir())


def make_hosts(work: Path, cluster: Cluster) -> None:
    """Make a folder for each host that has none. OSError where something else lies in its place."""
    for info in cluster.hosts:
        (folder_of(work, cluster.id) / info.name).mkdir(exist_ok=True)


def write(work: Path, cluster: Cluster) -> None:
    """Describe the cluster: from now on it is whole."""
    write_whole(folder_of(work, cluster.id) / _RECORD, cluster.model_dump_json(indent=1))


def prune(work: Path, cluster_id: ClusterId) -> None:
    """Remove the folders above where they hold nothing any more."""
    for folder in (folder_of(work, cluster_id).parent, folder_of(work, cluster_id).parent.parent):
        with suppress(OSError):
            folder.rmdir()


def write_whole(path: Path, content: str) -> None:
    """Write a text file and its folders for this user alone. Readers see all of the old or the new. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        # `write_text` takes no mode, so the file is made private before anything is in it
        unfinished.touch(mode=0o600, exist_ok=False)
        unfinished.write_text(content, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def mend(error: OSError, place: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"free disk space or raise the quota below {place}, then run the cell again"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"give the user who runs Plimsoll the right to write to {place}, or set PLIMSOLL_WORK to another folder"
    return f"look at {place}, then run the cell again"


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. The folder is made if missing, and removed afterwards if empty.

    The kernel releases the lock of a process that dies. Raises ProviderError after a minute of waiting, and where
    another user could change what lies in the folder.
    """
    handle = _hold(folder, time.monotonic() + PATIENCE_S)
    try:
        yield
    finally:
        # Removed while it is locked: whoever waits for it sees that it has lost its name, and makes a new one
        with suppress(OSError):
            folder.rmdir()
        os.close(handle)


def _hold(folder: Path, deadline: float) -> int:
    while time.monotonic() < deadline:
        handle = _open(folder)
        if handle is not None and _is_held(handle, folder):
            return handle
        if handle is not None:
            os.close(handle)
        time.sleep(_POLL_S)
    mend = f"see which process holds it (`fuser {folder}`) and whether it hangs"
    raise ProviderError(f"another process has held it for {PATIENCE_S:g} s", where=str(folder), mend=mend)


def _open(folder: Path) -> int | None:
    """Open the folder; None where the last holder removed it after it was made.

    Raises ProviderError for what another user has put in its place, in a folder where everybody may write.
    """
    try:
        with suppress(FileExistsError):
            folder.mkdir(parents=True, mode=0o700)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _foreign(folder, f"it can't be used: {error.strerror}") from error
    found = os.fstat(handle)
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS_MAY_WRITE:
        os.close(handle)
        raise _foreign(folder, f"it belongs to user {found.st_uid}, or others may write to it")
    return handle


def _foreign(folder: Path, what: str) -> ProviderError:
    return ProviderError(what, where=str(folder), mend="have it removed, or set TMPDIR to a folder of your own")


def _is_held(handle: int, folder: Path) -> bool:
    """Tell whether the locked folder still has that name, since the last holder may have removed it."""
    try:
        # It is asked for again and again, because `flock` itself would wait without a limit
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), folder.stat())
    except (BlockingIOError, FileNotFoundError):
        return False
