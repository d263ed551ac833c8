"""Verify files by checksum. Content is read once; later, unchanged size, time and inode are enough, as in git."""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

STAMPS = ".verified.json"
_Stamps = dict[str, list[object]]


def sha256(path: Path) -> str:
    """Return checksum of a file's content, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def faulty(folder: Path, expected: Mapping[str, str], *, thorough: bool = False) -> tuple[str, ...]:
    """Return names of files that are missing in the folder or differ from `expected` (name → sha256), sorted.

    Reads only files that changed since they were last verified; `thorough` reads all of them.
    """
    known = _read(folder / STAMPS)
    trusted = {} if thorough else known
    sound = {name: stamp for name in expected if (stamp := _sound(folder / name, expected[name], trusted.get(name)))}
    if sound != known:
        _remember(folder / STAMPS, sound)
    return tuple(sorted(expected.keys() - sound.keys()))


def _sound(path: Path, expected: str, known: list[object] | None) -> list[object] | None:
    """Return the file's stamp if its content is as expected, else None."""
    try:
        found = path.stat()
        stamp: list[object] = [found.st_size, found.st_mtime_ns, found.st_ino, expected]
        return stamp if stamp == known or sha256(path) == expected else None
    except OSError:
        return None


def _read(path: Path) -> _Stamps:
    try:
        stamps: _Stamps = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return stamps


def _remember(path: Path, stamps: _Stamps) -> None:
    """Store the stamps of verified files. If the cache can't be written, files are read again next time."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    with contextlib.suppress(OSError):
        unfinished.write_text(json.dumps(stamps), encoding="utf-8")
        unfinished.replace(path)
