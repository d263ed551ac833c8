"""What the sampler tells of real programs, beside the kernel's clock of each, and of a real control group's quota."""

import csv
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.busy import bursts, processor_s

from plimsoll.adapters.hosts.sampler.counters import TICKS
from plimsoll.adapters.hosts.sampler.programs import CpuTaken, Programs
from plimsoll.adapters.hosts.sampler.sample import COLUMNS, Readings

CLUSTER = "campaign/known-shares/1"
DATABASE = (20, 0.000_05, 0.005)
"""Many threads that each work for a moment, most of which the clock's ticks miss."""
OTHERS = ((1, 0.001, 0.019), (1, 0.003, 0.007), (1, 0.0003, 0.0005))
_A_FEW = 4 / TICKS
"""What a running process took since the scheduler last counted, and what rounding takes away, s."""


@pytest.fixture
def programs() -> Programs:
    found = Programs(f"PLIMSOLL_CLUSTER={CLUSTER}".encode())
    assert found.look() is None
    return found


@pytest.fixture
def running() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def look(programs: Programs) -> CpuTaken:
    taken = programs.look()
    assert taken is not None
    return taken


def test_own_and_other_programs_took_what_their_own_clocks_tell(programs: Programs, running: ExitStack) -> None:
    database = running.enter_context(bursts(*DATABASE, env={"PLIMSOLL_CLUSTER": CLUSTER}))
    others = [running.enter_context(bursts(*one)) for one in OTHERS]
    before = {pid: processor_s(pid) for pid in (database, *others)}
    look(programs)
    began = {pid: processor_s(pid) for pid in before}
    while min(processor_s(pid) - began[pid] for pid in began) < 0.1:
        time.sleep(0.1)
    ended = {pid: processor_s(pid) for pid in before}
    taken = look(programs)
    after = {pid: processor_s(pid) for pid in before}

    told = {int(name.rpartition("(")[2].strip(")")): ticks / TICKS for name, ticks in taken.others.items()}
    told[database] = taken.own / TICKS
    for pid, first in before.items():
        least, most = ended[pid] - began[pid] - _A_FEW, after[pid] - first + _A_FEW
        assert least <= told[pid] <= most, f"{told[pid]:.2f} s of {pid} are not between {least:.2f} and {most:.2f} s"


def test_what_lived_for_a_moment_is_told_of_whoever_waited_for_it(programs: Programs) -> None:
    work = "import time\nwhile time.process_time() < 0.05: pass"
    shell = f"""
import os, subprocess, sys
for _ in range(5):
    subprocess.run([sys.executable, "-I", "-S", "-c", {work!r}], check=True)
print(sum(os.times()[:4]), flush=True)
sys.stdin.read()
"""
    argv = (sys.executable, "-I", "-S", "-c", shell)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        took_s = float(parent.stdout.readline())
        taken = look(programs)
        parent.kill()
    (told,) = (ticks / TICKS for name, ticks in taken.others.items() if name.endswith(f"({parent.pid})"))
    assert took_s > 0.15
    # Other programs of the machine end meanwhile, whose time may be taken for that of these.
    assert 0 < told <= took_s + _A_FEW


@pytest.fixture
def limited() -> Iterator[Path]:
    """Provide a control group whose processes get a tenth of one processor."""
    first, name = Path("/sys/fs/cgroup/cpu"), f"plimsoll-test-{os.getpid()}"
    folder = first / name if first.exists() else Path("/sys/fs/cgroup", name)
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        if first.exists():
            (folder / "cpu.cfs_quota_us").write_text("10000")
        elif (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text("10000 100000")
        else:
            pytest.skip("control groups have no CPU controller here")
        yield folder
    finally:
        folder.rmdir()


def test_a_quota_of_a_group_of_the_cell_s_processes_is_told_with_its_name(limited: Path) -> None:
    with bursts(1, 1.0, 0.0, env={"PLIMSOLL_CLUSTER": CLUSTER}) as database:
        (limited / "cgroup.procs").write_text(str(database))
        before = (limited / "cpu.stat").read_text()
        while (limited / "cpu.stat").read_text() == before:  # a group counts from its first period on
            time.sleep(0.1)
        readings = Readings(f"PLIMSOLL_CLUSTER={CLUSTER}".encode(), ())
        time.sleep(1)
        figures = next(csv.DictReader([",".join(COLUMNS), readings.line()]))
    assert figures["throttled_group"] == f"/{limited.name}"
    assert float(figures["cpu_throttled"]) > 0.05
    assert float(figures["throttled_ms"]) > 0
