"""Find the disk on which a folder is: its device, what it is, and its size."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

MOUNTS, BLOCKS = Path("/proc/self/mountinfo"), Path("/sys/class/block")
_SECTOR = 512


def read(folder: Path, mounts: Path = MOUNTS, blocks: Path = BLOCKS) -> dict[str, Any]:
    """Return the device, its models as the kernel names them (one for each disk of an array), and its size, bytes.

    Where the kernel knows no model, the file system stands for it. A folder that is not there yet is on the disk of the
    nearest one that is.
    """
    folder = next(one for one in (folder.resolve(), *folder.resolve().parents) if one.is_dir())
    source, kind = _mounted_at(folder, mounts.read_text(encoding="utf-8", errors="replace"))
    block = blocks / os.path.basename(os.path.realpath(source))  # noqa: PTH119 - a link's target
    size = _text(block / "size")
    return {
        "device": source,
        "models": sorted(filter(None, map(_model, _disks(block)))) or [kind],
        "bytes": int(size) * _SECTOR if size else shutil.disk_usage(folder).total,
    }


def _mounted_at(folder: Path, mounts: str) -> tuple[str, str]:
    """Return the source and the type of the file system that the folder is in; of several at one place, the last."""
    inside = {str(one) for one in (folder, *folder.parents)}
    found = ("", "", "unknown")
    for line in mounts.splitlines():
        place, _, origin = line.partition(" - ")
        point = place.split()[4].encode().decode("unicode_escape")  # a space in it is written as \040
        if point in inside and len(point) >= len(found[0]):
            kind, source = origin.split()[:2]
            found = (point, source, kind)
    return found[1], found[2]


def _disks(block: Path) -> list[Path]:
    """Return the disks behind a block device: those of an array, or the one that a partition is of."""
    members = [block.parent / member.name for member in block.glob("slaves/*")] or [block]
    return [one.resolve().parent if (one / "partition").exists() else one for one in members]


def _model(disk: Path) -> str:
    return _text(disk / "device" / "model")


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace").strip() if file.is_file() else ""
