import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.scripted_host import ScriptedHost
from tests.support.resolved import only_part
from tests.unit.adapters.one_variant import one_variant

from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.domain.campaign.resolve import load_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.host import JobStatus
from plimsoll.ports.load_generator import LoadRequest
from plimsoll.ports.provider import ExternalDatabase
from plimsoll.ports.secrets import DatabaseAccess

LOGS = ("tlp_stress_metrics.hdr-intended-mutations", "tlp_stress_metrics.hdr-intended-selects")


def definition(**changes: Any) -> Definition:
    return one_variant(**{"load_generator": {"heap": "256M"}, **changes})


@pytest.fixture
def host(tmp_path: Path) -> ScriptedHost:
    return ScriptedHost(tmp_path / "load-host", HostInfo(name="load", role="load", address="127.9.9.100"))


@pytest.fixture
def stress(tmp_path: Path) -> PlimsollStress:
    return PlimsollStress(EmptyArtefacts(tmp_path / "artefacts"))


@pytest.fixture
def started(host: ScriptedHost, stress: PlimsollStress) -> Any:
    stress.start(host, LoadRequest("load", load_spec(only_part(definition())), 100, ["127.9.9.1"], timedelta(hours=1)))
    return host


def test_each_protocol_has_a_program_of_its_own(host: ScriptedHost, stress: PlimsollStress) -> None:
    request = LoadRequest(
        "hbase", load_spec(only_part(definition(workload={"name": "YcsbA"}))), 100, ["127.9.9.1"], timedelta(hours=1)
    )
    stress.start(host, replace(request, protocol="hbase"))
    stress.start(host, replace(request, job_id="cql"))
    mains = {job.id: next(word for word in job.argv if word.startswith("plimsoll.")) for job in host.jobs.values()}
    assert mains == {"hbase": "plimsoll.stress.hbase.Main", "cql": "plimsoll.stress.Main"}
    opens = {job.id: [word for word in job.argv if word.startswith("--add-opens")] for job in host.jobs.values()}
    assert opens == {"hbase": ["--add-opens=java.base/java.nio=ALL-UNNAMED"], "cql": []}


def write_progress(host: Any, phase: Any, elapsed: Any, planned: Any, **more: int) -> None:
    line = {
        "phase": phase,
        "elapsed_s": elapsed,
        "planned_s": planned,
        "achieved_ops_s": 99.5,
        "errors": {"timeout": 2},
        **more,
    }
    host.write(host.root / "load" / "progress.jsonl", json.dumps(line) + "\n")


def write_ending(
    host: Any, *, complete: bool = True, reason: Any = None, reached: Any = (40, 40), exit_code: int = 0
) -> None:
    summary = {"complete": complete, "reason": reason, "generator": "plimsoll.stress", "populate": None, "run": None}
    host.write(host.root / "load" / "summary.json", json.dumps(summary))
    for name, end in zip(LOGS, reached, strict=False):
        host.write(host.root / "load" / name, f"#head\n{end - 1}.000,1.000,3.2,HIST\n")
    host.write(host.root / "jobs" / "load.log", "connecting\nalmost there\n")
    host.statuses["load"] = JobStatus("exited", exit_code)


def test_the_load_is_one_job_with_a_heap_of_its_own(started: Any, stress: PlimsollStress) -> None:
    job = started.jobs["load"]
    assert job.argv[0].endswith("openjdk-21.0.8/runtime/bin/java")
    assert job.argv[1:3] == ("-Xms256M", "-Xmx256M")
    assert job.argv[job.argv.index("run") :][:4] == ("run", "BasicTimeSeries", "-d", "40s")
    assert job.expires == timedelta(hours=1)


def test_a_load_that_says_nothing_yet_is_running(started: Any, stress: PlimsollStress) -> None:
    status = stress.status(started, "load")
    assert (status.state, status.phase, status.achieved_ops_s) == ("running", "populate", None)


def test_while_populating_the_timed_run_is_still_to_come(started: Any, stress: PlimsollStress) -> None:
    write_progress(started, "populate", 3, 5)
    status = stress.status(started, "load")
    assert (status.phase, status.seconds_left, status.achieved_ops_s) == ("populate", 42.0, 99.5)


def test_how_long_populating_takes_is_not_known_until_something_is_answered(
    started: Any, stress: PlimsollStress
) -> None:
    write_progress(started, "populate", 1, 0)
    status = stress.status(started, "load")
    assert (status.phase, status.seconds_left, status.achieved_ops_s) == ("populate", None, None)


def test_in_the_timed_run_only_its_rest_is_to_come(started: Any, stress: PlimsollStress) -> None:
    write_progress(started, "measure", 15, 40)
    status = stress.status(started, "load")
    assert (status.state, status.phase, status.seconds_left, status.errors) == ("running", "load", 25.0, 2)


