"""A control group of a process' own, which counts the CPU time of all that the process starts.

The kernel counts whatever a group uses: also what was used by processes that were orphaned, and by those that have
ended.
"""

import os
import re
import time
from contextlib import suppress
from pathlib import Path

_ROOTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
"""Where groups of version 2 are: alone, or beside those of version 1."""
_NAME = "plimsoll-tests-"
"""The start of a group's name. The rest is the id of its process."""
_PATIENCE_S, _LOOK_S = 30.0, 0.2


class Meter:
    """Tells the CPU seconds that a group has used since it was last asked."""

    def __init__(self, group: Path) -> None:
        self._group, self._told_s = group, 0.0

    def new_s(self) -> float:
        """Return them, and begin again."""
        text = (self._group / "cpu.stat").read_text(encoding="ascii")
        now_s = int(re.search(r"^usage_usec (\d+)$", text, re.MULTILINE)[1]) / 1e6
        new_s, self._told_s = now_s - self._told_s, now_s
        return new_s


def join_new() -> Meter | None:
    """Put this process, and so all that it starts, into a new group. Returns None where there may be none."""
    try:
        group = _own_group() / f"{_NAME}{os.getpid()}"
        group.mkdir()
        _join(group)
    except OSError:
        return None
    return Meter(group)


def joined() -> list[Path]:
    """Return the group that `join_new` has put this process into, if it has."""
    group = _own_group()
    return [group] if group.name == f"{_NAME}{os.getpid()}" else []


def leave_and_remove(group: Path, undoing_s: float) -> None:
    """Take this process out of a group. When the one that the group was made for has ended, end the others and
    remove the group.

    A worker of pytest-xdist that has no more tests lives until all tests are over. The others may take `undoing_s` to
    end. Who has overwritten its environment, as Redis does, is known by its group alone.
    """
    _join(group.parent)
    while Path("/proc", group.name.removeprefix(_NAME)).exists():
        time.sleep(_LOOK_S)
    if not _removed(group, undoing_s):
        (group / "cgroup.kill").write_text("1")
        _removed(group, _PATIENCE_S)


def _removed(group: Path, patience_s: float) -> bool:
    deadline = time.monotonic() + patience_s
    while True:
        with suppress(OSError):  # something is left in it
            group.rmdir()
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_S)


def _own_group() -> Path:
    root = next((each for each in _ROOTS if (each / "cgroup.controllers").exists()), _ROOTS[0])
    groups = Path("/proc/self/cgroup").read_text(encoding="utf-8")
    return root / re.search(r"^0::/(.*)$", groups, re.MULTILINE)[1]


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))
