"""Three nodes with G1, from nothing to a load on them, until one dies."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.support.nodes.recorded import read_log
from tests.support.nodes.slowness import Measured, not_slow, undisturbed
from tests.support.nodes.small import LIFETIME, define, gc_log, pauses_counted
from tests.support.processes import until
from tests.support.resolved import only_part

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.generators.cassandra_stress import CassandraStress
from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.adapters.hosts.sampler import ProcSampler, sample
from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.analysis.logs.gc.unified import parse_gc_log
from plimsoll.domain.campaign.resolve import load_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.system import LoadGeneratorChoice
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.units import parse_size
from plimsoll.ports.load_generator import LoadRequest


@pytest.fixture(scope="module")
def three(hosts_for: Callable[..., Any]) -> Iterator[Any]:
    with hosts_for(define()) as deployment:
        deployment.deploy()
        yield deployment


@pytest.fixture(scope="module")
def fingerprint(three: Any) -> Any:
    return three.fingerprint()


def jvms(host: Any) -> list[Any]:
    """Living JVMs of one host."""
    found = []
    for process in psutil.process_iter(["name"]):
        try:
            environment = process.environ() if process.info["name"] == "java" else {}
        except psutil.Error:  # gone, or somebody else's
            continue
        work = environment.get("PLIMSOLL_WORK")
        if work and host.root.is_relative_to(work) and environment["PLIMSOLL_HOST"] == host.info.name:
            found.append(process)
    return found


def test_every_node_is_up(three: Any) -> None:
    assert list(three.product.down(three.nodes)) == []


def test_native_libraries_are_unpacked_below_the_host_s_own_folder(three: Any) -> None:
    for node in three.nodes:
        names = [path.name for path in node.files(node.root / "cassandra")]
        assert any(name.startswith("liblz4-java") for name in names)
        assert any(name.endswith("libsnappyjava.so") for name in names)


def test_deploying_again_finds_the_same_nodes(three: Any) -> None:
    before = [process.pid for node in three.nodes for process in jvms(node)]
    three.deploy()
    assert [process.pid for node in three.nodes for process in jvms(node)] == before
    assert len(before) == 3


def test_what_runs_is_what_was_defined(three: Any, fingerprint: Any) -> None:
    assert [node.host for node in fingerprint] == ["node1", "node2", "node3"]
    for node, host in zip(fingerprint, three.nodes, strict=True):
        assert node.address == host.info.address
        assert (node.database, node.database_version) == ("cassandra", "4.0.1")
        assert (node.processes[0].jvm.collector, node.processes[0].jvm.heap_max_bytes) == ("G1", parse_size("512M"))
        assert node.processes[0].jvm.version.startswith("11.0.13+")
        assert node.facts.cpus == os.cpu_count()


def test_flags_are_those_that_the_running_jvm_reports(fingerprint: Any) -> None:
    for node in fingerprint:
        assert node.processes[0].jvm.flags["UseG1GC"] == "true"
        assert node.processes[0].jvm.flags["MaxGCPauseMillis"] == "500"
        assert "-XX:G1RSetUpdatingPauseTimePercent=5" in node.processes[0].jvm.arguments
        assert "G1 Young Generation" in node.processes[0].jvm.collector_beans


def test_a_load_runs_to_its_end_and_leaves_its_logs(three: Any, artefacts: Artefacts) -> None:
    stress = PlimsollStress(artefacts)
    ProcSampler().start(three.load, LIFETIME)
    request = LoadRequest(
        "load", load_spec(only_part(three.definition)), 200, [node.info.address for node in three.nodes], LIFETIME
    )
    stress.start(three.load, request)
    until(lambda: stress.status(three.load, "load").state != "running", "the end of the load")
    status = stress.status(three.load, "load")
    assert status.state == "complete", status.reason
    files = {path.name: path for path in stress.files(three.load)}
    assert {"load.log", "summary.json", "tlp_stress_metrics.csv"} < files.keys()
    assert set(stress.response_time_logs(load_spec(only_part(three.definition)), files)) == {"reads", "writes"}
    texts = {name: three.load.read_tail(files[name], max_bytes=100_000) for name in stress.summary_files}
    summary = stress.summary(texts)
    assert (summary.complete, summary.attempted_ops_s) == (True, 200.0)
    assert not_slow(summary.errors) == {}
    assert summary.operations["writes"] > summary.operations["reads"] > 0
    run = json.loads(texts["summary.json"])["run"]
    assert run["scheduled"] == 200 * 6 == run["completed"] + sum(run["errors"].values())
    logged = [
        record
        for log in stress.response_time_logs(load_spec(only_part(three.definition)), files).values()
        for record in read_log(Path(files[log]))
    ]
    assert sum(record.histogram.total_count for record in logged) == run["completed"]


def test_cassandra_stress_runs_on_the_same_nodes_and_its_log_is_judged(three: Any, artefacts: Artefacts) -> None:
    stress = CassandraStress(artefacts)
    generator = LoadGeneratorChoice(name=stress.name, threads=2, concurrency=10, heap="128M")
    changes = {"workload": Workload.model_validate({"name": "mixed", "rows": 1000}), "load_generator": generator}
    definition = three.definition.model_copy(update=changes)
    summary, judgement = undisturbed(lambda number: by_cassandra_stress(three, stress, definition, number))
    assert (summary.complete, summary.failed, summary.shares) == (True, 0, {"writes": 0.5, "reads": 0.5})
    assert judgement.valid, judgement.reasons
    assert judgement.intervals.operations == ("reads", "writes")


def by_cassandra_stress(three: Any, stress: CassandraStress, definition: Definition, number: int) -> Measured:
    """Put on its load, in a folder of its own for each number. It goes to its end."""
    load, job_id = three.load_in(f"theirs-{number}"), f"theirs-{number}"
    stress.start(
        load,
        LoadRequest(
            job_id, load_spec(only_part(definition)), 200, [node.info.address for node in three.nodes], LIFETIME
        ),
    )
    until(lambda: stress.status(load, job_id).state != "running", "the end of cassandra-stress")
    status = stress.status(load, job_id)
    assert status.state == "complete", status.reason
    files = {path.name: path for path in stress.files(load)}
    summary = stress.summary({name: Path(files[name]).read_text() for name in stress.summary_files})
    assert summary.started_at is not None
    (log,) = stress.response_time_logs(load_spec(only_part(definition)), files).values()
    run = Run(definition.timing.warmup, definition.timing.duration, started_at=summary.started_at)
    return summary, judge_logs({log: Path(files[log]).read_bytes()}, run, definition.service_levels)


def test_the_sampler_goes_on_writing_lines_with_its_columns(three: Any) -> None:
    """A line a second, where the machine lets it."""
    (samples,) = ProcSampler().files(three.load)
    until(lambda: three.load.read_tail(samples, max_bytes=100_000).count("\n") > 5, "five lines and the header")
    header, *lines = three.load.read_tail(samples, max_bytes=100_000).splitlines()
    assert header.split(",") == list(sample.COLUMNS)
    assert {line.count(",") for line in lines[:5]} == {header.count(",")}


def test_logs_and_settings_of_a_node_can_be_collected(three: Any) -> None:
    names = {path.name for path in three.files(three.nodes[1])}
    assert {"cassandra.yaml", "system.log", "gc.log", "command.txt", "cassandra.log"} <= names
    assert "debug.log" not in names


def test_the_pauses_of_a_nodes_gc_log_are_those_counted_by_hand(three: Any) -> None:
    log = gc_log(three, three.nodes[1])
    found = parse_gc_log(log)
    assert (len(found.collections), found.unread) == (pauses_counted(log), None)
    assert found.collections


def test_a_node_that_was_killed_is_down_by_its_signal(three: Any) -> None:
    (victim,) = jvms(three.nodes[2])
    os.kill(victim.pid, signal.SIGKILL)
    until(lambda: three.nodes[2].status("cassandra").state == "exited", "the end of the killed node")
    (sentence,) = three.product.down(three.nodes)
    assert sentence.startswith(f"node3 ({three.nodes[2].info.address}) ended with signal 9")
    assert "INFO" not in sentence
    three.nodes[0].stop("cassandra", grace=timedelta(seconds=10))
    assert [text.split()[0] for text in three.product.down(three.nodes)] == ["node1", "node3"]
