import ast
import csv
import shutil
import sys
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.hosts.sampler import ProcSampler, sample
from plimsoll.domain.cluster import HostInfo

STAT = "cpu  {user} 10 30 {idle} 5 1 2 {steal} 50 0\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1 2\n"
DISKSTATS = (
    "   7       0 loop0 9 9 999 9 9 9 999 9 9 999 9 0 0 0 0\n"
    " 253       0 vda 10 0 {read} 1 20 0 {written} 1 0 {busy} 1 0 0 0 0\n"
    " 253       1 vda1 10 0 2000 1 20 0 4000 1 0 700 1 0 0 0 0\n"
)
DEV = (
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls\n"
    "    lo: 5000 1 0 0 0 0 0 0 5000 1 0 0 0 0 0 0\n"
    "  eth0:{received} 1 0 0 0 0 0 0 {sent} 1 0 0 0 0 0 0\n"
)


def counters(
    *,
    user: int = 100,
    idle: int = 800,
    steal: int = 7,
    read: int = 2000,
    written: int = 4000,
    busy: int = 700,
    received: int = 10,
    sent: int = 20,
    waited: int = 1_000_000,
) -> dict[Any, Any]:
    return {
        **sample.cpu(STAT.format(user=user, idle=idle, steal=steal)),
        **sample.pressure(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={waited}\nfull avg10=0.00 total=9\n"),
        **sample.disks(DISKSTATS.format(read=read, written=written, busy=busy), ["vda"]),
        **sample.network(DEV.format(received=received, sent=sent)),
    }


def row(text: Any) -> Any:
    return next(csv.DictReader([",".join(sample.COLUMNS), text]))


def test_a_line_tells_shares_and_bytes_since_the_line_before() -> None:
    old, new = (
        counters(),
        counters(
            user=160, idle=830, steal=17, read=2008, written=4016, busy=1200, received=110, sent=520, waited=1_250_000
        ),
    )
    figures = row(sample.line(1000.5, 1.0, old, new, 2048.0))
    assert figures["time_s"] == "1000.500"
    assert [float(figures[name]) for name in ("cpu_user", "cpu_idle", "cpu_steal")] == [0.6, 0.3, 0.1]
    assert float(figures["cpu_pressure"]) == 0.25
    assert (figures["disk_read_bytes"], figures["disk_written_bytes"]) == ("4096", "8192")
    assert float(figures["disk_busy"]) == 0.5
    assert (figures["net_received_bytes"], figures["net_sent_bytes"]) == ("100", "500")
    assert figures["memory_available_bytes"] == "2048"


def test_a_kernel_without_pressure_figures_leaves_the_column_empty() -> None:
    plain = {name: value for name, value in counters().items() if name != "pressure"}
    assert row(sample.line(1.0, 1.0, plain, plain, 0.0))["cpu_pressure"] == ""
    assert sample.pressure("") == {}


def test_a_disk_that_appears_counts_from_then_on() -> None:
    old = {name: value for name, value in counters().items() if name != "busy vda"}
    assert float(row(sample.line(1.0, 1.0, old, counters(), 0.0))["disk_busy"]) == 0.0


def test_available_memory_is_in_bytes() -> None:
    assert sample.memory_available("MemTotal: 9 kB\nMemAvailable:  3 kB\n") == 3072


class Machine:
    """A `/proc` of a few processes: `add` or `work` them, `end` them, and look."""

    def __init__(self, folder: Path, *environments: str) -> None:
        self.folder = folder
        self.others = sample.OtherPrograms(b"PLIMSOLL_CLUSTER=c/g1/1", environments, folder)

    def add(self, pid: int, environ: bytes = b"", *, parent: int = 1, ticks: int = 0, of_children: int = 0) -> None:
        (self.folder / str(pid)).mkdir(exist_ok=True)
        (self.folder / str(pid) / "environ").write_bytes(environ)
        figures = f"{ticks} 0 {of_children} 0"
        line = f"{pid} (a) name) S {parent} 1 1 0 -1 0 0 0 0 0 {figures} 20 0 1 0 7 0"
        (self.folder / str(pid) / "stat").write_text(line)

    def end(self, pid: int) -> None:
        shutil.rmtree(self.folder / str(pid))

    def look(self, taken: int) -> float:
        """Return ticks of other programs, when all processes have taken so many."""
        return self.others.ticks(f"cpu {taken} 0 0 0 0 0 0 0\n")["others"]


OWN = b"PATH=/bin\0PLIMSOLL_CLUSTER=c/g1/1\0"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_programs_without_the_clusters_mark_are_others(machine: Machine) -> None:
    machine.add(10, OWN, ticks=100)
    machine.add(11, b"PLIMSOLL_CLUSTER=c/g1/10\0", ticks=50)
    first = machine.look(1000)
    machine.add(10, OWN, ticks=160)
    assert machine.look(1100) - first == 40


def test_on_kept_hosts_what_another_attempt_left_running_is_others(tmp_path: Path) -> None:
    """A ramp's database is in the environment of the attempt that populated; both environments are told."""
    machine = Machine(tmp_path, "v1-001k-r1-1-data", "v1-002k-r1-1")
    data, own, other = (
        OWN + b"PLIMSOLL_ENVIRONMENT=%b\0" % name for name in (b"v1-001k-r1-1-data", b"v1-002k-r1-1", b"v1-002k-r1-10")
    )
    elsewhere = own.replace(b"c/g1/1", b"d/g1/1")
    for pid, environ in enumerate((data, own, other, elsewhere), start=10):
        machine.add(pid, environ, ticks=100)
    first = machine.look(1000)
    for pid, (environ, ticks) in enumerate(((data, 110), (own, 120), (other, 104), (elsewhere, 103)), start=10):
        machine.add(pid, environ, ticks=ticks)
    assert machine.look(1037) - first == 7


def test_kernel_threads_are_nobodys_programs(machine: Machine) -> None:
    machine.add(2, ticks=5)
    machine.add(20, parent=2, ticks=10)
    first = machine.look(1000)
    machine.add(20, parent=2, ticks=40)
    assert machine.look(1030) - first == 0


def test_an_own_process_that_ended_counts_in_its_parents_figures_or_as_it_was(machine: Machine) -> None:
    machine.add(10, OWN, ticks=100)
    machine.add(12, OWN, parent=10, ticks=30)
    machine.add(13, OWN, parent=1, ticks=7)
    first = machine.look(1000)
    machine.end(12)
    machine.end(13)
    machine.add(10, OWN, ticks=100, of_children=35)
    assert machine.look(1005) - first == 0


def test_an_own_process_that_ended_together_with_its_parent_counts_as_it_was(machine: Machine) -> None:
    machine.add(10, OWN, ticks=100)
    machine.add(12, OWN, parent=10, ticks=30)
    machine.add(13, OWN, parent=12, ticks=500)
    machine.add(20, OWN, parent=1, ticks=4)
    machine.add(21, OWN, parent=20, ticks=540)
    first = machine.look(2000)
    for ended in (12, 13, 20, 21):
        machine.end(ended)
    machine.add(10, OWN, ticks=100, of_children=530)
    assert machine.look(2010) - first == 10


def test_a_new_process_is_asked_again_for_it_may_not_have_begun_its_program(machine: Machine) -> None:
    machine.add(10, b"PATH=/bin\0")
    machine.look(0)
    machine.add(10, OWN, ticks=0)
    first = machine.look(1000)
    machine.add(10, OWN, ticks=50)
    assert machine.look(1050) - first == 0


def test_a_process_id_that_became_anothers_is_found_out(machine: Machine) -> None:
    machine.add(10, b"")
    for _ in range(10):
        machine.look(0)
    machine.add(10, OWN)
    for _ in range(60):
        first = machine.look(1000)
    machine.add(10, OWN, ticks=50)
    assert machine.look(1050) - first == 0


def test_without_a_mark_or_processes_nothing_is_known(tmp_path: Path) -> None:
    assert sample.OtherPrograms(b"", (), tmp_path).ticks("cpu 1 1 1 1 1 1 1 1\n") == {}
    assert sample.OtherPrograms(b"A=b", (), tmp_path).ticks("") == {}
    assert row(sample.line(1.0, 1.0, counters(), counters(), 0.0))["cpu_others"] == ""


def test_a_line_tells_what_other_programs_took() -> None:
    old, new = {**counters(), "others": 40.0}, {**counters(user=160, idle=840), "others": 65.0}
    assert row(sample.line(1.0, 1.0, old, new, 0.0))["cpu_others"] == "0.2500"
    more_than_all = {**new, "others": 140.0}
    assert row(sample.line(1.0, 1.0, old, more_than_all, 0.0))["cpu_others"] == ""


def test_other_programs_are_named_with_what_each_took_of_all_processors(machine: Machine) -> None:
    for pid, environ in ((10, OWN), (11, b""), (12, b""), (2, b"")):
        machine.add(pid, environ, ticks=100)
    machine.look(1000)
    old = machine.others.each()
    machine.add(11, ticks=150, of_children=900)
    machine.add(12, ticks=110)
    new = machine.others.each()
    assert sample.top(old, new, 100.0) == "a??name(11)=0.5000;a??name(12)=0.1000"


def test_a_program_s_name_can_t_break_the_line(machine: Machine) -> None:
    machine.add(11)
    (machine.folder / "11" / "stat").write_text("11 (x,y;z=\n\xff1) S" + " 1" * 20)
    machine.look(0)
    assert list(machine.others.each()) == ["x?y?z????1(11)"]


def test_a_used_up_quota_is_told_as_a_share_of_periods() -> None:
    stats = [
        "nr_periods {}\nnr_throttled {}\nthrottled_usec 9\n",
        "usage_usec 4\n",
        "",
        "nr_periods 0\nnr_throttled 0\n",
    ]
    old, new = (
        {**counters(), **sample.throttling([stats[0].format(*counts), *stats[1:]])} for counts in ((100, 4), (110, 9))
    )
    assert row(sample.line(1.0, 1.0, old, new, 0.0))["cpu_throttled"] == "0.5000"
    assert row(sample.line(1.0, 1.0, counters(), counters(), 0.0))["cpu_throttled"] == ""
    assert sample.throttling(stats[1:]) == {}


def test_the_quota_of_every_control_group_above_counts() -> None:
    assert sample.cpu_groups("0::/a/b\n", root="/r") == ["/r/a/b/cpu.stat", "/r/a/cpu.stat", "/r/cpu.stat"]
    first = "3:cpuset:/x\n2:cpu,cpuacct:/docker/1\n1:memory:/y\n"
    assert sample.cpu_groups(first, root="/r") == [
        "/r/cpu/docker/1/cpu.stat",
        "/r/cpu/docker/cpu.stat",
        "/r/cpu/cpu.stat",
    ]
    assert sample.cpu_groups("", root="/r") == []


def test_the_first_line_covers_a_whole_second() -> None:
    naps: list[float] = []
    lines = sample.samples(naps.append)
    figures = row(next(lines))
    assert len(naps) == 2
    assert all(0 < nap <= sample.PERIOD_S for nap in naps)
    assert float(figures["memory_available_bytes"]) > 0


def test_the_script_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(sample.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


@pytest.fixture
def host(tmp_path: Path) -> FolderHost:
    return FolderHost(tmp_path / "load", HostInfo(name="load", role="load", address="127.9.9.1"))


def test_the_script_is_told_where_somebody_elses_database_is(host: FolderHost) -> None:
    ProcSampler().start(host, timedelta(hours=1), database=("9042", "db1", "10.0.0.2"))
    argv = host.read_tail(PurePosixPath("jobs/sampler"), max_bytes=10_000).split()
    assert argv[5:] == ["@9042,db1,10.0.0.2"]


def test_the_script_is_told_which_environments_are_the_attempts(host: FolderHost) -> None:
    ProcSampler().start(host, timedelta(hours=1), frozenset({"v1-002k-r1-1", "v1-001k-r1-1"}))
    argv = host.read_tail(PurePosixPath("jobs/sampler"), max_bytes=10_000).split()
    assert argv[5:] == ["v1-001k-r1-1", "v1-002k-r1-1"]


def test_the_sampler_is_a_job_of_its_own_with_a_script_on_the_host(host: FolderHost) -> None:
    sampler = ProcSampler()
    sampler.start(host, timedelta(hours=1))
    sampler.start(host, timedelta(hours=1))
    argv = host.read_tail(PurePosixPath("jobs/sampler"), max_bytes=10_000).split()
    assert argv[:3] == ["python3", "-I", "-S"]
    assert host.read_tail(PurePosixPath(argv[3]), max_bytes=100_000) == Path(sample.__file__).read_text()
    assert sampler.files(host) == []
    host.write(PurePosixPath(argv[4]), "time_s\n")
    assert [path.name for path in sampler.files(host)] == ["host.csv"]
