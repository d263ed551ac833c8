import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.scripted_host import ScriptedHost
from tests.support.resolved import only_part
from tests.unit.adapters.foreign_load.load_requests import definition, request

from plimsoll.adapters.generators.latte import Latte, functions, script
from plimsoll.domain.campaign.resolve import load_spec
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import CommandResult, JobStatus

SAMPLE = Path(__file__).parents[3] / "samples" / "latte.json.gz"


@pytest.fixture
def latte() -> Latte:
    return Latte()


@pytest.fixture
def bare(tmp_path: Path) -> ScriptedHost:
    return ScriptedHost(tmp_path / "load-host", HostInfo(name="load", role="load", address="127.9.9.100"))


@pytest.fixture
def host(bare: ScriptedHost) -> ScriptedHost:
    bare.command = lambda _: CommandResult(0, "/opt/my tools/latte\nlatte 0.29.0\n", "")
    return bare


def commands(host: ScriptedHost) -> list[str]:
    text = host.read_tail(host.root / "load" / "commands.sh", max_bytes=100_000)
    return [line.removeprefix("run ") for line in text.splitlines() if line.startswith("run ")]


def test_a_host_without_it_is_named_before_anything_starts(bare: ScriptedHost, latte: Latte) -> None:
    assert latte.unready(bare, load_spec(only_part(definition()))).startswith(
        "latte is not on this host: put its binary on the PATH"
    )
    with pytest.raises(HostError, match="latte is not on this host"):
        latte.start(bare, request())


def test_a_host_that_has_it_is_ready_and_tells_its_version(host: ScriptedHost, latte: Latte) -> None:
    assert latte.unready(host, load_spec(only_part(definition()))) == ""
    assert latte.describe(host, load_spec(only_part(definition()))) == "latte 0.29.0"


@pytest.mark.parametrize("told", ["latte 0.30.1\n", ""])
def test_a_host_with_another_version_is_named_before_anything_starts(
    bare: ScriptedHost, latte: Latte, told: str
) -> None:
    bare.command = lambda _: CommandResult(0, f"/opt/latte\n{told}", "")
    assert "Plimsoll knows 0.29 alone" in latte.unready(bare, load_spec(only_part(definition())))
    with pytest.raises(HostError, match=r"knows 0\.29 alone"):
        latte.start(bare, request())


@pytest.mark.parametrize("report", ["{", "[]", "{}", '{"result": {"log": [{}]}}', '{"result": {"log": 5}}'])
def test_a_report_of_another_form_is_said(latte: Latte, report: str) -> None:
    found = latte.summary({"plan.json": "{}", "load.end": "exit 0\nseconds 60\n", "latte.json": report})
    assert (found.complete, found.reason.partition(" (")[0]) == (False, "latte left a report that is not 0.29's")


def test_it_makes_the_table_populates_and_runs(host: ScriptedHost, latte: Latte) -> None:
    latte.start(host, request())
    at = "--consistency LOCAL_ONE standard-row.rn 10.0.0.1 10.0.0.2"
    assert commands(host) == [
        f"schema '/opt/my tools/latte' schema {at}",
        f"populate '/opt/my tools/latte' load --threads 2 --concurrency 20 --quiet {at}",
        "load '/opt/my tools/latte' run --rate 100 --duration 50s --warmup 0 --sampling 1s --functions write:1,read:1 "
        f"--output latte.json --quiet --threads 2 --concurrency 20 {at}",
    ]


@pytest.mark.parametrize(
    ("workload", "functions_told", "drawn"),
    [
        ({"name": "write", "keys": "uniform"}, "write:1", "latte::hash_range(i, ROWS)"),
        ({"name": "read", "keys": "sequence"}, "read:1", "i % ROWS"),
        ({"name": "mixed", "rows": 1}, "write:1,read:1", "i % ROWS"),
        ({"name": "mixed", "rows": 101}, "write:1,read:1", "latte::normal(i, 50.0, 16.666666666666668)"),
    ],
)
def test_the_script_is_made_of_the_workload(workload: dict[str, Any], functions_told: str, drawn: str) -> None:
    assert functions(load_spec(only_part(definition(workload)))) == functions_told
    assert drawn in script(load_spec(only_part(definition(workload))))


