from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from tests.support.campaigns.interval_logs import (
    CASSANDRA_STRESS,
    LATTE,
    body_of,
    every_second,
    line,
    log,
    packed,
)

from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.analysis.logs.hdr.histograms import Decoder, Ints
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.text.errors import LogError


def tagged(name: str, *tags: str, comment: str = "") -> RunFile:
    per_ms = 10**6 if comment else 1_000
    lines = [one for place, tag in enumerate(tags, 1) for one in every_second([[place]], tag, per_ms=per_ms)]
    return RunFile(name, log(lines, comment=comment))


def stress(*tags: str) -> RunFile:
    return tagged("c.hdr", *tags, comment=CASSANDRA_STRESS)


def stress_log(lines: Iterable[str]) -> bytes:
    return log(lines, comment=CASSANDRA_STRESS)


def plain(name: str, value: int = 1) -> RunFile:
    return RunFile(name, log(every_second([[value]])))


def read(*files: RunFile, **kinds: str) -> Reading:
    return read_run(files, ReadOptions(kinds=kinds))


def operations(*files: RunFile, **kinds: str) -> list[str]:
    return [track.operation for track in read(*files, **kinds).tracks]


def test_few_records_are_decoded_to_read_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded, merge = list[Record](), Decoder.merge_used

    def noted(decoder: Decoder, records: Iterable[Record], name: str) -> Ints:
        decoded.extend(own := list(records))
        return merge(decoder, own, name)

    monkeypatch.setattr(Decoder, "merge_used", noted)
    read(RunFile("run.hdr-intended-selects", log(every_second([[value] for value in range(1, 1001)]))))
    assert len(decoded) < 100  # all are decoded once they are judged


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("run.hdr-intended-mutations", "writes"),
        ("folder/run.hdr-intended-selects", "reads"),
        ("run.hdr-intended-selects.gz", "reads"),
        ("run.hdr-intended-deletions", "writes"),
        ("tlp_stress_metrics_1.hdr-INTENDED-mutations", "writes"),
        ("run.hdr-intended-other", "other"),
        ("reads.hlog", "reads"),
        ("Write.hdr.gz", "writes"),
        ("run.hdr", ""),
    ],
)
def test_a_file_name_tells_the_operation(name: str, operation: str) -> None:
    found = read(plain(name))
    assert [track.operation for track in found.tracks] == [operation]
    whence = f"{name}: does not say whether times count from the schedule or from the send (coordinated omission)"
    assert found.notes == (() if "intended" in name.lower() else (whence,))


def test_reads_and_writes_are_two_tracks_of_one_run() -> None:
    assert operations(plain("r.hdr-intended-mutations"), plain("r.hdr-intended-selects", 2)) == ["writes", "reads"]


def test_of_cassandra_stress_the_response_times_are_judged() -> None:
    found = read(stress("insert-st", "insert-rt", "insert-wt", "head-st", "head-rt", "head-wt"))
    assert [(track.name, track.operation) for track in found.tracks] == [
        ("c.hdr (insert-rt)", "writes"),
        ("c.hdr (head-rt)", "head"),
    ]
    assert found.notes == (
        "judged on response time",
        "cassandra-stress times operations that failed or were tried again like others: errors count as latencies",
    )


def test_further_names_can_be_declared_reads_or_writes() -> None:
    assert operations(stress("head-rt", "add-rt"), head="reads") == ["reads", "add"]
    assert operations(plain("run1.hlog"), run1="reads") == ["reads"]


def test_of_latte_the_requests_are_judged_and_the_missing_correction_is_said() -> None:
    found = read(tagged("l.hlog", "cycles", "requests", comment=LATTE))
    assert [track.name for track in found.tracks] == ["l.hlog (requests)"]
    assert any("coordinated omission" in note for note in found.notes)


def test_service_times_alone_are_judged_with_a_warning() -> None:
    found = read(plain("run.hdr-mutations"))
    assert [track.operation for track in found.tracks] == ["writes"]
    assert found.notes == (
        "judged on service time: a stall hides the operations that were due in it (coordinated omission)",
    )


@pytest.mark.parametrize("other", ["run.hdr-mutations", "run.hdr-selects"])
def test_service_times_beside_response_times_are_refused(other: str) -> None:
    with pytest.raises(LogError, match=rf"{other}: holds service times .*run.hdr-intended-mutations response times"):
        read(plain("run.hdr-intended-mutations"), plain(other, 2))


