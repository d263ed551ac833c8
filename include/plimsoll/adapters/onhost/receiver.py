"""Takes in a folder of files, verified by content. Imports nothing of its own: it is what brings everything else.

`python3 receiver.py settle PLACE` reads `{path: sha256}` and prints the paths that are missing or wrong; when none is,
the place is there. `python3 receiver.py receive PLACE` reads a tar of such files. Both can be repeated at any time, and
what has arrived stays: an interrupted transfer goes on where it was.
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
    """What has still to come. A place that is there but damaged is taken back and completed."""
    unfinished = _unfinished(place)
    if place.is_dir():
        if not _faulty(place, files):
            shutil.rmtree(unfinished, ignore_errors=True)
            return []
        shutil.rmtree(unfinished, ignore_errors=True)
        place.replace(unfinished)
    missing = _faulty(unfinished, files)
    if not missing:
        _name(unfinished, place)
    return missing


def receive(place: Path, source: IO[bytes]) -> None:
    """Take in the files of a tar, also beside another sender of the same. OSError, tarfile.TarError."""
    try:
        _receive(_unfinished(place), source)
    except FileNotFoundError:
        if not place.is_dir():  # else the other has completed it, under this one's feet
            raise
        while source.read(_BLOCK):
            pass


def _receive(folder: Path, source: IO[bytes]) -> None:
    with tarfile.open(fileobj=source, mode="r|") as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is None or ".." in Path(member.name).parts:
                raise OSError(f"{member.name} is no file of a bundle")
            target = folder / member.name.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, content, member)


def _write(target: Path, content: IO[bytes], member: tarfile.TarInfo) -> None:
    """Whole or not at all, with its time: a JVM uses its own archives only beside files as old as it has noted."""
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


def _name(unfinished: Path, place: Path) -> None:
    try:
        unfinished.replace(place)
    except OSError:
        if not place.is_dir():  # else another sender of the same was quicker
            raise


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