def test_its_account_is_its_report(host: ScriptedHost, latte: Latte) -> None:
    plan = {"rate": 500, "duration_s": 60, "warmup_s": 20, "shares": {"writes": 0.8, "reads": 0.2}}
    files = {
        "plan.json": json.dumps(plan),
        "load.end": "exit 0\nseconds 60\n0m12.000s 0m6.000s\n",
        "latte.json": gzip.decompress(SAMPLE.read_bytes()).decode(),
    }
    found = latte.summary(files)
    assert (found.complete, found.errors, found.cpu_cores) == (True, {}, 0.3)
    assert (found.started_at is not None, found.attempted_ops_s, found.warmup_s) == (True, 500, 20)
    assert not latte.summary({}).complete
    longer = {**files, "plan.json": json.dumps({**plan, "duration_s": 90})}
    assert latte.summary(longer).reason == "latte ended after 60 s"


def test_what_failed_beyond_the_judged_time_does_not_count(latte: Latte) -> None:
    report = json.loads(gzip.decompress(SAMPLE.read_bytes()))
    for second, failed in ((10, 1), (20, 2), (54, 4), (55, 8)):  # in warm-up, judged first and last, beyond
        report["result"]["log"][second]["cycle_error_count"] = failed
    plan = {"rate": 500, "duration_s": 55, "warmup_s": 20}
    files = {"plan.json": json.dumps(plan), "load.end": "exit 0\nseconds 60\n", "latte.json": json.dumps(report)}
    found = latte.summary(files)
    assert (found.complete, found.errors, found.duration_s) == (True, {"failed": 6}, 55)


def test_a_run_whose_command_failed_is_a_failure(host: ScriptedHost, latte: Latte) -> None:
    latte.start(host, request())
    for name, content in {"schema.console": "error: no host\n", "schema.end": "exit 1\nseconds 1\n"}.items():
        host.write(host.root / "load" / name, content)
    host.statuses["load"] = JobStatus("exited", 1)
    status = latte.status(host, "load")
    assert (status.state, "schema: latte ended with exit code 1" in status.reason) == ("failed", True)
    assert "error: no host" in status.reason


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"workload": {"name": "YcsbA"}}, "workload.name"),
        ({"workload": {"name": "user"}}, "workload.name"),
        ({"workload": {"name": "mixed", "row": 1}}, "workload.row"),
        ({"service_levels": [{}, {"windows": "sliding"}]}, "service_levels"),
        ({"service_levels": [{"operations": "scans"}]}, "service_levels[0].operations"),
        ({"workload": {"name": "mixed", "write": 0, "read": 0}}, "workload"),
        ({"service_levels": [{"interval": "500ms"}]}, "service_levels[0].interval"),
        ({"service_levels": [{"interval": "2500ms"}]}, "service_levels[0].interval"),
    ],
)
def test_what_it_can_not_do_is_said_at_its_key(latte: Latte, changes: dict[str, Any], where: str) -> None:
    workload = changes.pop("workload", None)
    assert [problem.where for problem in latte.check(load_spec(only_part(definition(workload, **changes))))] == [where]


def test_times_are_whole_seconds(latte: Latte) -> None:
    found = latte.check(load_spec(only_part(definition(timing={"duration": "45500ms", "warmup": "15500ms"}))))
    assert [problem.where for problem in found] == ["timing.duration", "timing.warmup"]


CONSOLE = """
LOG ══════════════════════════════════════════════════════
    Time    Cycles    Errors    Thrpt.     ──── Latency [ms/op] ──
     [s]      [op]      [op]    [op/s]             Min        25
   1.002       197         0       197             0.7       2.0
  16.001       196         0        98             0.6       1.4
"""
"""As 0.29.0 prints it, of eleven columns the first six."""


def test_a_run_tells_how_far_it_is_and_at_which_rate(host: ScriptedHost, latte: Latte) -> None:
    latte.start(host, request())
    host.write(host.root / "load" / "load.console", CONSOLE)
    status = latte.status(host, "load")
    assert (status.state, status.phase, status.achieved_ops_s) == ("running", "load", 98)
    assert status.seconds_left == pytest.approx(29, abs=0.01)
