"""Writes a line of a host's figures every second, as CSV. A script of its own: Python 3.9, its standard library only.

Usage: python3 sample.py FILE|SECONDS [ENVIRONMENT...]. With a file it ends when it is ended. What a line says holds for
the time since the line before. The environments are the attempt's own, where its cluster serves several attempts.
Among them `@PORT,ADDRESS,...` stands for the processes that listen there on this machine: a database that others run.
"""

import os
import re
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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
    "cpu_others",  # share of all processors' time that programs took which are none of the attempt's; empty: not known
    "cpu_throttled",  # share of periods in which the container's CPU quota was used up; empty where there is no quota
    "others_top",  # the programs that took most of `cpu_others`, as `name(pid)=share;…`; empty while it is small
)
TAG = "PLIMSOLL_CLUSTER"
"""The variable that every process of a cluster has in its environment, this script too."""
_ENVIRONMENT_TAG = "PLIMSOLL_ENVIRONMENT"
"""The variable that every process of an attempt on kept hosts has beside it."""

_CGROUPS = "/sys/fs/cgroup"
_NAMED = 0.02
"""Share of all processors' time from which on other programs are named. It takes a look at each of them."""
_MOST_NAMED = 3
_NOBODY = b"PLIMSOLL_CLUSTER=\0"
"""A mark that no process has."""
_ODD = re.compile(r"[^A-Za-z0-9_.:/@+-]")
_SECTOR = 512
_FORGET = 60  # looks after which every process is asked again: a process id may be another's by then
_YOUNG = 3  # looks at which a new process is asked: between fork and exec it has its parent's environment
_MOST_BYTES = 1 << 17
_VIRTUAL_DISKS = ("loop", "ram", "zram", "dm-", "md", "sr")

_AT = "@"
_LISTENS = "0A"
_NOT_PROGRAMS = ("docker-proxy", "rootlessport")  # they listen for a process that they only hand connections to

Counters = dict[str, float]


class OtherPrograms:
    """Processor time of programs outside the attempt, in ticks: that of all processes less the attempt's own.

    The subtraction includes programs that run only for a moment, or are hidden in another container. An ended process
    counts in its parent's figures for its children. Kernel threads belong to no program and count for neither side.
    `tag`: an entry in the environment of the cluster's processes, as `NAME=value`. If there are `environments`, only
    the cluster's processes in one of these are the attempt's.
    """

    def __init__(self, tag: bytes, environments: Sequence[str] = (), proc: Path = Path("/proc")) -> None:
        self._tag, self._proc = tag, str(proc)
        self._environments = {f"{_ENVIRONMENT_TAG}={name}".encode() for name in environments if name[:1] != _AT}
        self._databases = [name for name in environments if name[:1] == _AT]
        self._listening: set[str] = set()
        self._kinds: dict[str, str] = {}
        self._young: dict[str, int] = {}
        self._looks = 0
        self._seen: dict[str, tuple[float, str]] = {}
        self._ended = 0.0

    def ticks(self, stat: str) -> Counters:
        """Return ticks since an arbitrary time; only differences have a meaning.

        `stat`: `/proc/stat`, read just before. None where processes can't be listed.
        """
        taken = sum(map(float, stat.splitlines()[0].split()[1:4])) if stat else 0.0
        return {"others": taken - self._own()} if stat and self._tag else {}

    def each(self) -> Counters:
        """Return ticks of every living program outside the attempt, by its name and process id."""
        found = {}
        for pid in (pid for pid, kind in self._kinds.items() if kind == "other"):
            stat = _bytes(f"{self._proc}/{pid}/stat").decode("ascii", "replace")
            name, fields = stat.partition("(")[2].rpartition(")")[0], stat.rpartition(")")[2].split()
            if len(fields) > 12:
                found[f"{_ODD.sub('?', name)}({pid})"] = float(fields[11]) + float(fields[12])
        return found

    def _own(self) -> float:
        """Return ticks of the attempt's processes and of kernel threads.

        Ended processes are included if none of those that they descend from lives.
        """
        seen = {pid: found for pid in self._not_others() if (found := self._times(pid)) is not None}
        ended = (pid for pid in self._seen if pid not in seen and not self._has_heir(pid, seen))
        self._ended += sum(self._seen[pid][0] for pid in ended)
        self._seen = seen
        return self._ended + sum(ticks for ticks, _ in seen.values())

    def _has_heir(self, pid: str, living: "Mapping[str, object]") -> bool:
        """Tell whether a living process counts the ended one among its children, or their children."""
        while (pid := self._seen[pid][1]) in self._seen:
            if pid in living:
                return True
        return False

    def _not_others(self) -> Iterable[str]:
        """Process ids of the attempt and of the kernel.

        New processes are looked up at once, all of them once a minute.
        """
        present = {name for name in os.listdir(self._proc) if name.isdigit()}  # noqa: PTH208 - a path each costs more
        known = self._kinds if self._looks % _FORGET else {}
        if not known:
            self._listening = {pid for one in self._databases for pid in listening(one, self._proc)[1]}
        self._looks += 1
        self._young = {pid: left - 1 for pid, left in self._young.items() if pid in known and left > 1}
        kinds = {pid: known[pid] for pid in present & known.keys() if pid not in self._young}
        for pid in present - kinds.keys():
            kinds[pid] = self._kind(pid)
            self._young.setdefault(pid, _YOUNG)
        self._kinds = kinds
        return [pid for pid, kind in kinds.items() if kind != "other"]

    def _kind(self, pid: str) -> str:
        variables = set(_bytes(f"{self._proc}/{pid}/environ").split(b"\0"))
        if self._tag in variables and (not self._environments or self._environments & variables):
            return "own"
        if pid in self._listening:
            return "own"
        return "kernel" if pid == "2" or _fields(self._proc, pid)[1:2] == [b"2"] else "other"

    def _times(self, pid: str) -> "tuple[float, str] | None":
        """Return ticks of the process and of its ended children, and its parent. None where it has ended."""
        fields = _fields(self._proc, pid)
        return (sum(map(float, fields[11:15])), fields[1].decode()) if len(fields) > 14 else None


