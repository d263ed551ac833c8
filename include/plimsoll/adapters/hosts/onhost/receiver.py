"""Receive a folder of files, verified by content.

Imports no other module, because it is copied to a host before all else.

`python3 receiver.py settle PLACE` reads `{path: sha256}` and prints the paths that are missing or wrong; when there are
none, the place is complete. `python3 receiver.py receive PLACE` reads a tar with such files. Both can be repeated at
any time. Received files are kept, so an interrupted transfer continues.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tarfile
from pathlib import Path
from typing import IO

_BLOCK = 1 << 20


def settle(place: Path, files: dict[str, str]) -> list[str]:
    """Return the files that are still missing. A damaged place is made incomplete again, to be completed."""
    unfinished = _unfinished(place)
    if place.is_dir():
        if not _faulty(place, files):
            shutil.rmtree(unfinished, ignore_errors=True)
            return []
        # A folder can only be renamed over an empty one
        shutil.rmtree(unfinished, ignore_errors=True)
        place.replace(unfinished)
    missing = _faulty(unfinished, files)
    if not missing:
        try:
            unfinished.replace(place)
        except OSError:
            if not place.is_dir():  # else another sender of the same was quicker
                raise
    return missing


def receive(place: Path, source: IO[bytes]) -> None:
    """Receive the files of a tar, possibly at the same time as another sender. Raises OSError, tarfile.TarError."""
    try:
        folder = _unfinished(place)
        with tarfile.open(fileobj=source, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is None or ".." in Path(member.name).parts:
                    raise OSError(f"{member.name} is no file of a bundle")
                target = folder / member.name.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                _write(target, content, member)
    except FileNotFoundError:
        if not place.is_dir():  # else the other has completed it, under this one's feet
            raise
        # The sender of a tar that is not read to its end fails with a broken pipe
        while source.read(_BLOCK):
            pass


def _write(target: Path, content: IO[bytes], member: tarfile.TarInfo) -> None:
    """Write atomically, with the file's time: a JVM uses its archives only with files of the recorded time."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            shutil.copyfileobj(content, file, _BLOCK)
        part.chmod(member.mode)
        os.utime(part, (member.mtime, member.mtime))
        part.replace(target)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def _unfinished(place: Path) -> Path:
    return place.with_name(f"{place.name}.part")


def _faulty(folder: Path, files: dict[str, str]) -> list[str]:
    return [path for path, checksum in files.items() if _sha256(folder / path) != checksum]


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError:
        return ""
    return digest.hexdigest()


if __name__ == "__main__":
    try:
        if sys.argv[1] == "settle":
            json.dump(settle(Path(sys.argv[2]), json.load(sys.stdin)), sys.stdout)
        else:
            receive(Path(sys.argv[2]), sys.stdin.buffer)
    except (OSError, tarfile.TarError) as refused:
        sys.exit(str(refused))