def test_after_the_timed_run_it_says_what_it_waits_for_and_how_long_at_most(
    started: Any, stress: PlimsollStress
) -> None:
    write_progress(started, "drain", 48, 40, in_flight=200, backlog=1_034)
    status = stress.status(started, "load")
    told = "its time is over: waiting at most 22 s for the answers to 1,234 operations"
    assert (status.phase, status.seconds_left, status.note) == ("load", 0.0, told)


def test_complete_is_what_the_summary_the_exit_code_and_the_logs_agree_on(started: Any, stress: PlimsollStress) -> None:
    write_ending(started)
    assert stress.status(started, "load").state == "complete"


def test_a_summary_with_many_messages_of_the_database_is_read_whole(started: Any, stress: PlimsollStress) -> None:
    write_ending(started)
    summary = {"complete": True, "reason": None, "generator": "", "populate": None, "run": None}
    started.write(started.root / "load" / "summary.json", json.dumps({**summary, "messages": "m" * 100_000}))
    assert stress.status(started, "load").state == "complete"


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (
            {"complete": False, "reason": "no answer for 60 s", "exit_code": 6},
            "no answer for 60 s (ended with exit code 6)",
        ),
        ({"exit_code": 137}, "the summary says complete, but the load generator ended with exit code 137"),
        ({"exit_code": None}, "the summary says complete, but the load generator was killed"),
        ({"reached": (40, 30)}, "the histogram logs end after 0:00:30 of 0:00:40"),
    ],
)
def test_anything_less_is_a_failure_with_its_reason_and_the_console(
    started: Any, stress: PlimsollStress, ending: dict[str, Any], reason: str
) -> None:
    write_progress(started, "measure", 30, 40)
    write_ending(started, **ending)
    status = stress.status(started, "load")
    assert (status.state, status.phase) == ("failed", "load")
    assert reason in status.reason
    assert "almost there" in status.reason


def test_logs_that_are_not_there_are_a_failure(started: Any, stress: PlimsollStress) -> None:
    write_ending(started, reached=())
    assert "end after 0:00:00" in stress.status(started, "load").reason


def test_a_load_without_a_summary_failed(started: Any, stress: PlimsollStress) -> None:
    started.statuses["load"] = JobStatus("exited", None)
    assert stress.status(started, "load").reason == "the load generator left no summary (was killed)"


def test_a_load_that_was_never_started_failed(host: ScriptedHost, stress: PlimsollStress) -> None:
    assert stress.status(host, "load").reason == "the load was never started"


def test_all_it_wrote_is_kept_with_its_console(started: Any, stress: PlimsollStress) -> None:
    write_progress(started, "measure", 15, 40)
    write_ending(started)
    started.write(started.root / "jobs" / "sampler.log", "not ours")
    names = [path.name for path in stress.files(started)]
    assert names == ["progress.jsonl", "summary.json", *LOGS, "load.log"]


def test_before_a_load_there_is_nothing_to_keep(host: ScriptedHost, stress: PlimsollStress) -> None:
    assert stress.files(host) == []


def test_stopping_asks_the_job_to_end(started: Any, stress: PlimsollStress) -> None:
    stress.stop(started, "load")
    assert started.stopped == ["load"]


def test_a_definition_it_can_do_has_no_problems(stress: PlimsollStress) -> None:
    assert list(stress.check(load_spec(only_part(definition())))) == []


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"workload": {"name": "NoSuchWorkload"}}, "workload.name"),
        ({"load_generator": {"threads": 1001}}, "load_generator.threads"),
        ({"load_generator": {"concurrency": 40000}}, "load_generator.concurrency"),
        ({"load_generator": {"heap": "8M"}}, "load_generator.heap"),
        ({"timing": {"duration": "40500ms", "warmup": "10500ms"}}, "timing.duration"),
    ],
)
def test_what_it_can_t_do_is_named(stress: PlimsollStress, changes: dict[str, Any], where: str) -> None:
    assert where in [problem.where for problem in stress.check(load_spec(only_part(definition(**changes))))]


def test_a_database_that_can_t_be_had_is_no_concern_of_the_load_generator(stress: PlimsollStress) -> None:
    assert stress.check(load_spec(only_part(definition(system={"version": "4.0.99"})))) == []


def sample(host: ScriptedHost, stress: PlimsollStress) -> dict[str, Any]:
    """Starts a sample of 20,000 rows; its options."""
    sampled = stress.with_rows(
        load_spec(only_part(definition(workload={"name": "YcsbA", "data_per_node": "5M"}))), 20_000
    )
    stress.start_sample(host, LoadRequest("sample-1", sampled, 100, ["127.9.9.1"], timedelta(hours=1)), "apart")
    folder = host.root / "samples" / "sample-1"
    options: dict[str, Any] = json.loads(host.read_tail(folder / "options.json", max_bytes=10_000))
    return options