def test_a_log_of_failures_is_left_out_and_never_judged() -> None:
    errors = tagged("run.hdr.errors", "timeout", "unavailable")
    found = read(plain("run.hdr-intended-selects"), errors)
    assert [track.operation for track in found.tracks] == ["reads"]
    assert found.notes == ("judged on response time",)
    assert [one.sentence for one in found.left_out] == [
        "left out: run.hdr.errors (timeout), time of failures, 1 value",
        "left out: run.hdr.errors (unavailable), time of failures, 1 value",
    ]
    with pytest.raises(LogError, match="neither response nor service times"):
        read(errors)


def test_one_log_given_twice_is_refused() -> None:
    with pytest.raises(LogError, match=r"b\.hlog: holds the same records as a\.hlog"):
        read(plain("a.hlog"), plain("b.hlog"))


@pytest.mark.parametrize(
    ("file", "unit", "why"),
    [
        (stress("insert-rt"), "ns", "cassandra-stress writes ns"),
        (tagged("x", "requests", "cycles", comment=LATTE), "ns", "latte writes ns"),
        (
            RunFile("x", log(every_second([[7]], per_ms=10**6), comment="[plimsoll.stress: reads, microseconds; …]")),
            "us",
            "Plimsoll's load generator wrote the log, and says so in it",
        ),
        (
            RunFile("x", log(every_second([[7]], per_ms=10**6), comment="[Logging for: tlp_1.hdr-INTENDED-READS]")),
            "us",
            "the log says that tlp-stress wrote it, which writes us",
        ),
        (tagged("x", ""), "us", "Interval_Max is the highest value / 10³, which a writer sets for values in us"),
    ],
)
def test_the_unit_is_what_the_writer_is_known_to_write_and_why_is_told(file: RunFile, unit: str, why: str) -> None:
    found = read(file)
    assert found.unit == (unit, why)


@pytest.mark.parametrize("per_ms", [1, 1_000, 10**9])
def test_a_log_that_only_begins_as_a_known_tools_is_asked_about(per_ms: int) -> None:
    """A program that took over cassandra-stress' first comment and tags writes 10^9: its unit could be any."""
    file = RunFile("c.hdr", stress_log(every_second([[5_000_000]], "READ-st", per_ms=per_ms)))
    with pytest.raises(LogError, match=r"c\.hdr \(READ-st\): is not as cassandra-stress writes it(.|\n)*--unit ns"):
        read(file)
    assert read_run([file], ReadOptions(unit="ns")).unit.unit == "ns"


@pytest.mark.parametrize("per_ms", [1, 100, 10**6, 10**9])
def test_a_file_that_only_has_the_name_of_a_known_tools_is_asked_about(per_ms: int) -> None:
    """Values in ms under such a name would be judged a thousandth of what they are."""
    file = RunFile("run.hdr-intended-selects", log(every_second([[150]], per_ms=per_ms)))
    with pytest.raises(LogError, match="does not say in which unit"):
        read(file)
    assert read_run([file], ReadOptions(unit="ms")).unit.unit == "ms"


def test_a_log_without_values_has_the_unit_of_those_beside_it() -> None:
    empty = RunFile("deletes.hlog", log(every_second([[]])))
    assert read(empty, plain("selects.hlog")).unit.unit == "us"
    with pytest.raises(LogError, match="has no value"):
        read(empty)


def test_a_unit_that_is_given_is_taken_where_the_writer_is_not_known() -> None:
    found = read_run([RunFile("x", log(every_second([[7]], per_ms=10**6)))], ReadOptions(unit="ms"))
    assert found.unit == ("ms", "as given (`--unit`)")


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (tagged("x", ""), "x: taken to be in ns as given, but Interval_Max is the highest value / 10³"),
        (plain("run.hdr-selects"), "run.hdr-selects: taken to be in ns as given, but Plimsoll and tlp-stress write us"),
    ],
)
def test_a_unit_that_is_given_against_what_the_log_shows_is_remarked(file: RunFile, why: str) -> None:
    found = read_run([file], ReadOptions(unit="ns"))
    assert found.unit.unit == "ns"
    assert any(note.startswith(why) for note in found.notes)


