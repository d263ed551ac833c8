"""Whose programs take a host's processors. Part of the sampler: Python 3.9, its standard library only."""

import os
from collections.abc import Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple

from plimsoll.adapters.hosts.sampler.counters import MARK, ODD, TICKS, USER, Counters, listening, uid_of

_ENVIRONMENT_TAG = "PLIMSOLL_ENVIRONMENT"
"""The variable that every process of an attempt on kept hosts has beside the cluster's."""
_NAMED = 0.02
"""Share of all processors' time from which on other programs are named."""
_MOST_NAMED = 3
_ERROR = 0.05
"""Share of all processors' time up to which figures that are read one after the other may contradict each other."""
_FORGET = 60  # looks after which the kernel's threads are asked again: a process id may be another's by then
_YOUNG = 3  # looks at which a new process is asked: between fork and exec it has its parent's environment
_MOST_BYTES = 1 << 17


class Process(NamedTuple):
    """A process at one look. Its start tells it from another one that has its process id later."""

    start: str
    name: str
    kind: str  # `own`, `other` or `kernel`
    own_ticks: float
    ended_ticks: float  # of children that it has waited for, and of theirs


class CpuTaken(NamedTuple):
    """Processor time between two looks, in ticks: of the attempt's own processes, and of others by name."""

    own: float
    others: "dict[str, float]"


class Programs:
    """Processor time of all processes that can be seen, by whether they are the attempt's own.

    Both sides are the scheduler's own figures of each process, with its ended threads. The clock's ticks, by which
    `/proc/stat` counts work, miss most of what runs in short bursts. A process that ended counts in the figures of
    whoever waited for it. One of which nobody knew, and for which nobody waits, is lost.
    `tag`: an entry in the environment of the cluster's processes, as `NAME=value`. If there are `environments`, only
    the cluster's processes in one of these are the attempt's. One that begins with `@` is a place where somebody else's
    database listens: who listens there is the attempt's too, with all processes that it has started. So are all of a
    user who stands there as `~NAME`.
    """

    def __init__(self, tag: bytes, environments: Sequence[str] = (), proc: Path = Path("/proc")) -> None:
        self._tag, self._proc = tag, str(proc)
        self._environments = {
            f"{_ENVIRONMENT_TAG}={name}".encode() for name in environments if name[:1] not in (MARK, USER)
        }
        self._databases = [name for name in environments if name[:1] == MARK]
        self._users = {uid_of(name[1:]) for name in environments if name[:1] == USER}
        self._users_seen = set[str]()
        self._listening: set[str] = set()
        self._seen: dict[str, Process] = {}
        self._young: dict[str, int] = {}
        self._looks = 0
        self._awaited = {"own": 0.0, "other": 0.0}
        # Whoever sees the kernel's threads is in no container, and sees every process.
        self.sees_all = _bytes(f"{proc}/2/stat").startswith(b"2 (kthreadd) ")

    def own(self) -> "list[str]":
        """Return process ids of the attempt's own processes at the last look."""
        return [pid for pid, process in self._seen.items() if process.kind == "own"]

    def look(self) -> "CpuTaken | None":
        """Return what was taken since the last look. None at the first, where there is no tag, and while no process of
        the users is seen as whom a database runs.
        """
        present = {name for name in os.listdir(self._proc) if name.isdigit()}  # noqa: PTH208 - a path each costs more
        before, self._seen = self._seen, {}
        # This reads what every process has open, so it is done only once a minute
        if self._databases and not self._looks % _FORGET:
            self._listening = {pid for database in self._databases for pid in listening(database, self._proc)[1]}
        for pid in sorted(present, key=int):  # parents first
            if process := self._process(pid, before.get(pid)):
                self._seen[pid] = process
        self._young = {pid: left - 1 for pid, left in self._young.items() if pid in self._seen and left > 1}
        self._looks += 1
        is_hidden = bool(self._users) and not self._users_seen
        return self._taken(before) if self._looks > 1 and self._tag and not is_hidden else None

    def _process(self, pid: str, known: "Process | None") -> "Process | None":
        if known and known.kind == "kernel" and self._looks % _FORGET:
            return known  # their figures are of no use, and there are many
        name, _, rest = _bytes(f"{self._proc}/{pid}/stat").decode("ascii", "replace").partition("(")[2].rpartition(")")
        fields = rest.split()
        if len(fields) < 20:
            return None
        start = fields[19]
        if fields[1] in self._listening:  # such as PostgreSQL's, which serve a client each and listen nowhere
            self._listening.add(pid)
        if known is None or known.start != start:
            self._young[pid], known = _YOUNG, None
        asked_again = pid in self._young or pid in self._listening
        kind = known.kind if known and not asked_again else self._kind(pid, fields[1], known)
        # Of the process, and of its ended children
        user, system, of_children, system_of_children = map(float, fields[11:15])
        named = f"{ODD.sub('?', name)}({pid})"
        return Process(start, named, kind, user + system, of_children + system_of_children)

    def _kind(self, pid: str, parent: str, known: "Process | None") -> str:
        # All threads of the kernel are children of process 2. In a container 2 may be any process.
        if self.sees_all and "2" in (pid, parent):
            return "kernel"
        if pid in self._listening or (self._users and self._is_users(pid)):
            return "own"
        variables = set(_bytes(f"{self._proc}/{pid}/environ").split(b"\0"))
        if self._tag in variables and (not self._environments or self._environments & variables):
            return "own"
        if variables == {b""} and (kin := known or self._seen.get(parent)):  # one that has ended tells no variables
            return kin.kind
        return "other"

    def _is_users(self, pid: str) -> bool:
        """Tell whether it runs as one of these users; its folder may belong to root all the same."""
        _, _, ids = _bytes(f"{self._proc}/{pid}/status").partition(b"\nUid:")
        own = self._users & {ids.split()[1].decode("ascii", "replace")} if ids else set()
        self._users_seen |= own
        return bool(own)

    def _taken(self, before: "Mapping[str, Process]") -> CpuTaken:
        worked: dict[str, dict[str, float]] = {"own": {}, "other": {}}
        gained: dict[str, dict[str, float]] = {"own": {}, "other": {}}
        gone = {"own": 0.0, "other": 0.0}
        for pid, now in self._seen.items():
            old = before[pid] if _lives(pid, before, self._seen) else now._replace(own_ticks=0.0, ended_ticks=0.0)
            if now.kind in worked:
                worked[now.kind][now.name] = now.own_ticks - old.own_ticks
                gained[now.kind][now.name] = now.ended_ticks - old.ended_ticks
        for pid, old in before.items():
            if old.kind in gone and not _lives(pid, before, self._seen):
                gone[old.kind] += old.own_ticks + old.ended_ticks
        new = self._beyond_known({kind: sum(gains.values()) for kind, gains in gained.items()}, gone)
        of_all = sum(gained["other"].values())
        others = {
            name: ticks + gained["other"][name] * new["other"] / (of_all or 1)
            for name, ticks in worked["other"].items()
        }
        return CpuTaken(sum(worked["own"].values()) + new["own"], others)

    def _beyond_known(self, gained: Counters, gone: Counters) -> Counters:
        """Return the part of what processes gained by waiting for ended ones that was not known of these before.

        Another program may have waited for an own process, as the machine's first one does. Figures are read one after
        the other, so a gain may be seen at the look after that at which a process is gone.
        """
        due = {kind: gone[kind] + self._awaited[kind] for kind in gone}
        # Time of ended own processes that no own process gained: another program has waited for them, or will
        elsewhere = max(due["own"] - gained["own"], 0.0)
        by_others = gained["other"] - due["other"]
        # What nobody waits for is due at one more look only: else it would hide work of others later on
        self._awaited = {
            "own": min(gone["own"], max(elsewhere - max(by_others, 0.0), 0.0)),
            "other": min(gone["other"], max(-by_others, 0.0)),
        }
        return {"own": max(gained["own"] - due["own"], 0.0), "other": max(by_others - elsewhere, 0.0)}


