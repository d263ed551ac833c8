"""What this machine is, from /etc/os-release, /proc and /sys."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

from plimsoll.domain.fingerprint import HostFacts

_KIB = 1024
_CGROUP = Path("/sys/fs/cgroup")


def machine_facts(provider: Mapping[str, str]) -> HostFacts:
    """Hardware and system; `provider` is what the provider adds. `cpus` counts those that processes may run on."""
    memory = _meminfo(Path("/proc/meminfo"))
    return HostFacts(
        os=_os_name(Path("/etc/os-release")),
        kernel=platform.release(),
        cpu_model=_cpu_model(Path("/proc/cpuinfo")),
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=memory["MemTotal"],
        page_size_bytes=os.sysconf("SC_PAGE_SIZE"),
        transparent_huge_pages=_huge_pages(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
        swap_bytes=memory.get("SwapTotal", 0),
        provider=dict(provider),
    )


def memory_bytes() -> int:
    """Memory that processes here may use: the machine's, or less where a control group limits it."""
    limits = (_CGROUP / "memory.max", _CGROUP / "memory" / "memory.limit_in_bytes")
    texts = [path.read_text(encoding="ascii").strip() for path in limits if path.is_file()]
    total = _meminfo(Path("/proc/meminfo"))["MemTotal"]
    return min([total, *(int(text) for text in texts if text.isdigit())])


def _meminfo(path: Path) -> dict[str, int]:
    """Every line `Name: n kB` in bytes."""
    pairs = (line.split(":") for line in path.read_text(encoding="ascii").splitlines())
    return {name: int(value.split()[0]) * _KIB for name, value in pairs}


def _os_name(path: Path) -> str:
    if not path.exists():
        return platform.system()
    pairs = (line.partition("=") for line in path.read_text(encoding="utf-8").splitlines())
    return next((value.strip('"') for key, _, value in pairs if key == "PRETTY_NAME"), platform.system())


def _cpu_model(path: Path) -> str:
    """Processors of other makes than x86 name themselves elsewhere or not at all."""
    pairs = (line.partition(":") for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    return next((value.strip() for key, _, value in pairs if key.strip() == "model name"), platform.machine())


def _huge_pages(path: Path) -> str:
    """The chosen one of `always [madvise] never`."""
    if not path.exists():
        return "unavailable"
    return next((word.strip("[]") for word in path.read_text(encoding="ascii").split() if word[0] == "["), "unknown")
