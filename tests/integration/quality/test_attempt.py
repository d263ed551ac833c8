"""The attempt's suites on real Great Expectations: a sound attempt passes, each fault is found and named."""

from datetime import timedelta
from typing import Any

import pandas as pd
import pytest
from tests.support.campaigns import sound_attempt as sound
from tests.support.resolved import only_part

from plimsoll.analysis.attempt.judgement import MissedInterval
from plimsoll.domain.attempt.result import OpeningBacklog
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.quality.attempt_checks import check_attempt
from plimsoll.quality.miss_cause import NO_CAUSE


def check(**changes: Any) -> Any:
    return check_attempt(only_part(sound.definition()), sound.CELL, sound.measured(**changes))


def failed(quality: Any) -> dict[str, str]:
    return {one.name: one.observed for one in quality.checks if not one.success}


def spoilt(row: int, column: str, value: Any) -> pd.DataFrame:
    table = sound.intervals()
    table.loc[row, column] = value
    return table


def test_a_sound_attempt_passes_every_check_and_tells_what_it_saw() -> None:
    quality = check()
    assert failed(quality) == {}
    assert quality.reasons == quality.warnings == ()
    seen = {one.name: one.observed for one in quality.checks}
    assert len(seen) == len(quality.checks)
    assert seen["intervals"] == "3"
    assert seen["operations"] == "10000"
    assert seen["p50_ms ≤ p90_ms"] == "all 12 rows"
    assert seen["rate"] == "100.00% of it"
    assert seen["load generator"] == "nobody"
    assert seen["generator's CPU"] == "25.0%"
    assert seen["collector"] == "G1"
    assert seen["memory"] == "43.8%"


@pytest.mark.parametrize(
    ("row", "column", "value", "fault", "found"),
    [
        (3, "count", 0, "operations", "0 (10)"),
        (6, "start_s", 21.0, "gaps", "1 s (21), -1 s (30)"),
        (6, "duration_s", 7.0, "coverage", "7 s (20)"),
        (6, "duration_s", None, "intervals known", "1"),
        (3, "p50_ms", 3.0, "p50_ms ≤ p90_ms", "2 < 3 (10 all)"),
        (4, "p99_9_ms", 20.0, "p99_9_ms ≤ max_ms", "12 < 20 (10 reads)"),
        (5, "p99_ms", None, "percentiles known", "1"),
    ],
)
def test_a_wrong_interval_is_found_and_named(row: int, column: str, value: Any, fault: str, found: str) -> None:
    quality = check(intervals=spoilt(row, column, value))
    assert failed(quality)[fault] == found
    assert any(reason.startswith(f"{fault}:") for reason in quality.reasons)


def test_a_missing_interval_is_found() -> None:
    quality = check(intervals=sound.intervals().query("start_s != 20"))
    assert failed(quality) == {"intervals": "2", "gaps": "10 s (30)"}
    assert quality.reasons[0] == "intervals: expected 3 judged intervals of 10s, observed 2"


def test_an_attempt_without_any_interval_is_invalid() -> None:
    quality = check(intervals=sound.intervals().iloc[:0])
    assert {"intervals", "intervals known", "percentiles known", "rate"} <= set(failed(quality))
    assert quality.reasons


def slow(**changes: Any) -> Any:
    """Return a load of two thirds of the attempted rate."""
    table = sound.intervals()
    table["count"] = table["count"] * 2 // 3
    return check(intervals=table, summary=sound.summary(operations={"reads": 4000, "writes": 16_000}, **changes))


def test_a_database_that_cannot_keep_up_is_a_result() -> None:
    quality = slow(in_flight_max=100)
    assert quality.reasons == ()
    assert quality.warnings == ("rate: expected achieved within 1% of attempted, observed 66.66% of it",)


def test_a_load_generator_that_cannot_keep_up_is_not() -> None:
    quality = slow(in_flight_max=100, schedule_lag_p99_ms=1500.0)
    assert failed(quality)["load generator"] == "load generator"
    assert [reason.partition(":")[0] for reason in quality.reasons] == ["load generator", "schedule lag", "rate"]


WRONG = "the timed run: reads failed as `other` 60 times, first: SyntaxError: no viable alternative — SELEC 1"


