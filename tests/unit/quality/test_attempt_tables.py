from math import inf, isnan
from typing import Any

import pandas as pd
import pytest
from tests.support.campaigns import sound_attempt as sound
from tests.support.resolved import only_part

from plimsoll.analysis.attempt.judgement import MissedInterval
from plimsoll.domain.attempt.result import OpeningBacklog
from plimsoll.domain.hosts.fingerprint import ProcessFingerprint
from plimsoll.domain.keys.process import Process
from plimsoll.quality import attempt_tables as tables


def run(**changes: Any) -> dict[Any, Any]:
    return tables.run(only_part(sound.definition()), sound.CELL, sound.measured(**changes)).iloc[0].to_dict()


def test_the_timeline_starts_at_the_end_of_warm_up_and_has_no_gaps() -> None:
    table = tables.timeline(only_part(sound.definition()), sound.measured())
    assert table["start_s"].tolist() == [10, 20, 30]
    assert table["gap_s"].tolist() == [0, 0, 0]


def test_a_missing_or_doubled_interval_leaves_one_gap() -> None:
    intervals = sound.intervals()
    first = tables.timeline(only_part(sound.definition()), sound.measured(intervals=intervals.query("start_s != 10")))
    assert first["gap_s"].tolist() == [10, 0]
    doubled = pd.concat([intervals, intervals.query("start_s == 20")])
    twice = tables.timeline(only_part(sound.definition()), sound.measured(intervals=doubled))
    assert twice["gap_s"].tolist() == [0, 0, -10, 0]


@pytest.mark.parametrize(("failed", "is_unknown"), [(10_000, True), (0, False)])
def test_an_interval_without_an_answer_needs_none_where_every_operation_failed(failed: int, is_unknown: bool) -> None:
    intervals = sound.intervals()
    intervals.loc[intervals["start_s"] == 20, ["count", "failed"]] = (0, failed)
    table = tables.timeline(only_part(sound.definition()), sound.measured(intervals=intervals))
    assert table["count"].isna().tolist() == [False, is_unknown, False]
    assert table["unknown"].sum() == 0


def test_percentiles_are_those_of_everything_counted() -> None:
    intervals = sound.intervals()
    intervals.loc[1, "count"] = 0
    table = tables.percentiles(sound.measured(intervals=intervals))
    assert len(table) == 11
    assert table["unknown"].sum() == 0


def test_the_run_is_told_in_shares() -> None:
    wrong = ("reads failed as `other` 3 times, first: InvalidQueryException: no such table",)
    found = run(summary=sound.summary(errors={"read_timeout": 30, "other": 3}, failures=wrong))
    assert found["achieved_share"] == 1.0
    assert found["error_share"] == pytest.approx(33 / 30_033)
    assert found["foreign_error_share"] == pytest.approx(3 / 30_033)
    assert found["generator_cpu_share"] == 0.25
    assert (found["ended"], found["nodes_down"], found["held_back_by"]) == ("complete", "none", "nobody")


def test_what_the_generator_does_not_tell_is_not_a_number() -> None:
    found = run(summary=sound.summary(cpu_cores=None, schedule_lag_p99_ms=None, hiccup_max_ms=None))
    assert all(isnan(found[name]) for name in ("generator_cpu_share", "schedule_lag_ms", "hiccup_ms"))


def test_a_backlog_that_is_not_known_is_not_a_number() -> None:
    assert isnan(run()["opening_backlog_s"])
    assert run(opening_backlog=OpeningBacklog(in_flight=50, unsent=700, seconds=3.75))["opening_backlog_s"] == 3.75


def test_a_run_that_ended_early_gives_its_reason() -> None:
    assert run(summary=sound.summary(complete=False, reason="killed"))["ended"] == "killed"
    assert run(summary=sound.summary(complete=False))["ended"] == "not complete"


MISSED = (MissedInterval(10.0, 20.0, 140.0, 110.0), MissedInterval(20.0, 30.0, 400.0, 110.0))


def test_a_miss_that_noise_explains_is_told_apart_from_one_that_counts() -> None:
    stolen = sound.samples(steal=(0.4, 0.3, 0.0))
    assert run(samples=stolen)["disturbed"] == "no interval missed"
    assert run(missed=MISSED, samples=stolen)["disturbed"].startswith("noise in each of 2 missed intervals: other mach")
    assert run(missed=MISSED)["disturbed"] == "a missed interval without noise beyond the bounds"
    assert run(missed=MISSED, samples=pd.DataFrame())["disturbed"] is None
    wide = sound.definition(disturbance={"steal": "50%"})
    found = tables.run(only_part(wide), sound.CELL, sound.measured(missed=MISSED, samples=stolen))
    assert found["disturbed"].tolist() == ["a missed interval without noise beyond the bounds"]


def mix(share: float, reads: int, writes: int, errors: int = 0) -> float:
    operations = {"reads": reads, "writes": writes}
    summary = sound.summary(operations=operations, errors={"read_timeout": errors})
    return tables.mix_deviations({"reads": share}, summary)


