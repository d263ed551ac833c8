"""A host's counters, as its kernel's files have them, and the processes that listen somewhere on this machine. Part of
the sampler: Python 3.9, its standard library only.
"""

import os
import pwd
import re
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

Counters = dict[str, float]
TICKS = float(os.sysconf("SC_CLK_TCK"))
"""Ticks in a second of a processor, in which the kernel tells times."""
ODD = re.compile(r"[^A-Za-z0-9_.:/@+-]")
"""What would break a line of the CSV in a name."""
_CGROUPS = "/sys/fs/cgroup"
OWN_GROUP = "plimsoll-node-"
"""Begins the name of a group whose quota is the share of a processor that a node is meant to have."""
_OWN_GROUP = re.compile(OWN_GROUP + r"[0-9a-f]{8}-127\.[0-9.]+")
# The kernel counts in sectors of 512 bytes, whatever the disk's own sectors are
_SECTOR = 512


def text_of(path: str) -> str:
    """Return the content of a file of the kernel's; empty where it has none, or nobody may read it."""
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def cpu(stat: str) -> Counters:
    """Return ticks since boot in `/proc/stat`, by activity, and the processors. `user` has the guests' time."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    ticks = dict(zip(names, map(float, stat.splitlines()[0].split()[1:])))  # noqa: B905 - Python 3.9 has no `strict`
    return {
        "user": ticks["user"] + ticks["nice"],
        "system": ticks["system"] + ticks["irq"] + ticks["softirq"],
        "interrupts": ticks["irq"] + ticks["softirq"],
        "iowait": ticks["iowait"],
        "steal": ticks["steal"],
        "idle": ticks["idle"],
        "processors": float(len(re.findall(r"^cpu\d", stat, re.MULTILINE)) or 1),
    }


def pressure(text: str) -> Counters:
    """Return microseconds since boot in which some process waited, by `/proc/pressure/cpu`. Empty without it."""
    return {"pressure": float(text.partition("total=")[2].split(maxsplit=1)[0])} if "total=" in text else {}


def throttling(stats: Mapping[str, str]) -> Counters:
    """Return periods since boot, those in which the quota was used up, and for how many ms, by each group's `cpu.stat`.

    Empty where no group has a quota.
    """
    counters: Counters = {}
    for group, text in stats.items():
        figures = {name: float(count) for name, count in re.findall(r"^(\w+) (\d+)$", text, re.MULTILINE)}
        if figures.get("nr_periods"):
            counters[f"periods {group}"] = figures["nr_periods"]
            counters[f"throttled {group}"] = figures["nr_throttled"]
            # Version 2 of control groups has `throttled_usec`, version 1 has `throttled_time` in ns
            waited_ms = figures.get("throttled_usec", 0.0) / 1e3 + figures.get("throttled_time", 0.0) / 1e6
            counters[f"waited {group}"] = waited_ms
    return counters


def cpu_groups(groups: str, root: str = _CGROUPS) -> "dict[str, str]":
    """Return files `cpu.stat` with their control groups: a process' own and all above, by `/proc/<pid>/cgroup`.

    Where both versions of control groups are used, a process may be in groups of the same name, of which one counts.
    """
    files = {}
    for number, controllers, path in (line.split(":", 2) for line in groups.splitlines()):
        # The hierarchy with number 0 is version 2, which names no controllers here
        if number == "0" or "cpu" in controllers.split(","):
            base = Path(root) if number == "0" else Path(root, "cpu")
            own = Path(path)
            counted = (group for group in (own, *own.parents) if not _OWN_GROUP.fullmatch(group.name))
            files.update({f"{base}{str(group).rstrip('/')}/cpu.stat": str(group) for group in counted})
    return files


def disks(diskstats: str, names: list[str]) -> Counters:
    """Return bytes and busy milliseconds of each of the disks in `/proc/diskstats`."""
    counters: Counters = {"read": 0.0, "written": 0.0}
    for fields in (line.split() for line in diskstats.splitlines()):
        if fields[2] in names:
            counters["read"] += float(fields[5]) * _SECTOR
            counters["written"] += float(fields[9]) * _SECTOR
            counters[f"busy {fields[2]}"] = float(fields[12])
    return counters


def network(dev: str) -> Counters:
    """Return bytes over all interfaces of `/proc/net/dev` except loopback."""
    counters: Counters = {"received": 0.0, "sent": 0.0}
    for name, _, figures in (line.partition(":") for line in dev.splitlines()[2:]):
        if name.strip() != "lo":
            counters["received"] += float(figures.split()[0])
            counters["sent"] += float(figures.split()[8])
    return counters


def memory_available(meminfo: str) -> float:
    """Return bytes available to new processes, by `/proc/meminfo`."""
    return float(next(line.split()[1] for line in meminfo.splitlines() if line.startswith("MemAvailable"))) * 1024


MARK, USER = "@", "~"
"""Begin `@PORT,ADDRESS,...`, which stands for a database that others run, and `~NAME`, the user as whom it runs."""
_LISTENS = "0A"
# They listen for a process that they only hand connections to.
_NOT_PROGRAMS = ("docker-proxy", "rootlessport", "systemd")


def listening(database: str, proc: str = "/proc") -> "tuple[bool, set[str]]":
    """Tell whether anything listens on this machine at `@PORT,ADDRESS,...`, and return the processes that do so.

    Of other users' processes only root can tell which they are.
    """
    port, *names = database[1:].split(",")
    addresses = {address for name in names for address in _local(name)}
    inodes = {
        f"socket:[{fields[9]}]"
        for table in ("tcp", "tcp6")
        for fields in (line.split() for line in text_of(f"{proc}/net/{table}").splitlines()[1:])
        if fields[3] == _LISTENS and _is_at(fields[1], int(port), addresses)
    }
    pids = {pid for pid in os.listdir(proc) if pid.isdigit()} if inodes else set()  # noqa: PTH208
    return bool(inodes), {
        pid for pid in pids if inodes & _open(proc, pid) and text_of(f"{proc}/{pid}/comm").strip() not in _NOT_PROGRAMS
    }


def uid_of(user: str) -> str:
    """Return the number of a user of this machine, who may be named by it; empty where there is none."""
    with suppress(KeyError):
        return str(pwd.getpwnam(user).pw_uid)
    return user if user.isdigit() else ""


def _local(name: str) -> "set[bytes]":
    """Return the addresses of that name that are this machine's own, as the kernel keeps them."""
    addresses: set[bytes] = set()
    try:
        resolved = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return addresses
    for family, _, _, _, (address, *_) in resolved:
        # A kernel may not have the family, and the address be another machine's.
        with suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((address, 0))
            addresses.add(socket.inet_pton(family, str(address).partition("%")[0]))
    return addresses


def _is_at(endpoint: str, port: int, addresses: "set[bytes]") -> bool:
    """Tell whether `0100007F:2352` of the kernel's tables is one of the addresses, or all of them."""
    address, _, number = endpoint.partition(":")
    raw = bytes.fromhex(address)
    # The kernel prints each word of 32 bits in the machine's own byte order
    if sys.byteorder == "little":
        raw = b"".join(raw[n : n + 4][::-1] for n in range(0, len(raw), 4))
    # A socket of both families shows 127.0.0.1 as ::ffff:127.0.0.1
    mapped = bytes(10) + b"\xff\xff"
    raw = raw[12:] if raw.startswith(mapped) else raw
    return bool(addresses) and int(number, 16) == port and (raw in addresses or not any(raw))


def _open(proc: str, pid: str) -> "set[str]":
    """Return what the process has open; nothing where that can't be read."""
    try:
        entries = os.listdir(f"{proc}/{pid}/fd")  # noqa: PTH208
    except OSError:  # it has ended, or is another user's
        return set()
    targets = set()
    for entry in entries:
        with suppress(OSError):  # closed meanwhile
            targets.add(os.readlink(f"{proc}/{pid}/fd/{entry}"))  # noqa: PTH115
    return targets
