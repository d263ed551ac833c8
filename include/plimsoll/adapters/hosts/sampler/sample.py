"""Writes a line of a host's figures every second, as CSV. A program of its own: Python 3.9, its standard library only.

Usage: python3 FOLDER FILE|SECONDS [ENVIRONMENT...]. With a file it ends when it is ended. What a line says holds for
the time since the line before. The environments are the attempt's own, where its cluster serves several attempts.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from plimsoll.adapters.hosts.sampler.counters import (
    ODD,
    TICKS,
    Counters,
    cpu,
    cpu_groups,
    disks,
    memory_available,
    network,
    pressure,
    text_of,
    throttling,
)
from plimsoll.adapters.hosts.sampler.programs import Others, Programs, others

PERIOD_S = 1.0
COLUMNS = (
    "time_s",  # since the epoch, at the end of what the line covers
    "cpu_user",  # shares of all processors' time, 0 to 1; user and system as the clock's ticks divide what is not idle
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
    "cpu_others",  # share of all processors' time that programs took which are none of the attempt's; empty: not known
    "cpu_throttled",  # share of periods in which a group's CPU quota was used up; empty where no group has one
    "others_top",  # the programs that took most of `cpu_others`, as `name(pid)=share;…`; empty while it is small
    "throttled_ms",  # how long processes waited for the quota of that group, over all processors; empty as above
    "throttled_group",  # the control group of the attempt's processes, or one above it, that was throttled most
)
TAG = "PLIMSOLL_CLUSTER"
"""The variable that every process of a cluster has in its environment, this script too."""
_NOBODY = b"PLIMSOLL_CLUSTER=\0"
"""A mark that no process has."""
_VIRTUAL_DISKS = ("loop", "ram", "zram", "dm-", "md", "sr")


def line(at: float, elapsed: float, old: Counters, new: Counters, foreign: "Others | None") -> str:
    """Format one line of the CSV from two readings `elapsed` seconds apart."""
    # A disk or a control group that has just appeared counts from now on, and not since boot
    since = {name: new[name] - old.get(name, new[name]) for name in new}
    whole = elapsed * new["processors"] * TICKS
    idle, iowait, steal = (min(max(since[name] / whole, 0.0), 1.0) for name in ("idle", "iowait", "steal"))
    # Idle time is measured. Work is counted at the clock's ticks, which miss most of what runs in short bursts.
    worked = max(1 - idle - iowait - steal, 0.0) / max(since["user"] + since["system"], 1.0)
    shares = [since["user"] * worked, since["system"] * worked, iowait, steal, idle]
    busy = max((since[name] for name in since if name.startswith("busy ")), default=0.0)
    waited = f"{since['pressure'] / elapsed / 1e6:.4f}" if "pressure" in since else ""
    sizes = [new["available"], since["read"], since["written"], since["received"], since["sent"]]
    memory, read, written, received, sent = (f"{size:.0f}" for size in sizes)
    figures = [f"{at:.3f}", *(f"{share:.4f}" for share in shares), waited, memory]
    busiest = f"{min(busy / elapsed / 1e3, 1):.4f}"
    share, most = (f"{foreign.share:.4f}", foreign.most) if foreign else ("", "")
    throttled, throttled_ms, group = _throttled(since)
    figures += [read, written, busiest, received, sent, share, throttled, most, throttled_ms, group]
    return ",".join(figures)


def _throttled(since: Counters) -> "tuple[str, str, str]":
    """Return the three figures of the group that was throttled in most of its periods."""
    periods = {name.partition(" ")[2]: count for name, count in since.items() if name.startswith("periods ") and count}
    shares = {group: since[f"throttled {group}"] / count for group, count in periods.items()}
    if not shares:
        return "", "", ""
    group = max(shares, key=lambda group: shares[group])
    named = ODD.sub("?", group) if shares[group] else ""
    return f"{shares[group]:.4f}", f"{since[f'waited {group}']:.0f}", named


class Readings:
    """Reads a host's counters again and again, and tells what happened between two readings."""

    def __init__(self, tag: bytes, environments: Sequence[str]) -> None:
        self._disks = [disk.name for disk in Path("/sys/block").iterdir() if not disk.name.startswith(_VIRTUAL_DISKS)]
        self._programs = Programs(tag, environments)
        self._at, self._counters = 0.0, Counters()
        self.line()

    def line(self) -> str:
        """Return a line about the time since the call before; what the first call returns has no meaning."""
        at, now, stat, taken = time.time(), time.monotonic(), text_of("/proc/stat"), self._programs.look()
        groups: dict[str, str] = {}
        # Processes of one service say the same.
        for listed in dict.fromkeys(text_of(f"/proc/{pid}/cgroup") for pid in ("self", *self._programs.own())):
            groups.update(cpu_groups(listed))
        new = {
            **cpu(stat),
            **throttling({group: text for path, group in groups.items() if (text := text_of(path))}),
            **pressure(text_of("/proc/pressure/cpu")),
            **disks(text_of("/proc/diskstats"), self._disks),
            **network(text_of("/proc/net/dev")),
            "available": memory_available(text_of("/proc/meminfo")),
        }
        old, elapsed = self._counters or new, now - self._at
        self._at, self._counters = now, new
        return line(at, elapsed, old, new, others(elapsed, old, new, taken, sees_all=self._programs.sees_all))


def samples(sleep: Callable[[float], None] = time.sleep, environments: Sequence[str] = ()) -> Iterator[str]:
    """Yield lines without end, one at every whole second."""
    # The readings begin at a whole second, so that the first line covers one, too
    sleep(_until_next())
    readings = Readings(_tag(), environments)
    while True:
        sleep(_until_next())
        yield readings.line()


def _tag() -> bytes:
    return f"{TAG}={cluster}".encode() if (cluster := os.environ.get(TAG)) else b""


def _until_next() -> float:
    return PERIOD_S - time.time() % PERIOD_S


def look(seconds: float, environments: Sequence[str] = (), tag: bytes = b"") -> str:
    """Return one line that covers the next seconds. Without a tag every program counts as another program."""
    readings = Readings(tag or _NOBODY, environments)
    time.sleep(seconds)
    return readings.line()


def main(path: str, *environments: str) -> None:
    """Write lines until the process is ended. Each line is written whole.

    With a number of seconds, such as `3`, in place of a path: print the head and the one line that covers these.
    """
    if path.isdigit():
        print(",".join(COLUMNS))
        print(look(float(path), environments, _tag()))
        return
    with Path(path).open("a", encoding="ascii", buffering=1) as file:
        file.write(",".join(COLUMNS) + "\n")
        for sample in samples(environments=environments):
            file.write(sample + "\n")