def _lives(pid: str, before: "Mapping[str, Process]", after: "Mapping[str, Process]") -> bool:
    """Tell whether it is the same process at both looks."""
    return pid in before and pid in after and before[pid].start == after[pid].start


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


class Others(NamedTuple):
    """What programs took that are none of the attempt's: a share of all processors' time, and who took most of it."""

    share: float
    most: str


def others(
    elapsed: float, old: Counters, new: Counters, taken: "CpuTaken | None", *, sees_all: bool
) -> "Others | None":
    """Return what other programs took between two readings; None where it is not known.

    Whoever can't see every process, such as in a container, takes what the attempt's own took from all time that was
    not idle, which is measured too. The kernel's own work is then among it.
    """
    whole = elapsed * new["processors"] * TICKS
    since = {name: new[name] - old[name] for name in ("user", "system", "interrupts", "iowait", "steal", "idle")}
    if taken is None or not any(since.values()):  # some sandboxes count nothing at all
        return None
    rest = whole - sum(since[name] for name in ("idle", "iowait", "steal", "interrupts")) - taken.own
    share = (sum(taken.others.values()) if sees_all else rest) / whole
    if not -_ERROR <= share <= 1 + _ERROR:
        return None
    share = min(max(share, 0.0), 1.0)
    most = nlargest(_MOST_NAMED if share >= _NAMED else 0, taken.others, key=lambda name: taken.others[name])
    named = ((name, taken.others[name] / whole) for name in most)
    # A smaller share would be printed as 0.0000
    return Others(share, ";".join(f"{name}={part:.4f}" for name, part in named if part >= 0.00005))