def listening(database: str, proc: str = "/proc") -> "tuple[bool, set[str]]":
    """Tell whether anything listens on this machine at `@PORT,ADDRESS,...`, and return the processes that do so.

    Of other users' processes only root can tell which they are.
    """
    port, *names = database[1:].split(",")
    wanted = {address for name in names for address in _local(name)}
    inodes = {
        f"socket:[{fields[9]}]"
        for table in ("tcp", "tcp6")
        for fields in (line.split() for line in _text(f"{proc}/net/{table}").splitlines()[1:])
        if fields[3] == _LISTENS and _is_at(fields[1], int(port), wanted)
    }
    pids = {pid for pid in os.listdir(proc) if pid.isdigit()} if inodes else set()  # noqa: PTH208
    return bool(inodes), {pid for pid in pids if inodes & _open(proc, pid) and _name(proc, pid) not in _NOT_PROGRAMS}


def _local(name: str) -> "set[bytes]":
    """Return the addresses of that name that are this machine's own, as the kernel keeps them."""
    found: set[bytes] = set()
    try:
        told = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return found
    for family, _, _, _, where in told:
        with socket.socket(family, socket.SOCK_STREAM) as one:
            try:
                one.bind((where[0], 0))
            except OSError:
                continue
        found.add(socket.inet_pton(family, str(where[0])))
    return found


def _is_at(place: str, port: int, wanted: "set[bytes]") -> bool:
    """Tell whether a place of the kernel's tables, `0100007F:2352`, is one of the addresses, or all of them."""
    address, _, number = place.partition(":")
    raw = bytes.fromhex(address)
    if sys.byteorder == "little":
        raw = b"".join(raw[n : n + 4][::-1] for n in range(0, len(raw), 4))
    mapped = bytes(10) + b"\xff\xff"
    raw = raw[12:] if raw.startswith(mapped) else raw
    return bool(wanted) and int(number, 16) == port and (raw in wanted or not any(raw))


def _open(proc: str, pid: str) -> "set[str]":
    """Return what the process has open; nothing where that can't be read."""
    try:
        entries = os.listdir(f"{proc}/{pid}/fd")  # noqa: PTH208
    except OSError:  # it has ended, or is another user's
        return set()
    found = set()
    for entry in entries:
        with suppress(OSError):  # closed meanwhile
            found.add(os.readlink(f"{proc}/{pid}/fd/{entry}"))  # noqa: PTH115
    return found


def _name(proc: str, pid: str) -> str:
    return _bytes(f"{proc}/{pid}/comm").decode("ascii", "replace").strip()


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:  # a kernel without it
        return ""


def _fields(proc: str, pid: str) -> "list[bytes]":
    """Return the fields of `/proc/<pid>/stat` from the third on; empty where the process has ended."""
    return _bytes(f"{proc}/{pid}/stat").rpartition(b")")[2].split()


def _bytes(path: str) -> bytes:
    """Return the content of a small file of the kernel; empty where it is gone or belongs to another user."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, _MOST_BYTES)
    except OSError:
        return b""
    finally:
        os.close(file)


def cpu(stat: str) -> Counters:
    """Return ticks since boot in `/proc/stat`, by activity. The time of guests is part of `user` already."""
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
    """Return microseconds since boot in which some process waited, by `/proc/pressure/cpu`.

    Empty where the kernel has none.
    """
    return {"pressure": float(text.partition("total=")[2].split(maxsplit=1)[0])} if "total=" in text else {}


def throttling(stats: Iterable[str]) -> Counters:
    """Return periods since boot, and those in which the quota was used up, by each control group's `cpu.stat`.

    Empty where no group has a quota.
    """
    counters: Counters = {}
    for number, text in enumerate(stats):
        figures = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
        if float(figures.get("nr_periods", 0)):
            counters[f"periods {number}"] = float(figures["nr_periods"])
            counters[f"throttled {number}"] = float(figures["nr_throttled"])
    return counters


def cpu_groups(groups: str, root: str = _CGROUPS) -> "list[str]":
    """Return the files `cpu.stat` of this process' control group and of all above it, by `/proc/self/cgroup`."""
    found = []
    for number, controllers, path in (line.split(":", 2) for line in groups.splitlines()):
        if number == "0" or "cpu" in controllers.split(","):
            base = Path(root) if number == "0" else Path(root, "cpu")
            own = base / path.strip("/")
            found += [
                str(folder / "cpu.stat") for folder in (own, *own.parents) if folder == base or base in folder.parents
            ]
    return found


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


