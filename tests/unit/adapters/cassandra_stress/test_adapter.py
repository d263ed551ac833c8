from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.scripted_host import ScriptedHost
from tests.support.resolved import only_part
from tests.unit.adapters.foreign_load.load_requests import PROFILE, definition, request

from plimsoll.adapters.generators.cassandra_stress import CassandraStress
from plimsoll.domain.campaign.resolve import load_spec
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.host import JobStatus

HEAD = "type, total ops, op/s, pk/s, row/s, mean, med, .95, .99, .999, max, time, stderr, errors, gc: #, max ms\n"
LOG_HEAD = "#[BaseTime: 1795201196.000 (seconds since epoch)]\nTag=READ-rt,0.999,5.000,756.023,HISTF\n"
ENDED = "exit 0\nseconds 50\n1m15.000s 0m25.000s\n"


def row(time_s: float, operations: int, rate: int = 100, mean_ms: float = 2.0, errors: int = 0) -> str:
    figures = f"{operations},{rate},{rate},{rate},{mean_ms},1.5,3.0,4.0,5.0,9.0,{time_s},0.0,{errors},0,0,0,0,0"
    return f"READ,   {figures}\ntotal,  {figures}\n"


WHOLE = HEAD + "".join(row(5.0 * n, 500 * n) for n in range(1, 10)) + "\nResults:\n\nEND\n"


@pytest.fixture
def host(tmp_path: Path) -> ScriptedHost:
    return ScriptedHost(tmp_path / "load-host", HostInfo(name="load", role="load", address="127.9.9.100"))


@pytest.fixture
def stress(tmp_path: Path) -> CassandraStress:
    return CassandraStress(EmptyArtefacts(tmp_path / "artefacts"))


@pytest.fixture
def started(host: ScriptedHost, stress: CassandraStress) -> ScriptedHost:
    stress.start(host, request())
    return host


def leave(host: ScriptedHost, **files: str) -> None:
    for name, content in files.items():
        host.write(host.root / "load" / name.replace("_", "."), content)


def collected(host: ScriptedHost, stress: CassandraStress) -> dict[str, str]:
    return {
        name: host.read_tail(host.root / "load" / name, max_bytes=100_000)
        for name in stress.summary_files
        if host.read_tail(host.root / "load" / name, max_bytes=1)
    }


def test_the_load_is_one_job_that_populates_and_then_runs(started: ScriptedHost) -> None:
    assert started.jobs["load"].argv == ("/bin/sh", "commands.sh")
    text = started.read_tail(started.root / "load" / "commands.sh", max_bytes=100_000)
    assert [line.split()[:2] for line in text.splitlines() if line.startswith("run ")] == [
        ["run", "populate"],
        ["run", "load"],
        ["run", "log-head"],
    ]
    assert "stress.jar" in text
    assert "-Xmx1G" in text


def test_a_profile_lies_beside_it(host: ScriptedHost, stress: CassandraStress) -> None:
    stress.start(host, request({"name": "user", "profile": PROFILE, "ops": {"insert": 1}}))
    assert '"keyspace": "mine"' in host.read_tail(host.root / "load" / "profile.yaml", max_bytes=1000)


def test_how_far_it_is_stands_on_its_console(started: ScriptedHost, stress: CassandraStress) -> None:
    assert stress.status(started, "load").note == "connecting"
    leave(started, populate_console=HEAD + row(3.0, 4000, rate=1500))
    populating = stress.status(started, "load")
    assert (populating.phase, populating.achieved_ops_s, populating.seconds_left) == ("populate", 1500, 49.0)
    assert not populating.note
    leave(started, load_console=HEAD + row(5.0, 1, rate=0))
    connecting = stress.status(started, "load")
    assert (connecting.phase, connecting.achieved_ops_s, connecting.note) == ("warm-up", None, "connecting")
    leave(started, load_console=HEAD + row(10.0, 1000))
    assert (stress.status(started, "load").phase, stress.status(started, "load").seconds_left) == ("warm-up", 35.0)
    leave(started, load_console=HEAD + row(10.0, 1000) + row(20.0, 2000, errors=3))
    load = stress.status(started, "load")
    assert (load.state, load.phase, load.seconds_left, load.errors) == ("running", "load", 25.0, 3)


def test_complete_is_what_exit_code_and_console_agree_on(started: ScriptedHost, stress: CassandraStress) -> None:
    leave(started, populate_console="END", load_console=WHOLE, load_end=ENDED)
    started.statuses["load"] = JobStatus("exited", 0)
    assert stress.status(started, "load").state == "complete"


