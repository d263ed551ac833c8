"""Which series are judged: no operation is dropped or counted twice, and what is left out is named."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.campaigns.interval_logs import CASSANDRA_STRESS, LATTE, every_second, log

from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.domain.text.errors import LogError

NOSQLBENCH = "logging histograms for session s"


def counted(tag: str, counts: Sequence[int], value: int = 7) -> list[str]:
    """Return records with so many values in each."""
    return list(every_second([[value] * count for count in counts], tag))


def read(*tracks: list[str], comment: str = "", **options: Any) -> Reading:
    lines = [line for lines in tracks for line in lines]
    if comment:  # the maximum as known tools write it
        lines = [line.replace(",0.007,", ",0.000,") for line in lines]
    return read_run([RunFile("app.hlog", log(lines, comment=comment))], ReadOptions(**options))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (counted("a", [49, 50]), counted("b", [52, 50])),  # three were in flight at the end of an interval
        (counted("a", [0, 100]), counted("b", [100, 0])),  # totals count, not intervals
        (counted("a", [100]), counted("b", [50, 49])),  # another number of records
        (counted("x.raw", [10]), counted("x.co-fixed", [50])),  # names count whatever the counts are
        (counted("g1.cycles", [10]), counted("g1.requests", [50])),
        (counted("Intended-READ", [10]), counted("READ", [50])),
        (counted("readIntended", [10]), counted("readActual", [50])),
        (counted("READ_response_time", [10]), counted("READ_service_time", [50])),
    ],
)
def test_two_measures_of_the_same_operations_are_asked_about(first: list[str], second: list[str]) -> None:
    with pytest.raises(LogError, match=r"are they two measures of the same operations\?"):
        read(first, second)


def test_a_total_beside_its_parts_is_asked_about() -> None:
    with pytest.raises(LogError, match=r"\(overall\): and the others together hold equally many values \(30 and 30\)"):
        read(counted("a", [10]), counted("b", [20]), counted("overall", [30]))


@pytest.mark.parametrize(
    "tag",
    [
        "errors",
        "READ-FAILED",
        "read_timeout",
        "readErr",
        "readErrors",
        "read.TIMED_OUT",
        "ReadException",
        "unavailable",
    ],
)
def test_times_of_failures_are_asked_about(tag: str) -> None:
    with pytest.raises(LogError, match=rf"\({tag}\): is named like failures(.|\n)*--tags"):
        read(counted("read", [50]), counted(tag, [5]))
    assert len(read(counted("read", [50]), counted(tag, [5]), tags=("read", tag)).tracks) == 2


def test_tracks_with_other_totals_are_two_operations() -> None:
    assert len(read(counted("a", [50]), counted("b", [60])).tracks) == 2


def test_an_operation_is_never_dropped_for_another_with_a_better_measure() -> None:
    found = read(counted("READ-rt", [9]), counted("READ-st", [9]), counted("WRITE-st", [5]), comment=CASSANDRA_STRESS)
    assert [track.name for track in found.tracks] == ["app.hlog (READ-rt)", "app.hlog (WRITE-st)"]
    assert [(one.name, one.measure, one.count) for one in found.left_out] == [("app.hlog (READ-st)", "service time", 9)]
    assert "app.hlog (WRITE-st): judged on service time: a stall hides" in " ".join(found.notes)


def test_an_operation_with_wait_times_alone_is_refused() -> None:
    with pytest.raises(LogError, match=r"\(WRITE-wt\): holds wait times alone"):
        read(counted("READ-rt", [9]), counted("WRITE-wt", [5]), comment=CASSANDRA_STRESS)


def test_service_times_of_more_operations_than_have_response_times_are_refused() -> None:
    """As where one of two load hosts ran without a schedule: half of the operations would not be judged."""
    first = log([*counted("READ-rt", [50]), *counted("READ-st", [50])], comment=CASSANDRA_STRESS)
    second = log(counted("READ-st", [60]), comment=CASSANDRA_STRESS)
    with pytest.raises(LogError, match="holds 50 operations with response time, but 110 with service time"):
        read_run([RunFile("a.hdr", first), RunFile("b.hdr", second)], ReadOptions())


@pytest.mark.parametrize(
    ("comment", "first", "second"),
    [
        (CASSANDRA_STRESS, "READ-rt", "READ-st"),
        (CASSANDRA_STRESS, "READ-rt", "READ-wt"),
        (CASSANDRA_STRESS, "co-fixed", "raw"),
        (LATTE, "requests", "cycles"),
        ("[Logging for: {}]", "Intended-READ", "READ"),
    ],
)
def test_a_worse_measure_alone_in_a_log_is_asked_about(comment: str, first: str, second: str) -> None:
    """It may be another client's, whose operations would not be judged."""
    ycsb = comment.endswith("{}]")
    files = [
        RunFile(f"{place}/x.hdr", log(counted("" if ycsb else tag, [size]), comment=comment.format(tag)))
        for place, tag, size in (("a", first, 50), ("b", second, 49))
    ]
    with pytest.raises(LogError, match=r"b/x\.hdr.*: holds (service|wait|cycle) time alone, and a/x\.hdr"):
        read_run(files, ReadOptions(unit="ns" if first == "co-fixed" else None))