def test_operations_that_nobody_can_account_for_are_no_result() -> None:
    assert failed(slow())["load generator"].startswith(NO_CAUSE)


def test_failed_queries_of_an_overloaded_database_are_a_result() -> None:
    quality = check(summary=sound.summary(errors={"write_timeout": 60}))
    assert failed(quality) == {"errors": "0.200%"}
    assert quality.reasons == ()
    assert failed(check(summary=sound.summary(errors={"write_timeout": 29}))) == {}


def test_failed_queries_of_a_broken_set_up_are_not() -> None:
    assert check(summary=sound.summary(errors={"connection": 60})).reasons == ()
    quality = check(summary=sound.summary(errors={"other": 60}, failures=(WRONG,)))
    assert set(failed(quality)) == {"errors", "foreign errors"}
    assert len(quality.reasons) == 1


@pytest.mark.parametrize(
    ("changes", "faults", "invalid"),
    [
        ({"operations": {"reads": 6600, "writes": 23_400}}, {"mix"}, True),
        ({"complete": False, "reason": "the process was killed"}, {"load"}, True),
        ({"cpu_cores": 1.9}, {"generator's CPU"}, False),
        ({"schedule_lag_p99_ms": 12.0}, {"schedule lag"}, False),
        ({"hiccup_max_ms": 150.0}, {"generator's hiccups"}, False),
        (
            {"cpu_cores": None, "schedule_lag_p99_ms": None, "hiccup_max_ms": None},
            {"generator's CPU", "schedule lag", "generator's hiccups"},
            False,
        ),
    ],
)
def test_the_load_generators_own_account_is_held_against_it(
    changes: dict[str, Any], faults: set[Any], invalid: bool
) -> None:
    quality = check(summary=sound.summary(**changes))
    assert set(failed(quality)) == faults
    assert bool(quality.reasons) is invalid


MISSED = (MissedInterval(10.0, 20.0, 140.0, 110.0),)


def test_a_miss_that_may_be_the_generators_own_is_no_result() -> None:
    stood = GeneratorSecond(sound.STARTED_AT + timedelta(seconds=15), 150.0, 0.0, 0.5)
    quality = check(missed=MISSED, seconds=[stood])
    assert [reason.partition(":")[0] for reason in quality.reasons] == ["disturbed"]
    assert check(missed=MISSED).reasons == ()


def test_a_met_attempt_stays_met_however_much_noise_there_was() -> None:
    stolen = sound.samples(steal=(0.9, 0.9, 0.9))
    assert check(samples=stolen).reasons == ()
    assert [reason.partition(":")[0] for reason in check(samples=stolen, missed=MISSED).reasons] == [
        "disturbed",
        "steal",
    ]


def test_the_worst_facts_come_first_and_gross_ones_are_reasons_of_an_invalid_attempt() -> None:
    """A cell was invalid for 0.102 % foreign errors alone, with everything else among its warnings."""
    table = sound.intervals()
    table["count"] = table["count"] * 287 // 1000
    operations, errors = {"reads": 1722, "writes": 6888}, {"read_timeout": 9000, "other": 30}
    taken = sound.samples().assign(cpu_others=0.72)
    quality = check(
        intervals=table,
        summary=sound.summary(operations=operations, errors=errors, in_flight_max=100, failures=(WRONG,)),
        samples=taken,
    )
    assert [reason.partition(":")[0] for reason in quality.reasons] == [
        "errors", "rate", "other programs", "foreign errors",
    ]  # fmt: skip
    assert quality.warnings == ()
    without = {kind: count for kind, count in errors.items() if kind != "other"}
    valid = check(
        intervals=table, summary=sound.summary(operations=operations, errors=without, in_flight_max=100), samples=taken
    )
    assert valid.reasons == ()
    assert [warning.partition(":")[0] for warning in valid.warnings] == ["errors", "rate", "other programs"]


def test_a_node_that_was_down_is_told_with_its_reason() -> None:
    reason = "node2 is not running: <init> failed"
    quality = check(nodes_down=(reason,))
    assert failed(quality) == {"nodes up": reason}
    assert "&lt;init&gt; failed" in quality.data_docs["index.html"].decode()
    assert "<init>" not in quality.data_docs["index.html"].decode()


