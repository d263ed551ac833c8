"""Read a host's facts as unparsed texts."""

from __future__ import annotations

import os
import platform
import re
import shutil
import time
from pathlib import Path
from typing import Any

_FILES = {
    "os_release": "/etc/os-release",
    "meminfo": "/proc/meminfo",
    "cpuinfo": "/proc/cpuinfo",
    "huge_pages": "/sys/kernel/mm/transparent_hugepage/enabled",
    "shared_huge_pages": "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
    "memory_limit": "/sys/fs/cgroup/memory.max",
    "memory_limit_v1": "/sys/fs/cgroup/memory/memory.limit_in_bytes",
}


def read(folder: Path) -> dict[str, Any]:
    """Return the texts of the files above, empty without one, the folder's disk, and the kernel's other answers."""
    return {
        **{name: _text(Path(path)) for name, path in _FILES.items()},
        "system": platform.system(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        # Those that processes may run on.
        "cpus": len(os.sched_getaffinity(0)),
        "page_size": os.sysconf("SC_PAGE_SIZE"),
        "data_disk": data_disk(folder),
        "utc_offset_s": time.localtime().tm_gmtoff,
    }


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


MOUNTS, BLOCKS = Path("/proc/self/mountinfo"), Path("/sys/class/block")
# The kernel counts in sectors of 512 bytes, whatever the disk's own sectors are
_SECTOR = 512


def data_disk(folder: Path, mounts: Path = MOUNTS, blocks: Path = BLOCKS) -> dict[str, Any]:
    """Return the folder's device, its models as the kernel names them (one for each disk of an array), its size, bytes.

    Where the kernel knows no model, the file system stands for it. A folder that is not there yet is on the disk of the
    nearest one that is.
    """
    folder = next(one for one in (folder.resolve(), *folder.resolve().parents) if one.is_dir())
    source, kind = _mounted_at(folder, mounts.read_text(encoding="utf-8", errors="replace"))
    block = blocks / os.path.basename(os.path.realpath(source))  # noqa: PTH119 - a link's target
    size = _text(block / "size").strip()
    return {
        "device": source,
        "models": sorted(filter(None, (_text(disk / "device" / "model").strip() for disk in _disks(block)))) or [kind],
        "bytes": int(size) * _SECTOR if size else shutil.disk_usage(folder).total,
    }


def _mounted_at(folder: Path, mounts: str) -> tuple[str, str]:
    """Return the source and the type of the file system that the folder is in; of several at one place, the last."""
    inside = {str(one) for one in (folder, *folder.parents)}
    found = ("", "", "unknown")
    for line in mounts.splitlines():
        place, _, origin = line.partition(" - ")
        # A space in it is written as \040; what is no ASCII stands as it is
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), place.split()[4])
        if point in inside and len(point) >= len(found[0]):
            kind, source = origin.split()[:2]
            found = (point, source, kind)
    return found[1], found[2]


def _disks(block: Path) -> list[Path]:
    """Return the disks behind a block device: those of an array, or the one that a partition is of."""
    members = [block.parent / member.name for member in block.glob("slaves/*")] or [block]
    return [one.resolve().parent if (one / "partition").exists() else one for one in members]
