"""Whose programs took processor time, on a `/proc` of a few processes."""

import shutil
from pathlib import Path

import pytest

from plimsoll.adapters.hosts.sampler import programs
from plimsoll.adapters.hosts.sampler.counters import TICKS, cpu

OWN = b"PATH=/bin\0PLIMSOLL_CLUSTER=c/g1/1\0"
OTHER = b"PATH=/bin\0"


class Machine:
    """`add` or `work` processes, `end` them, and look."""

    def __init__(self, folder: Path, *environments: str, is_container: bool = False) -> None:
        self.folder = folder
        if not is_container:
            self.add(2, b"", parent=0, name="kthreadd")
        self.programs = programs.Programs(b"PLIMSOLL_CLUSTER=c/g1/1", environments, folder)

    def add(
        self, pid: int, environ: bytes = OTHER, *, parent: int = 1, ticks: int = 0, of_ended: int = 0, **further: str
    ) -> None:
        (self.folder / str(pid)).mkdir(parents=True, exist_ok=True)
        (self.folder / str(pid) / "environ").write_bytes(environ)
        figures = f"{ticks} 0 {of_ended} 0 20 0 1 0 {further.get('start', 7)} 0"
        line = f"{pid} ({further.get('name', 'a) name')}) S {parent} 1 1 0 -1 0 0 0 0 0 {figures}"
        (self.folder / str(pid) / "stat").write_text(line)

    def end(self, *pids: int) -> None:
        for pid in pids:
            shutil.rmtree(self.folder / str(pid))

    def look(self) -> programs.CpuTaken:
        taken = self.programs.look()
        assert taken is not None
        return taken

    def others(self) -> float:
        return sum(self.look().others.values())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_programs_without_the_clusters_mark_are_others(machine: Machine) -> None:
    machine.add(10, OWN, ticks=100)
    machine.add(11, b"PLIMSOLL_CLUSTER=c/g1/10\0", ticks=50)
    assert machine.programs.look() is None
    machine.add(10, OWN, ticks=160)
    machine.add(11, b"PLIMSOLL_CLUSTER=c/g1/10\0", ticks=90)
    assert machine.look() == (60.0, {"a??name(11)": 40.0})
    assert machine.programs.own() == ["10"]


def test_on_kept_hosts_what_another_attempt_left_running_is_others(tmp_path: Path) -> None:
    """A ramp's database is in the environment of the attempt that populated; both environments are told."""
    machine = Machine(tmp_path, "v1-001k-r1-1-data", "v1-002k-r1-1")
    data, own, other = (
        OWN + b"PLIMSOLL_ENVIRONMENT=%b\0" % name for name in (b"v1-001k-r1-1-data", b"v1-002k-r1-1", b"v1-002k-r1-10")
    )
    elsewhere = own.replace(b"c/g1/1", b"d/g1/1")
    for pid, environ in enumerate((data, own, other, elsewhere), start=10):
        machine.add(pid, environ, ticks=100)
    machine.programs.look()
    for pid, (environ, ticks) in enumerate(((data, 110), (own, 120), (other, 104), (elsewhere, 103)), start=10):
        machine.add(pid, environ, ticks=ticks)
    taken = machine.look()
    assert (taken.own, sum(taken.others.values())) == (30, 7)


def test_kernel_threads_are_nobodys_programs(machine: Machine) -> None:
    machine.add(20, b"", parent=2, ticks=10)
    machine.programs.look()
    machine.add(20, b"", parent=2, ticks=40)
    assert machine.look() == (0.0, {})


def test_an_own_process_that_ended_is_no_other_program_whoever_waited_for_it(machine: Machine) -> None:
    """The supervisor of a job is waited for by the machine's first process, with all that its job took."""
    machine.add(1, of_ended=5)
    machine.add(10, OWN, ticks=1, of_ended=100)
    machine.add(12, OWN, parent=10, ticks=9000)
    machine.programs.look()
    machine.end(12)
    machine.add(10, OWN, ticks=1, of_ended=9107)
    assert machine.look() == (7.0, {"a??name(1)": 0.0})
    machine.end(10)
    machine.add(1, of_ended=5 + 9108)
    assert machine.others() == 0
    machine.add(1, of_ended=5 + 9108 + 12)
    assert machine.others() == 12


def test_processes_that_ended_together_are_no_other_programs(machine: Machine) -> None:
    machine.add(1)
    machine.add(10, OWN, of_ended=100)
    machine.add(12, OWN, parent=10, ticks=500)
    machine.programs.look()
    machine.end(10, 12)
    machine.add(1, of_ended=610)
    assert machine.others() == 10


def test_a_gain_that_is_seen_one_look_later_is_no_work(machine: Machine) -> None:
    machine.add(1)
    machine.add(10, OWN, ticks=4000)
    machine.add(11, ticks=70)
    machine.programs.look()
    machine.end(10, 11)
    assert machine.others() == 0
    machine.add(1, of_ended=4075)
    assert machine.others() == 5