def test_the_mix_is_measured_in_standard_deviations() -> None:
    # 10,000 draws at 0.2: a standard deviation of 40.
    assert mix(0.2, 2000, 8000) == 0.0
    assert mix(0.2, 2100, 7900) == mix(0.2, 1900, 8100) == 2.5
    assert mix(0.2, 1900, 8100, errors=60) == 1.0


def test_a_mix_of_one_kind_has_no_deviation_to_spare() -> None:
    assert mix(1.0, 10, 0) == mix(0.0, 0, 10) == 0.0
    assert mix(1.0, 9, 1) == inf


def test_the_mix_of_nothing_is_not_known() -> None:
    assert isnan(mix(0.2, 0, 0))


def test_nodes_are_told_in_the_definitions_terms() -> None:
    odd = sound.node("node2", heap_max_bytes=sound.GIB, version="1.8.0_252-b09", arguments=(), collector=None)
    table = tables.nodes(sound.measured(fingerprint=sound.fingerprint(sound.node(), odd)))
    assert table.to_dict("records") == [
        {
            "host": "node1",
            "collector": "G1",
            "heap_share": 1.0,
            "jdk": "11.0.13",
            "flags": "all",
            "product": "cassandra",
            "version": "4.0.1",
        },
        {
            "host": "node2",
            "collector": "unknown",
            "heap_share": 2.0,
            "jdk": "8.0.252",
            "flags": "without -XX:MaxGCPauseMillis=300",
            "product": "cassandra",
            "version": "4.0.1",
        },
    ]


def test_each_of_several_processes_is_told_under_its_name() -> None:
    (jvm,) = sound.measured().processes
    declared = [jvm, Process("gateway"), Process("proxy"), Process("agent", jvm.jvm)]
    (in_jvm,) = sound.node().processes
    reported = (in_jvm, ProcessFingerprint(name="gateway"), in_jvm.model_copy(update={"name": "proxy"}))
    node = sound.node().model_copy(update={"processes": reported})
    (row,) = tables.nodes(sound.measured(fingerprint=sound.fingerprint(node), processes=declared)).to_dict("records")
    assert (row["cassandra: collector"], row["cassandra: flags"]) == ("G1", "all")
    assert (row["gateway: jvm"], row["proxy: jvm"]) == ("none", "OpenJDK 64-Bit Server VM")
    assert (row["agent: collector"], row["agent: jdk"], row["agent: flags"]) == ("unknown", "unknown", "unknown")
    assert isnan(row["agent: heap_share"])


def test_a_process_of_the_first_node_alone_is_unknown_there_and_no_fault_of_others() -> None:
    declared = [Process("regionserver"), Process("master", only_on_first=True)]
    server, master = (ProcessFingerprint(name=one.name) for one in declared)
    nodes = [
        sound.node(name).model_copy(update={"processes": processes})
        for name, processes in (("node1", (server, master)), ("node2", (server,)))
    ]
    table = tables.nodes(sound.measured(fingerprint=sound.fingerprint(*nodes), processes=declared))
    assert [table["master: jvm"][0], *table["master: jvm"].isna()] == ["none", False, True]
    silent = tables.nodes(sound.measured(fingerprint=sound.fingerprint(nodes[1], nodes[1]), processes=declared))
    assert [silent["master: jvm"][0], *silent["master: jvm"].isna()] == ["unknown", False, True]


def test_hosts_are_held_to_their_own_memory_in_the_judged_time() -> None:
    small = sound.node("node1", facts=sound.HOST.model_copy(update={"memory_bytes": 4 * sound.GIB}))
    early = sound.samples().assign(time_s=sound.STARTED_AT.timestamp() + 9, memory_available_bytes=0, cpu_steal=1.0)
    samples = pd.concat([sound.samples(available=(4, 1, 2)).assign(host="node1"), sound.samples(), early])
    table = tables.hosts(
        only_part(sound.definition()), sound.measured(fingerprint=sound.fingerprint(small), samples=samples)
    )
    assert table["host"].tolist() == ["load", "node1"]
    assert table["memory_share"].tolist() == [7 / 16, 1 / 4]
    assert table["steal_share"].tolist() == pytest.approx([0.01 / 3, 0.01 / 3])


def test_without_samples_there_are_no_hosts_but_their_columns() -> None:
    table = tables.hosts(only_part(sound.definition()), sound.measured(samples=pd.DataFrame()))
    assert table.empty
    assert list(table.columns) == ["host", "memory_share", "steal_share", "others_share"]


def test_other_programs_are_told_by_their_busiest_interval() -> None:
    seconds = [sound.STARTED_AT.timestamp() + 10 + second for second in range(-1, 31)]
    busy = [0.0 if second < 21 else 0.4 for second in range(-1, 31)]  # of the judged time's last interval
    samples = pd.DataFrame({"time_s": seconds, "host": "load", "cpu_others": busy})
    samples = samples.assign(memory_available_bytes=sound.GIB, cpu_steal=0.0)
    assert tables.hosts(only_part(sound.definition()), sound.measured(samples=samples))[
        "others_share"
    ].tolist() == pytest.approx([0.4])
    older = tables.hosts(only_part(sound.definition()), sound.measured(samples=samples.drop(columns="cpu_others")))
    assert older["others_share"].isna().all()
