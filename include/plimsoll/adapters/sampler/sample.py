"""Writes a line of a host's figures every second, as CSV. A script of its own: Python 3.9, its standard library only.

Usage: python3 sample.py FILE. It ends when it is ended. What a line says holds for the time since the line before.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PERIOD_S = 1.0
COLUMNS = (
    "time_s",  # since the epoch, at the end of what the line covers
    "cpu_user",  # shares of all processors' time, 0 to 1
    "cpu_system",
    "cpu_iowait",
    "cpu_steal",
    "cpu_idle",
    "cpu_pressure",  # share of the time for which some process waited for a processor; empty where not counted
    "memory_available_bytes",
    "disk_read_bytes",
    "disk_written_bytes",
    "disk_busy",  # share of the time for which the busiest disk worked
    "net_received_bytes",  # without loopback
    "net_sent_bytes",
)
_SECTOR = 512
_VIRTUAL_DISKS = ("loop", "ram", "zram", "dm-", "md", "sr")

Counters = dict[str, float]


def cpu(stat: str) -> Counters:
    """Ticks since boot of `/proc/stat`, by what the processors did. Guests' time is in user's already."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    ticks = dict(zip(names, map(float, stat.splitlines()[0].split()[1:])))  # noqa: B905 - Python 3.9 has no `strict`
    return {
        "user": ticks["user"] + ticks["nice"],
        "system": ticks["system"] + ticks["irq"] + ticks["softirq"],
        "iowait": ticks["iowait"],
        "steal": ticks["steal"],
        "idle": ticks["idle"],
    }


def pressure(text: str) -> Counters:
    """Microseconds since boot of `/proc/pressure/cpu`, for which some process waited; none where it is not kept."""
    return {"pressure": float(text.partition("total=")[2].split(maxsplit=1)[0])} if "total=" in text else {}


def disks(diskstats: str, names: list[str]) -> Counters:
    """Bytes and busy milliseconds of each of the disks in `/proc/diskstats`."""
    counters: Counters = {"read": 0.0, "written": 0.0}
    for fields in (line.split() for line in diskstats.splitlines()):
        if fields[2] in names:
            counters["read"] += float(fields[5]) * _SECTOR
            counters["written"] += float(fields[9]) * _SECTOR
            counters[f"busy {fields[2]}"] = float(fields[12])
    return counters


def network(dev: str) -> Counters:
    """Bytes over all interfaces of `/proc/net/dev` but loopback."""
    counters: Counters = {"received": 0.0, "sent": 0.0}
    for name, _, figures in (line.partition(":") for line in dev.splitlines()[2:]):
        if name.strip() != "lo":
            counters["received"] += float(figures.split()[0])
            counters["sent"] += float(figures.split()[8])
    return counters


def memory_available(meminfo: str) -> float:
    """Bytes that new processes can have, of `/proc/meminfo`."""
    return float(next(line.split()[1] for line in meminfo.splitlines() if line.startswith("MemAvailable"))) * 1024


def line(at: float, elapsed: float, old: Counters, new: Counters, available: float) -> str:
    """One line of the CSV from two readings `elapsed` seconds apart."""
    since = {name: new[name] - old.get(name, new[name]) for name in new}
    ticks = max(sum(since[name] for name in ("user", "system", "iowait", "steal", "idle")), 1.0)
    busy = max((since[name] for name in since if name.startswith("busy ")), default=0.0)
    shares = [since[name] / ticks for name in ("user", "system", "iowait", "steal", "idle")]
    waited = f"{since['pressure'] / elapsed / 1e6:.4f}" if "pressure" in since else ""
    sizes = [available, since["read"], since["written"], since["received"], since["sent"]]
    memory, read, written, received, sent = (f"{size:.0f}" for size in sizes)
    figures = [f"{at:.3f}", *(f"{share:.4f}" for share in shares), waited, memory]
    return ",".join([*figures, read, written, f"{min(busy / elapsed / 1e3, 1):.4f}", received, sent])


def _real_disks() -> list[str]:
    return [disk.name for disk in Path("/sys/block").iterdir() if not disk.name.startswith(_VIRTUAL_DISKS)]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:  # a kernel without it
        return ""


def _counters(names: list[str]) -> Counters:
    return {
        **cpu(_read("/proc/stat")),
        **pressure(_read("/proc/pressure/cpu")),
        **disks(_read("/proc/diskstats"), names),
        **network(_read("/proc/net/dev")),
    }


def samples(sleep: Callable[[float], None] = time.sleep) -> Iterator[str]:
    """Lines for ever, one at every whole second."""
    names = _real_disks()
    sleep(_until_next())
    since, old = time.monotonic(), _counters(names)
    while True:
        sleep(_until_next())
        now, new = time.monotonic(), _counters(names)
        yield line(time.time(), now - since, old, new, memory_available(_read("/proc/meminfo")))
        since, old = now, new


def _until_next() -> float:
    return PERIOD_S - time.time() % PERIOD_S


def main(path: str) -> None:
    """Write lines until the process is ended; each is written whole."""
    with Path(path).open("a", encoding="ascii", buffering=1) as file:
        file.write(",".join(COLUMNS) + "\n")
        for sample in samples():
            file.write(sample + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