def test_a_unit_that_is_given_against_a_known_writer_is_refused() -> None:
    with pytest.raises(
        LogError, match=r"its values are in ns, not in us: cassandra-stress writes ns(.|\n)*--format hdr"
    ):
        read_run([stress("insert-rt")], ReadOptions(unit="us"))
    assert read_run([stress("insert-rt")], ReadOptions(unit="us"), "hdr").unit.unit == "us"
    assert read_run([stress("insert-rt")], ReadOptions(unit="ns")).unit.why == "cassandra-stress writes ns"


def test_cassandra_stress_without_a_fixed_rate_has_no_response_times_and_that_is_said() -> None:
    found = read(stress("insert-st", "head-st"))
    assert [track.operation for track in found.tracks] == ["writes", "head"]
    assert "no response times: cassandra-stress writes them with `-rate fixed=` only" in found.notes


def from_javascript() -> RunFile:
    """Write one as HdrHistogramJS does: 1 in the field normalizingIndexOffset, and the maximum divided by 1,000."""
    return RunFile("app.hlog", log([line(0, 1, packed(body_of([90], offset=1)))]))


def in_unit(per_ms: int, values: list[list[int]], tag: str = "") -> RunFile:
    return RunFile("app.hlog", log(every_second(values, tag, per_ms=per_ms)))


@pytest.mark.parametrize(
    "values",
    [
        [[40_000, 90_000], [], [55_000]],
        [[1]],
    ],
)
def test_a_maximum_divided_by_a_thousand_says_that_the_log_is_in_us(values: Any) -> None:
    assert read(in_unit(1_000, values)).unit.unit == "us"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            in_unit(1, [[90], [40]]),
            "app.hlog: does not say in which unit .* is 90 beside values up to 90, which is the value itself",
        ),
        (in_unit(10**6, [[40_000_000, 90_000_000], []]), "most writers divide by 10⁶ whatever the unit is"),
        (in_unit(10**6, [[700], [90_000]]), "most writers divide by 10⁶ whatever the unit is"),
        (from_javascript(), "HdrHistogramJS, which seems to have written it, divides by 10³ whatever the unit is"),
        (in_unit(1_000, [[]]), r"no value, or no Interval_Max"),
        (RunFile("app.hlog", log(every_second([[9]])).replace(b"0.009", b"x")), "no value, or no Interval_Max"),
        (RunFile("app.hlog", log([*every_second([[9]]), *every_second([[9_000_000]], per_ms=10**6)])), "fits no unit"),
    ],
)
def test_where_histogram_and_maximum_do_not_agree_the_unit_is_asked_for(file: RunFile, message: str) -> None:
    with pytest.raises(LogError, match=rf"(?s){message}.*--unit ns"):
        read(file)
    assert read_run([file], ReadOptions(unit="ms")).unit.unit == "ms"


def test_a_log_beside_another_is_asked_about_as_well() -> None:
    other = RunFile("reads.hlog", log(every_second([[5_000_000]], per_ms=10**6)))
    with pytest.raises(LogError, match=r"reads\.hlog: does not say in which unit"):
        read(plain("writes.hlog", 7_000), other)


def two_tags(first: str, second: str, counts: tuple[int, int] = (3, 3)) -> RunFile:
    one, other = ([[value] * count for value in (1_000, 2_000)] for count in counts)
    return RunFile("app.hlog", log([*every_second(one, first), *every_second(other, second)]))


@pytest.mark.parametrize("tags", [("READ-response", "READ-service"), ("READ", "READ-service"), ("a", "b")])
def test_tags_that_look_like_two_measures_of_the_same_operations_are_asked_about(tags: Any) -> None:
    with pytest.raises(LogError, match=r"are they two measures of the same operations\?(.|\n)*`--tags NAME`"):
        read(two_tags(*tags))
    chosen = read_run([two_tags(*tags)], ReadOptions(tags=tags[:1]))
    assert [track.operation for track in chosen.tracks] in ([tags[0]], ["reads"])
    assert len(read_run([two_tags(*tags)], ReadOptions(tags=tags)).tracks) == 2


def test_files_are_asked_about_like_tags() -> None:
    with pytest.raises(LogError, match="two measures"):
        read(plain("response.hlog", 2_000), plain("service.hlog", 1_000))
    assert operations(plain("get.hlog", 2_000), plain("put.hlog", 1_000), get="reads", put="writes") == [
        "reads",
        "writes",
    ]


