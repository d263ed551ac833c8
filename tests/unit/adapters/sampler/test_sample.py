import ast
import csv
import sys
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.hosts.sampler import ProcSampler, programs, sample
from plimsoll.adapters.hosts.sampler import counters as readings
from plimsoll.adapters.hosts.sampler.programs import Others
from plimsoll.domain.hosts.cluster import HostInfo

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
        "available": 2048.0,
        **readings.cpu(STAT.format(user=user, idle=idle, steal=steal)),
        **readings.pressure(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={waited}\nfull avg10=0.00 total=9\n"),
        **readings.disks(DISKSTATS.format(read=read, written=written, busy=busy), ["vda"]),
        **readings.network(DEV.format(received=received, sent=sent)),
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
    figures = row(sample.line(1000.5, 1.0, old, new, None))
    assert figures["time_s"] == "1000.500"
    assert [float(figures[name]) for name in ("cpu_user", "cpu_idle", "cpu_steal")] == [0.6, 0.3, 0.1]
    assert float(figures["cpu_pressure"]) == 0.25
    assert (figures["disk_read_bytes"], figures["disk_written_bytes"]) == ("4096", "8192")
    assert float(figures["disk_busy"]) == 0.5
    assert (figures["net_received_bytes"], figures["net_sent_bytes"]) == ("100", "500")
    assert figures["memory_available_bytes"] == "2048"


def test_a_kernel_without_pressure_figures_leaves_the_column_empty() -> None:
    plain = {name: value for name, value in counters().items() if name != "pressure"}
    assert row(sample.line(1.0, 1.0, plain, plain, None))["cpu_pressure"] == ""
    assert readings.pressure("") == {}


def test_a_disk_that_appears_counts_from_then_on() -> None:
    old = {name: value for name, value in counters().items() if name != "busy vda"}
    assert float(row(sample.line(1.0, 1.0, old, counters(), None))["disk_busy"]) == 0.0


def test_available_memory_is_in_bytes() -> None:
    assert readings.memory_available("MemTotal: 9 kB\nMemAvailable:  3 kB\n") == 3072


def test_a_used_up_quota_is_told_with_the_group_and_how_long_its_processes_waited() -> None:
    second = "nr_periods {}\nnr_throttled {}\nthrottled_usec {}\n"
    first = "nr_periods {}\nnr_throttled {}\nthrottled_time {}\n"
    none = {"/b": "usage_usec 4\n", "/c": "", "/d": "nr_periods 0\nnr_throttled 0\n"}
    old, new = (
        {**counters(), **readings.throttling({"/a, b": form.format(*figures), "/e": second.format(*more, 3), **none})}
        for form, figures, more in ((second, (100, 4, 9), (7, 7)), (second, (110, 9, 890_009), (17, 8)))
    )
    figures = row(sample.line(1.0, 1.0, old, new, None))
    assert (figures["cpu_throttled"], figures["throttled_ms"], figures["throttled_group"]) == ("0.5000", "890", "/a??b")
    assert readings.throttling({"/": first.format(2, 1, 5_000_000)})["waited /"] == 5
    assert readings.throttling(none) == {}


def test_a_quota_that_is_not_used_up_names_no_group() -> None:
    old, new = ({**counters(), "periods /": n, "throttled /": 1.0, "waited /": 2.0} for n in (1.0, 9.0))
    figures = row(sample.line(1.0, 1.0, old, new, None))
    assert [figures[name] for name in ("cpu_throttled", "throttled_ms", "throttled_group")] == ["0.0000", "0", ""]
    figures = row(sample.line(1.0, 1.0, counters(), counters(), None))
    assert [figures[name] for name in ("cpu_throttled", "throttled_ms", "throttled_group")] == ["", "", ""]


def test_the_quota_of_every_control_group_above_counts() -> None:
    second = {"/r/a/b/cpu.stat": "/a/b", "/r/a/cpu.stat": "/a", "/r/cpu.stat": "/"}
    assert readings.cpu_groups("0::/a/b\n", root="/r") == second
    first = "3:cpuset:/x\n2:cpu,cpuacct:/docker/1\n1:memory:/y\n"
    assert readings.cpu_groups(first, root="/r") == {
        "/r/cpu/docker/1/cpu.stat": "/docker/1",
        "/r/cpu/docker/cpu.stat": "/docker",
        "/r/cpu/cpu.stat": "/",
    }
    both = readings.cpu_groups("2:cpu:/a\n0::/a\n", root="/r")
    assert list(both) == ["/r/cpu/a/cpu.stat", "/r/cpu/cpu.stat", "/r/a/cpu.stat", "/r/cpu.stat"]
    assert readings.cpu_groups("", root="/r") == {}


def test_the_share_of_a_processor_that_a_node_is_meant_to_have_is_no_quota_of_others() -> None:
    own = "plimsoll-node-1f2a3b4c-127.17.1.1"
    assert list(readings.cpu_groups(f"1:cpu:/{own}\n", root="/r")) == ["/r/cpu/cpu.stat"]
    assert list(readings.cpu_groups(f"0::/a/{own}\n", root="/r")) == ["/r/a/cpu.stat", "/r/cpu.stat"]
    assert len(readings.cpu_groups("0::/plimsoll-node-exporter.service\n", root="/r")) == 2


def test_processes_in_one_control_group_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = {"self": "0::/a\n", "7": "0::/a\n", "8": "0::/b\n", "9": "0::/a\n"}
    parsed = list[str]()

    def parse(text: str) -> dict[str, str]:
        parsed.append(text)
        return {}

    told = {f"/proc/{pid}/cgroup": group for pid, group in groups.items()}
    monkeypatch.setattr(sample, "text_of", lambda path: told[path] if path in told else readings.text_of(path))
    monkeypatch.setattr(sample, "cpu_groups", parse)
    monkeypatch.setattr(programs.Programs, "own", lambda _: ["7", "8", "9"])
    sample.Readings(b"PLIMSOLL_CLUSTER=x", ())
    assert parsed == ["0::/a\n", "0::/b\n"]


def test_work_is_what_is_not_idle_for_the_clock_misses_short_bursts() -> None:
    """Twenty of 100 ticks were counted as work, and 60 as idle."""
    figures = row(sample.line(1.0, 1.0, counters(), counters(user=120, idle=860), None))
    assert (float(figures["cpu_user"]), float(figures["cpu_idle"])) == (0.4, 0.6)


def test_a_line_tells_what_other_programs_took() -> None:
    figures = row(sample.line(1.0, 1.0, counters(), counters(), Others(0.25, "a(1)=0.2000")))
    assert (figures["cpu_others"], figures["others_top"]) == ("0.2500", "a(1)=0.2000")
    assert row(sample.line(1.0, 1.0, counters(), counters(), None))["cpu_others"] == ""


def test_the_first_line_covers_a_whole_second() -> None:
    naps: list[float] = []
    lines = sample.samples(naps.append)
    figures = row(next(lines))
    assert len(naps) == 2
    assert all(0 < nap <= sample.PERIOD_S for nap in naps)
    assert float(figures["memory_available_bytes"]) > 0


@pytest.mark.parametrize("module", [readings, programs, sample])
def test_the_program_needs_nothing_but_the_standard_library(module: Any) -> None:
    tree = ast.parse(Path(module.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {one.__name__ for one in (readings, programs, sample)}
    assert {name.partition(".")[0] for name in imported - own} <= sys.stdlib_module_names


@pytest.fixture
def host(tmp_path: Path) -> FolderHost:
    return FolderHost(tmp_path / "load", HostInfo(name="load", role="load", address="127.9.9.1"))


def test_the_program_is_told_where_somebody_elses_database_is(host: FolderHost) -> None:
    ProcSampler().start(host, timedelta(hours=1), database=("9042", "db1", "10.0.0.2"))
    argv = host.read_tail(PurePosixPath("jobs/sampler"), max_bytes=10_000).split()
    assert argv[6:] == ["@9042,db1,10.0.0.2"]


def test_the_program_is_told_as_whom_somebody_elses_database_runs(tmp_path: Path) -> None:
    info = HostInfo(name="node1", role="observed", address="10.0.0.1", facts={"runs_as": "postgres"})
    host = FolderHost(tmp_path / "node1", info)
    ProcSampler().start(host, timedelta(hours=1))
    assert host.read_tail(PurePosixPath("jobs/sampler"), max_bytes=10_000).split()[6:] == ["~postgres"]


def test_the_program_is_told_which_environments_are_the_attempts(host: FolderHost) -> None:
    ProcSampler().start(host, timedelta(hours=1), frozenset({"v1-002k-r1-1", "v1-001k-r1-1"}))
    argv = host.read_tail(PurePosixPath("jobs/sampler"), max_bytes=10_000).split()
    assert argv[6:] == ["v1-001k-r1-1", "v1-002k-r1-1"]


def test_the_sampler_is_a_job_of_its_own_with_a_program_on_the_host(host: FolderHost) -> None:
    sampler = ProcSampler()
    sampler.start(host, timedelta(hours=1))
    sampler.start(host, timedelta(hours=1))
    argv = host.read_tail(PurePosixPath("jobs/sampler"), max_bytes=10_000).split()
    assert argv[:4] == ["python3", "-I", "-S", "-B"]
    module = PurePosixPath(argv[4], "plimsoll/adapters/hosts/sampler/sample.py")
    assert host.read_tail(module, max_bytes=100_000) == Path(sample.__file__).read_text()
    assert sampler.files(host) == []
    host.write(PurePosixPath(argv[5]), "time_s\n")
    assert [path.name for path in sampler.files(host)] == ["host.csv"]