def line(at: float, elapsed: float, old: Counters, new: Counters, available: float) -> str:
    """Format one line of the CSV from two readings `elapsed` seconds apart."""
    since = {name: new[name] - old.get(name, new[name]) for name in new}
    ticks = max(sum(since[name] for name in ("user", "system", "iowait", "steal", "idle")), 1.0)
    busy = max((since[name] for name in since if name.startswith("busy ")), default=0.0)
    shares = [since[name] / ticks for name in ("user", "system", "iowait", "steal", "idle")]
    waited = f"{since['pressure'] / elapsed / 1e6:.4f}" if "pressure" in since else ""
    sizes = [available, since["read"], since["written"], since["received"], since["sent"]]
    memory, read, written, received, sent = (f"{size:.0f}" for size in sizes)
    figures = [f"{at:.3f}", *(f"{share:.4f}" for share in shares), waited, memory]
    # A little below 0 now and then: the two are counted in ticks, each by itself. Their mean is right.
    # More than all programs took together: figures of an ended process were lost, so this second is not known.
    is_possible = since.get("others", 0.0) <= since["user"] + since["system"] + 1
    others = f"{since['others'] / ticks:.4f}" if "others" in since and is_possible else ""
    periods = {name.split()[1]: count for name, count in since.items() if name.startswith("periods ") and count}
    shares = [since[f"throttled {group}"] / count for group, count in periods.items()]
    throttled = f"{max(shares):.4f}" if shares else ""
    busiest = f"{min(busy / elapsed / 1e3, 1):.4f}"
    return ",".join([*figures, read, written, busiest, received, sent, others, throttled, top(old, new, ticks)])


def top(old: Counters, new: Counters, ticks: float) -> str:
    """Return the other programs that took most between two readings, as `name(pid)=share;…`."""
    taken = {name: (new[name] - old[name]) / ticks for name in new if name.endswith(")") and name in old}
    most = sorted(taken, key=lambda name: taken[name], reverse=True)[:_MOST_NAMED]
    return ";".join(f"{name}={taken[name]:.4f}" for name in most if taken[name] > 0)


def _real_disks() -> list[str]:
    return [disk.name for disk in Path("/sys/block").iterdir() if not disk.name.startswith(_VIRTUAL_DISKS)]


def _counters(names: "list[str]", others: OtherPrograms, groups: "list[str]", old: Counters) -> Counters:
    stat = _text("/proc/stat")
    activity, taken = cpu(stat), others.ticks(stat)
    since = sum(activity.values()) - sum(old.get(name, 0.0) for name in activity)
    is_much = not old or taken.get("others", 0.0) - old.get("others", 0.0) >= _NAMED * since
    return {
        **activity,
        **taken,
        **(others.each() if taken and is_much else {}),
        **throttling(map(_text, groups)),
        **pressure(_text("/proc/pressure/cpu")),
        **disks(_text("/proc/diskstats"), names),
        **network(_text("/proc/net/dev")),
    }


def samples(sleep: Callable[[float], None] = time.sleep, environments: Sequence[str] = ()) -> Iterator[str]:
    """Yield lines without end, one at every whole second."""
    names, others, groups = _real_disks(), OtherPrograms(_tag(), environments), _groups()
    sleep(_until_next())
    since, old = time.monotonic(), _counters(names, others, groups, {})
    while True:
        sleep(_until_next())
        now, new = time.monotonic(), _counters(names, others, groups, old)
        yield line(time.time(), now - since, old, new, memory_available(_text("/proc/meminfo")))
        since, old = now, new


def _tag() -> bytes:
    return f"{TAG}={cluster}".encode() if (cluster := os.environ.get(TAG)) else b""


def _groups() -> "list[str]":
    return cpu_groups(_text("/proc/self/cgroup"))


def _until_next() -> float:
    return PERIOD_S - time.time() % PERIOD_S


def look(seconds: float, environments: Sequence[str] = (), tag: bytes = b"") -> str:
    """Return one line that covers the next seconds. Without a tag every program counts as another program."""
    names, others, groups = _real_disks(), OtherPrograms(tag or _NOBODY, environments), _groups()
    since, old = time.monotonic(), _counters(names, others, groups, {})
    time.sleep(seconds)
    new, now = _counters(names, others, groups, {}), time.monotonic()
    return line(time.time(), now - since, old, new, memory_available(_text("/proc/meminfo")))


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


if __name__ == "__main__":
    main(*sys.argv[1:])
