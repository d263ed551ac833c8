"""Read a host's facts as unparsed texts."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

from plimsoll.adapters.hosts.onhost import data_disk

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
        "data_disk": data_disk.read(folder),
        "utc_offset_s": time.localtime().tm_gmtoff,
    }


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