@pytest.mark.parametrize("other", ["cycles", "requests"])
def test_times_of_single_functions_are_not_added_to_those_of_all(other: str) -> None:
    files = [RunFile(f"{tag}.hdr", log(counted(tag, [9]), comment=LATTE)) for tag in ("fn--read", other)]
    with pytest.raises(LogError, match=r"holds times of a function, and .* those of all functions"):
        read_run(files, ReadOptions())
    assert len(read_run(files, ReadOptions(unit="ns", tags=("fn--read",))).tracks) == 1


def test_prefixes_of_latte_are_runs_of_their_own() -> None:
    found = read(counted("a.requests", [9]), counted("a.cycles", [9]), counted("b.cycles", [9]), comment=LATTE)
    assert [track.name for track in found.tracks] == ["app.hlog (a.requests)", "app.hlog (b.cycles)"]


def test_a_log_of_unknown_name_beside_one_of_plimsolls_may_be_a_second_measure() -> None:
    files = [RunFile(name, log(counted("", [size]))) for name, size in (("r.hdr-intended-selects", 50), ("lat", 49))]
    with pytest.raises(LogError, match="are they two measures of the same operations"):
        read_run(files, ReadOptions())


@pytest.mark.parametrize(
    ("comment", "own", "foreign", "tool"),
    [
        (CASSANDRA_STRESS, "READ-rt", "READ", "cassandra-stress"),
        (LATTE, "requests", "errors", "latte"),
        (NOSQLBENCH, "kv.result", "other.tries", "NoSQLBench"),
    ],
)
def test_a_tag_that_a_tool_does_not_write_is_asked_about(comment: str, own: str, foreign: str, tool: str) -> None:
    tracks = counted(own, [9]), counted(foreign, [5])
    with pytest.raises(LogError, match=rf"app.hlog: {tool} is not known to write {foreign} beside {own}(.|\n)*--tags"):
        read(*tracks, comment=comment)
    assert [track.name for track in read(*tracks, comment=comment, tags=(own,)).tracks] == [f"app.hlog ({own})"]
    with pytest.raises(LogError, match="so the unit of its values is not known either"):
        read(*tracks, comment=comment, tags=(foreign,))
    assert read(*tracks, comment=comment, tags=(foreign,), unit="us").unit.why == "as given (`--unit`)"


def test_functions_of_scylladbs_latte_are_operations() -> None:
    found = read(counted("fn--read", [9]), counted("fn--write", [9]), comment=LATTE)
    assert [(track.name, track.operation) for track in found.tracks] == [
        ("app.hlog (fn--read)", "reads"),
        ("app.hlog (fn--write)", "writes"),
    ]


def test_a_service_time_of_an_unknown_tool_is_called_one() -> None:
    assert any("coordinated omission" in note for note in read(counted("READ-service", [9])).notes)


def test_scylla_bench_is_refused_where_its_times_are_a_thousandth() -> None:
    """As it writes them with hdrhistogram-go from 1.2 on: seconds less milliseconds, as milliseconds."""
    lines = [line.replace(",0.000,1.000,", ",-1793406000.000,0.001,") for line in counted("co-fixed", [9])]
    with pytest.raises(LogError, match="times of a thousandth of their size"):
        read(lines, comment=CASSANDRA_STRESS, unit="ns")