def test_a_sample_of_rows_is_a_job_in_a_folder_of_its_own(host: ScriptedHost, stress: PlimsollStress) -> None:
    assert sample(host, stress) == {"recordcount": 20_000}
    job = host.jobs["sample-1"]
    assert job.cwd == host.root / "samples" / "sample-1"
    assert job.argv[job.argv.index("--keyspace") + 1] == "apart"
    assert not host.files(host.root / "load")


def test_a_sample_is_there_once_its_job_ended_well_and_its_summary_says_so(
    host: ScriptedHost, stress: PlimsollStress
) -> None:
    sample(host, stress)
    folder = host.root / "samples" / "sample-1"
    line = {"phase": "populate", "elapsed_s": 1, "planned_s": 2, "achieved_ops_s": 7000.0, "errors": {}}
    host.write(folder / "progress.jsonl", json.dumps(line) + "\n")
    running = stress.sample_status(host, "sample-1")
    assert (running.state, running.achieved_ops_s) == ("running", 7000.0)
    host.statuses["sample-1"] = JobStatus("exited", 0)
    assert stress.sample_status(host, "sample-1").state == "failed"
    summary = {"complete": True, "reason": None, "generator": "plimsoll.stress", "populate": None, "run": None}
    host.write(folder / "summary.json", json.dumps(summary))
    assert stress.sample_status(host, "sample-1").state == "complete"


def test_a_sample_that_failed_tells_why(host: ScriptedHost, stress: PlimsollStress) -> None:
    sample(host, stress)
    summary = {
        "complete": False,
        "reason": "no connection",
        "generator": "plimsoll.stress",
        "populate": None,
        "run": None,
    }
    host.write(host.root / "samples" / "sample-1" / "summary.json", json.dumps(summary))
    host.write(host.root / "jobs" / "sample-1.log", "connecting to 127.9.9.1\n")
    host.statuses["sample-1"] = JobStatus("exited", 3)
    reason = stress.sample_status(host, "sample-1").reason
    assert reason.startswith("a sample of the rows could not be written: no connection")
    assert "connecting to 127.9.9.1" in reason


def test_rows_of_time_series_are_shared_by_all_threads_of_all_load_hosts(stress: PlimsollStress) -> None:
    shared = definition(load_generator={"hosts": 2, "threads": 4})
    assert stress.with_rows(load_spec(only_part(shared)), 20_001).workload.populate == 2501


def test_keys_of_own_statements_are_drawn_from_the_counted_rows(host: ScriptedHost, stress: PlimsollStress) -> None:
    bind = {"id": {"distribution": "sequence", "max": "rows"}}
    population = {"statement": "INSERT INTO t (id) VALUES (:id)", "bind": bind}
    asked = {"name": "reads", "share": 1, "statement": "SELECT * FROM t WHERE id = :id", "bind": bind}
    own = {"name": "cql", "operations": [asked], "population": population, "data_per_node": "5M"}
    counted = stress.with_rows(load_spec(only_part(definition(workload=own))), 77)
    stress.start(host, LoadRequest("load", counted, 100, ["127.9.9.1"], timedelta(hours=1)))
    options = json.loads(host.read_tail(host.root / "load" / "options.json", max_bytes=10_000))
    assert options["rows"] == 77
    assert options["population"]["bind"]["id"]["max"] == options["operations"][0]["bind"]["id"]["max"] == 76


THEIRS = ExternalDatabase(
    contact_points=("db1",),
    port=9042,
    data_centre="dc1",
    keyspace="bench",
    is_read_only=False,
    populate_ops_s=None,
    has_tls=True,
    access=DatabaseAccess("me", "secret"),
)


def test_a_load_on_somebody_elses_database_lives_by_the_looks_at_it_and_leaves_no_core(
    host: ScriptedHost, stress: PlimsollStress
) -> None:
    lease = host.root / "load" / "lease"
    stress.start(
        host, LoadRequest("load", load_spec(only_part(definition())), 100, ["db1"], timedelta(hours=1), database=THEIRS)
    )
    argv = [*host.jobs["load"].argv]
    assert argv[argv.index("--lease") + 1] == str(lease)
    assert "-XX:-CreateCoredumpOnCrash" in argv[: argv.index("-cp")]
    assert lease in host.files(host.root)
    Path(lease).unlink()
    stress.status(host, "load")
    assert lease in host.files(host.root)


def test_a_load_on_nodes_of_its_own_needs_nobody_who_looks(started: ScriptedHost, stress: PlimsollStress) -> None:
    stress.status(started, "load")
    assert "--lease" not in started.jobs["load"].argv
    assert started.root / "load" / "lease" not in started.files(started.root)


def test_of_what_lies_in_its_folder_only_what_it_writes_is_collected(
    started: ScriptedHost, stress: PlimsollStress
) -> None:
    """A crash may leave a picture of its memory there."""
    for name in ("core", "core.4711", "hs_err_pid4711.log", "java_pid4711.hprof", "summary.json", *LOGS):
        started.write(started.root / "load" / name, "x")
    assert {path.name for path in stress.files(started)} == {"summary.json", *LOGS}