def test_one_that_nobody_waits_for_hides_no_more_than_a_look(machine: Machine) -> None:
    machine.add(1)
    machine.add(10, OWN, ticks=4000)
    machine.programs.look()
    machine.end(10)
    for _ in range(2):
        machine.look()
    machine.add(1, of_ended=30)
    assert machine.others() == 30


def test_programs_that_live_for_less_than_a_look_count_at_whoever_waits_for_them(machine: Machine) -> None:
    machine.add(11, name="make", ticks=2)
    machine.programs.look()
    machine.add(11, name="make", ticks=3, of_ended=60)
    assert machine.look().others == {"make(11)": 61.0}


def test_a_new_process_is_asked_again_for_it_may_not_have_begun_its_program(machine: Machine) -> None:
    machine.add(10)
    machine.programs.look()
    machine.add(10, OWN, ticks=50)
    assert machine.look() == (50.0, {})


def test_a_process_id_that_became_anothers_is_found_out(machine: Machine) -> None:
    machine.add(10, ticks=100)
    for _ in range(10):
        machine.programs.look()
    machine.add(10, OWN, ticks=7, start="8")
    assert machine.look() == (7.0, {})


def test_an_ended_process_that_nobody_waited_for_yet_is_whose_it_was(machine: Machine) -> None:
    machine.add(10, OWN)
    machine.add(11, OWN, parent=10, ticks=5)
    machine.programs.look()
    machine.add(11, b"", parent=10, ticks=9)
    machine.add(12, b"", parent=10, ticks=3)
    assert machine.look() == (7.0, {})


def test_without_a_mark_nothing_is_known(tmp_path: Path) -> None:
    nobody = programs.Programs(b"", (), tmp_path)
    assert [nobody.look(), nobody.look()] == [None, None]


def test_a_program_s_name_can_t_break_the_line(machine: Machine) -> None:
    machine.programs.look()
    machine.add(11, name="x,y;z=\n\xff1")
    assert list(machine.look().others) == ["x?y?z????1(11)"]


def counters(**ticks: float) -> dict[str, float]:
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    figures = " ".join(str(ticks.get(name, 0)) for name in names)
    return cpu(f"cpu  {figures} 0 0\ncpu0 0\ncpu1 0\nintr 1\n")


SECOND = 2 * TICKS
"""Of two processors."""


def share(taken: programs.CpuTaken | None, *, sees_all: bool = True, **ticks: float) -> float | None:
    found = programs.others(1.0, counters(), counters(**ticks), taken, sees_all=sees_all)
    return found and found.share


def test_what_others_took_is_a_share_of_all_processors_time_whatever_the_clock_counted() -> None:
    taken = programs.CpuTaken(0.5 * SECOND, {"yes(7)": 0.2 * SECOND, "sh(9)": 0.01 * SECOND})
    found = programs.others(1.0, counters(), counters(user=1, idle=20), taken, sees_all=True)
    assert found == (pytest.approx(0.21), "yes(7)=0.2000;sh(9)=0.0100")
    assert share(None, idle=20) is None


def test_little_is_not_named() -> None:
    few = programs.others(
        1.0, counters(), counters(idle=1), programs.CpuTaken(0, {"a(1)": 0.019 * SECOND}), sees_all=True
    )
    assert few == (pytest.approx(0.019), "")


def test_a_container_sees_only_its_own_so_the_rest_of_what_is_not_idle_is_others() -> None:
    taken = programs.CpuTaken(0.5 * SECOND, {"sh(9)": 0.01 * SECOND})
    seen = share(
        taken, sees_all=False, user=1, idle=0.2 * SECOND, iowait=0.1 * SECOND, steal=0.02 * SECOND, irq=0.01 * SECOND
    )
    assert seen == pytest.approx(0.17)


def test_figures_that_contradict_each_other_are_not_known() -> None:
    """A clock that counts idle time by its ticks too makes work of short bursts disappear."""
    own = programs.CpuTaken(0.5 * SECOND, {})
    assert share(own, sees_all=False, idle=0.52 * SECOND) == 0
    assert share(own, sees_all=False, idle=0.6 * SECOND) is None
    assert share(programs.CpuTaken(0, {"a(1)": 1.2 * SECOND}), idle=1) is None
    assert share(own, sees_all=False) is None, "a sandbox that counts nothing"


def test_a_container_is_told_by_the_kernels_threads(tmp_path: Path, machine: Machine) -> None:
    assert machine.programs.sees_all
    inside = Machine(tmp_path / "container", is_container=True)
    inside.add(2, name="sh")
    assert not programs.Programs(b"A=b", (), tmp_path / "container").sees_all
