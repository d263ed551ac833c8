"""The folder that artefacts are kept in: filled by one process at a time, each entry whole or not there.

<root>/jars/<set>-<lock>/       jars of a locked set, each placed by rename once its checksum was right
<root>/jdks/<id>-<lock>/        a Java runtime with a lock file
<root>/archives/<sha256>/       a program from an archive that a definition names
<root>/derived/<key>/           whatever is made from these: our own jar, answers of a JVM
<root>/given/<jdk id>/          a JDK that a person put there
<root>/locks, <root>/unfinished work of the moment

Entries are verified by checksum. Content is read once; later, unchanged size, time and inode are enough, as in git.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from plimsoll.adapters.hosts.host_files import require_guarded
from plimsoll.domain.text.errors import ArtefactError
from plimsoll.ports.controller import Log

SEAL = ".sealed.json"
_PATIENCE_S = 1800
STAMPS = ".verified.json"


class Cache:
    """One root folder. `log` receives lines for a person who waits."""

    def __init__(self, root: Path, log: Log) -> None:
        self._folder, self.log = root.absolute(), log
        self._read: set[str] = set()

    @cached_property
    def root(self) -> Path:
        """Return the root folder. Raises ArtefactError if another user could change what would be run from it."""
        try:
            require_guarded(self._folder)
        except OSError as error:
            mend = "change that, or set PLIMSOLL_CACHE to a folder that you alone may write"
            raise ArtefactError(f"the cache can't be used: {error}", where=str(self._folder), mend=mend) from error
        return self._folder

    def sealed(self, entry: str, build: Callable[[Path], None], *, thorough: bool = False) -> Path:
        """Return the folder of that entry. A missing or damaged entry is built first, in an empty folder.

        `build` fills the folder that it is given, and raises ArtefactError when it can't.
        """
        sealed = self.root / entry
        if is_sound(sealed, thorough=thorough):
            return sealed
        with self.alone(entry), self.unfinished(entry) as folder:
            if not is_sound(sealed):
                content = folder / "content"
                content.mkdir()
                build(content)
                # An entry with every file's checksum on record is complete.
                files = sorted(path for path in content.rglob("*") if path.is_file() and path.name != STAMPS)
                checksums = {path.relative_to(content).as_posix(): sha256(path) for path in files}
                (content / SEAL).write_text(json.dumps(checksums), encoding="utf-8")
                # Notes size, time and inode of each file, which the rename keeps: the next look reads no content
                faulty(content, checksums)
                sealed.parent.mkdir(parents=True, exist_ok=True)
                # A folder can't be renamed over one with files. The damaged one is removed with the unfinished folder.
                if sealed.exists():
                    sealed.replace(folder / "damaged")
                content.replace(sealed)
        return sealed

    def was_read(self, entry: str) -> bool:
        """Tell whether the entry was asked for before: each process reads what others named whole, but only once."""
        known = entry in self._read
        self._read.add(entry)
        return known

    @contextmanager
    def alone(self, entry: str) -> Iterator[None]:
        """Hold the entry's lock. Raises ArtefactError when another process holds it for half an hour."""
        with self.explained():
            (self.root / "locks").mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.root / "locks" / f"{entry.replace('/', '-')}.lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                # Perhaps by another thread of this very process.
                self.log(f"waiting until {entry} is ready, which is being prepared already")
                self._wait(lock, entry)
        try:
            yield
        finally:
            lock.release()

    def _wait(self, lock: FileLock, entry: str) -> None:
        try:
            lock.acquire(timeout=_PATIENCE_S)
        except Timeout as error:
            what = f"another process has been preparing {entry} for {_PATIENCE_S // 60} minutes"
            mend = f"end it if it hangs (`fuser {lock.lock_file}` names it), then run it again"
            raise ArtefactError(what, where=str(self.root), mend=mend) from error

    @contextmanager
    def unfinished(self, entry: str) -> Iterator[Path]:
        """Make a folder on the cache's own disk, and remove it afterwards. The caller must hold the entry's lock."""
        folder = self.root / "unfinished" / entry.replace("/", "-")
        with self.explained():
            # What a killed process left behind goes first.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of the file system into ArtefactError."""
        try:
            yield
        except OSError as error:
            raise ArtefactError(f"the cache can't be used: {error}", where=str(self.root), mend=_mend(error)) from error


def is_sound(place: Path, *, thorough: bool = False) -> bool:
    """Tell whether a sealed folder exists and nothing in it has changed since it was sealed."""
    expected = _noted(place / SEAL)
    return expected is not None and not faulty(place, expected, thorough=thorough)


def _mend(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free disk space there, or set PLIMSOLL_CACHE to a folder on another disk; what was fetched is kept"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "give the user who runs Plimsoll the right to write there, or set PLIMSOLL_CACHE to another folder"
    return "remove that folder and prepare it again: `make setup`"


def sha256(path: Path) -> str:
    """Return checksum of a file's content, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def faulty(folder: Path, expected: Mapping[str, str], *, thorough: bool = False) -> tuple[str, ...]:
    """Return names of files that are missing in the folder or differ from `expected` (name → sha256), sorted.

    Reads only files that changed since they were last verified; `thorough` reads all of them.
    """
    path = folder / STAMPS
    known = _noted(path) or {}
    trusted = {} if thorough else known
    sound = {name: stamp for name in expected if (stamp := _sound(folder / name, expected[name], trusted.get(name)))}
    if sound != known:
        # Where the cache can't be written, files are read again next time.
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
        with contextlib.suppress(OSError):
            unfinished.write_text(json.dumps(sound), encoding="utf-8")
            unfinished.replace(path)
    return tuple(sorted(expected.keys() - sound.keys()))


def _sound(path: Path, expected: str, known: list[object] | None) -> list[object] | None:
    """Return the file's stamp if its content is as expected, else None."""
    try:
        status = path.stat()
        # With the checksum: another lock may expect other content of the same unchanged file
        stamp: list[object] = [status.st_size, status.st_mtime_ns, status.st_ino, expected]
        return stamp if stamp == known or sha256(path) == expected else None
    except OSError:
        return None


def _noted(path: Path) -> dict[str, Any] | None:
    """Return what the cache noted of files, by their names; None where it has not, or was interrupted."""
    try:
        notes: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return notes