@pytest.mark.parametrize(
    ("changes", "fault", "found"),
    [
        ({"collector": "Shenandoah"}, "collector", "Shenandoah (node2)"),
        ({"collector": None}, "collector", "unknown (node2)"),
        ({"heap_max_bytes": sound.GIB}, "heap", "200.0% of it (node2)"),
        ({"version": "11.0.14+1"}, "JDK", "11.0.14 (node2)"),
        ({"arguments": ()}, "JVM flags", "without -XX:MaxGCPauseMillis=300 (node2)"),
    ],
)
def test_an_environment_other_than_defined_is_found(changes: dict[str, Any], fault: str, found: str) -> None:
    nodes = (sound.node("node1"), sound.node("node2", **changes), sound.node("node3"))
    quality = check(fingerprint=sound.fingerprint(*nodes))
    assert failed(quality) == {fault: found}
    assert len(quality.reasons) == 1


def test_a_missing_node_and_another_database_are_found() -> None:
    nodes = (sound.node("node1"), sound.node("node2", release="4.1.0"))
    assert failed(check(fingerprint=sound.fingerprint(*nodes))) == {"nodes": "2", "database version": "4.1.0 (node2)"}


@pytest.mark.parametrize(
    ("changes", "faults", "invalid"),
    [
        ({"available": (8.0, 0.1, 8.0)}, {"memory": "0.6% (load)"}, True),
        ({"steal": (0.3, 0.1, 0.2)}, {"steal": "20.0% (load)"}, False),
    ],
)
def test_an_overcommitted_host_is_found(changes: dict[str, Any], faults: dict[str, Any], invalid: bool) -> None:
    quality = check(samples=sound.samples(**changes))
    assert failed(quality) == faults
    assert bool(quality.reasons) is invalid


def test_hosts_that_were_not_sampled_are_warned_of() -> None:
    quality = check(samples=pd.DataFrame())
    assert failed(quality) == {"samples": "nothing known"}
    assert quality.reasons == ()
    untested = {one.name for one in quality.checks if one.result == "not tested"}
    assert untested == {"samples", "memory", "steal", "other programs", "warm-up's backlog"}
    assert quality.warnings == (
        "samples: expected figures of the hosts during the judged time, not tested: nothing known",
    )


def test_a_check_that_could_not_be_made_is_not_shown_as_passed() -> None:
    page = check(samples=pd.DataFrame()).data_docs["index.html"].decode()
    usual = check().data_docs["index.html"].decode()
    assert "5 could not be tested: warm-up" in page
    assert page.count('class="untested"') == page.count(">not tested<") == 5
    assert usual.count('class="untested"') == 2
    assert 'class="failed"' not in page


def test_figures_that_must_be_known_make_an_attempt_invalid_where_they_are_not() -> None:
    quality = check(summary=sound.summary(operations={}))
    (mix,) = (one for one in quality.checks if one.name == "mix")
    assert (mix.result, mix.success) == ("not tested", False)
    assert any(reason.startswith("mix: ") for reason in quality.reasons)


def test_other_programs_on_a_host_are_warned_of() -> None:
    seconds = [sound.STARTED_AT.timestamp() + 11 + second for second in range(30)]
    samples = pd.DataFrame({"time_s": seconds, "host": "node1", "cpu_others": [0.0] * 20 + [0.31] * 10})
    samples = samples.assign(memory_available_bytes=8 * sound.GIB, cpu_steal=0.0)
    quality = check(samples=samples)
    assert failed(quality) == {"other programs": "31.0% (node1)"}
    assert quality.reasons == ()
    assert failed(check(samples=samples.assign(cpu_others=0.049))) == {}


def test_a_judged_time_that_begins_with_a_backlog_is_warned_of() -> None:
    backlog = OpeningBacklog(in_flight=100, unsent=3500, seconds=3.6)
    quality = check(opening_backlog=backlog)
    assert failed(quality) == {"warm-up's backlog": "3.6 s"}
    assert quality.reasons == ()
    assert failed(check(opening_backlog=OpeningBacklog(in_flight=9, unsent=0, seconds=0.009))) == {}