def test_tags_with_other_counts_and_operations_that_are_known_are_judged_together() -> None:
    assert operations(two_tags("a", "b", (3, 4))) == ["a", "b"]
    assert operations(two_tags("read", "insert")) == ["reads", "writes"]
    assert operations(two_tags("scan-a", "put"), **{"scan-a": "reads", "put": "writes"}) == ["reads", "writes"]


def test_a_tag_that_there_is_not_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(LogError, match=r"no record has the tag 'READ-respons'(.|\n)*did you mean 'READ-response'\?"):
        read_run([two_tags("READ-response", "READ-service")], ReadOptions(tags=("READ-respons",)))


def of_stress(values: list[list[int] | None], tag: str) -> list[str]:
    """Write lines as cassandra-stress does: without the records of seconds in which nothing ended."""
    lines = list(every_second([one or [] for one in values], tag, per_ms=10**6))
    return [line for line, one in zip(lines, values, strict=True) if one is not None]


def test_of_cassandra_stress_records_that_are_left_out_are_empty_ones() -> None:
    reads = of_stress([[1], None, None, [2_000_000], [1], [1]], "READ-rt")
    writes = of_stress([None, [1], [1], None, [1], None], "WRITE-rt")
    found = read(RunFile("c.hdr", stress_log([*reads, *writes])))
    begins = [[record.start_s - found.tracks[0].records[0].start_s for record in one.records] for one in found.tracks]
    assert begins == [pytest.approx([0, 1, 2, 3, 4, 5], abs=0.01)] * 2
    counts = [[int(Decoder("ns").merge([record], "").sum()) for record in one.records] for one in found.tracks]
    assert counts == [[1, 0, 0, 1, 1, 1], [0, 1, 1, 0, 1, 0]]


def test_of_cassandra_stress_a_clock_that_was_set_meanwhile_is_refused_and_nothing_is_filled_in() -> None:
    lines = [
        line.replace(",3.000,1.000", ",1700000000.000,1.000")
        for line in every_second([[1]] * 4, "READ-rt", per_ms=10**6)
    ]
    with pytest.raises(LogError, match=r"spans 1,700,000,00\d s in records of 1 s, more than 1,000,000 records"):
        read(RunFile("c.hdr", stress_log(lines)))


def test_of_cassandra_stress_a_last_record_of_several_seconds_is_no_interval() -> None:
    """Its reporter was behind by 2.7 s when the run ended, and wrote them as one."""
    late = [
        one.replace(",1.000,", ",2.700,")
        for one in [*every_second([[], [], [], [], [7, 8]], "READ-rt", per_ms=10**6)][-1:]
    ]
    lines = [*of_stress([[1], [1], [1], [1]], "READ-rt"), *of_stress([[1], [1], None, [1]], "WRITE-rt"), *late]
    found = read(RunFile("c.hdr", stress_log(lines)))
    assert [[record.length_s for record in one.records] for one in found.tracks] == [[1.0] * 4] * 2
    assert (
        "c.hdr: the run's end came while its last 2.700 s were not written yet: they are left out, 2 values"
        in found.notes
    )


def test_of_cassandra_stress_what_was_written_late_costs_the_run_nothing_beyond_its_judged_time() -> None:
    late = [
        one.replace(",1.000,", ",2.700,")
        for one in [*every_second([[], [], [], [], [], [], [7]], "READ-rt", per_ms=10**6)][-1:]
    ]
    data = stress_log([*of_stress([[1]] * 6, "READ-rt"), *late])
    level = ServiceLevel.model_validate({"interval": "1s"})
    second = timedelta(seconds=1)
    assert judge_logs({"c.hdr": data}, Run(second, 6 * second), [level]).valid
    short = judge_logs({"c.hdr": data}, Run(second, 8 * second), [level])
    assert short.reasons == ("only 5 of 7 intervals of 1s are covered by the logs",)


def test_times_beyond_any_calendar_have_no_date() -> None:
    data = log(every_second([[1]] * 3)).replace(b"1795201196.500", b"9795201196000.500")
    found = read(RunFile("app.hlog", data))
    assert (len(found.tracks), found.started_at) == (1, None)


def test_any_other_gap_stays_one() -> None:
    lines = [line.replace(",3.000,1.000", ",4.400,1.000") for line in every_second([[1]] * 4, "READ-rt", per_ms=10**6)]
    (track,) = read(RunFile("c.hdr", stress_log(lines))).tracks
    assert len(track.records) == 4