@pytest.mark.parametrize(
    ("files", "exit_code", "reason"),
    [
        ({}, None, "populate: cassandra-stress was killed"),
        ({"populate_console": "no host", "populate_end": "exit 1\nseconds 3\n"}, 1, "ended with exit code 1"),
        ({"populate_console": "END", "populate_end": ENDED}, 143, "load: cassandra-stress was not started"),
        ({"load_console": HEAD + row(5, 500)}, 143, "load: cassandra-stress was ended before its time"),
        ({"load_console": WHOLE.replace("END", ""), "load_end": ENDED}, 0, "did not come to the end of its run"),
        ({"load_console": HEAD + row(5, 500) + "END\n", "load_end": ENDED}, 0, "printed nothing after 5 s of 45 s"),
    ],
)
def test_anything_less_is_a_failure_with_its_reason(
    started: ScriptedHost, stress: CassandraStress, files: dict[str, str], exit_code: int | None, reason: str
) -> None:
    leave(started, **files)
    started.statuses["load"] = JobStatus("exited", exit_code)
    status = stress.status(started, "load")
    assert status.state == "failed"
    assert reason in status.reason


def test_a_load_that_was_never_started_failed(host: ScriptedHost, stress: CassandraStress) -> None:
    assert stress.status(host, "load").reason == "the load was never started"


def test_its_account_is_of_the_judged_time(started: ScriptedHost, stress: CassandraStress) -> None:
    late = WHOLE.replace(row(10.0, 1000), row(10.0, 1000, mean_ms=900.0, errors=7))
    beyond = row(46.0, 4600, mean_ms=990.0, errors=4)
    late = late.replace("\nResults", f"{beyond}\nResults")
    late = late.replace(row(35.0, 3500), row(35.0, 3500, mean_ms=250.0, errors=2))
    leave(started, load_console=late, load_end=ENDED)
    leave(started, **{"log-head_console": LOG_HEAD})
    found = stress.summary(collected(started, stress))
    assert (found.complete, found.duration_s, found.warmup_s) == (True, 45.0, 15.0)
    assert (found.attempted_ops_s, found.shares) == (100, {"writes": 0.5, "reads": 0.5})
    assert found.errors == {"failed": 2}
    assert found.in_flight_max == 25
    assert found.cpu_cores == 2.0
    assert found.started_at == datetime.fromtimestamp(1795201196, UTC) + timedelta(milliseconds=999)
    assert (found.schedule_lag_p99_ms, found.hiccup_max_ms) == (None, None)


def test_no_more_are_in_flight_than_there_are_threads(started: ScriptedHost, stress: CassandraStress) -> None:
    leave(started, load_console=WHOLE.replace(row(40.0, 4000), row(40.0, 4000, mean_ms=9000.0)), load_end=ENDED)
    assert stress.summary(collected(started, stress)).in_flight_max == 40


def test_a_row_that_is_no_number_tells_nothing(started: ScriptedHost, stress: CassandraStress) -> None:
    empty = row(40.0, 4000).replace("4000,100,100,100,2.0", "4000,NaN,NaN,NaN,NaN")
    leave(started, load_console=WHOLE.replace(row(40.0, 4000), empty), load_end=ENDED)
    assert "NaN" in empty
    assert stress.summary(collected(started, stress)).in_flight_max == 0
    leave(started, load_console=HEAD + row(35.0, 3500) + empty)
    assert stress.status(started, "load").achieved_ops_s == 100


def test_a_plan_of_an_earlier_version_is_read(stress: CassandraStress) -> None:
    plan = '{"job_id": "load", "rate": 100, "duration_s": 45, "warmup_s": 15, "in_flight": 40, "rows": 9}'
    found = stress.summary({"plan.json": plan, "load.console": WHOLE, "load.end": ENDED})
    assert (found.complete, found.attempted_ops_s) == (True, 100)


def test_without_files_there_is_no_account(stress: CassandraStress) -> None:
    assert not stress.summary({}).complete


def test_its_log_holds_all_operations(stress: CassandraStress) -> None:
    logs = stress.response_time_logs(load_spec(only_part(definition())), ["load.console", "cassandra-stress.hdr"])
    assert logs == {"all": "cassandra-stress.hdr"}
    assert stress.response_time_logs(load_spec(only_part(definition())), ["load.console"]) == {}


def test_what_it_does_not_tell_is_said(stress: CassandraStress) -> None:
    limits = " ".join(stress.limits(request().spec))
    assert "`fixed=`" in limits
    assert "without verifying rows" in limits


def test_it_is_said_of_workloads_too_that_it_does_not_have(stress: CassandraStress) -> None:
    unknown, wrong = request({"name": "KeyValue"}).spec, request({"name": "mixed", "rows": "many"}).spec
    assert stress.limits(unknown) == stress.limits(wrong) == stress.limits(request().spec)
