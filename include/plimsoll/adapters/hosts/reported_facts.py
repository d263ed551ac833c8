"""Interpret the facts that `onhost.readings` read on a host. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.domain.hosts.fingerprint import HostFacts

_KIB, _GB = 1024, 1e9


def host_facts(readings: Mapping[str, Any], provider: Mapping[str, str]) -> HostFacts:
    """Return a host's hardware and system. `provider` adds its own. `cpus`: processors usable by processes."""
    memory = _meminfo(readings["meminfo"])
    return HostFacts(
        os=_os_name(readings["os_release"]) or readings["system"],
        kernel=readings["kernel"],
        # Processors of other makes than x86 name themselves elsewhere or not at all.
        cpu_model=_cpu_model(readings["cpuinfo"]) or readings["machine"],
        cpus=readings["cpus"],
        memory_bytes=memory["MemTotal"],
        page_size_bytes=readings["page_size"],
        transparent_huge_pages=_huge_pages(readings["huge_pages"]),
        shared_huge_pages=_huge_pages(readings["shared_huge_pages"]),
        swap_bytes=memory.get("SwapTotal", 0),
        utc_offset_s=readings["utc_offset_s"],
        data_disk=_disk(readings["data_disk"]),
        data_disk_device=readings["data_disk"]["device"],
        provider=dict(provider),
    )


def memory_bytes(readings: Mapping[str, Any]) -> int:
    """Return the memory that processes on the host may use: the machine's, or a control group's lower limit, bytes."""
    limits = (readings["memory_limit"].strip(), readings["memory_limit_v1"].strip())
    return min([_meminfo(readings["meminfo"])["MemTotal"], *(int(limit) for limit in limits if limit.isdigit())])


def _meminfo(text: str) -> dict[str, int]:
    """Return every line `Name: n kB`, in bytes."""
    pairs = (line.split(":") for line in text.splitlines())
    return {name: int(value.split()[0]) * _KIB for name, value in pairs}


def _disk(read: Mapping[str, Any]) -> str:
    """Name the disk, with its size as makers of disks count it: `2 × Amazon EC2 NVMe Instance Storage, 3800 GB`."""
    models = Counter(read["models"])
    named = " and ".join(name if count == 1 else f"{count} × {name}" for name, count in models.items())
    return f"{named}, {read['bytes'] / _GB:.0f} GB"


def _os_name(text: str) -> str:
    return next((value.strip('"') for key, value in _pairs(text, "=") if key == "PRETTY_NAME"), "")


def _cpu_model(text: str) -> str:
    return next((value for key, value in _pairs(text, ":") if key == "model name"), "")


def _pairs(text: str, separator: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, _, value = line.partition(separator)
        yield key.strip(), value.strip()


def _huge_pages(text: str) -> str:
    """Return the selected word of `always [madvise] never`."""
    chosen = (word.strip("[]") for word in text.split() if word.startswith("["))
    return next(chosen, "unknown") if text else "unavailable"
