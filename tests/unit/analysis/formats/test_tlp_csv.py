"""tlp-stress' CSV as Azul modified it: 31 columns below a line of group names that is too short for them."""

import pytest
from tests.support.campaigns.interval_logs import every_second, log

from plimsoll.analysis.logs.formats import ReadOptions, RunFile, WholeRun, read_run
from plimsoll.domain.text.errors import LogError

COLUMNS = (
    "Count,Latency (min),Latency (p50),Latency (p90),Latency (p99),Latency (p99.9),Latency (p99.99),Latency (max),"
)
HEAD = (
    ",,Mutations,,,Reads,,,Deletes,,,Errors,\n"
    f"Timestamp, Elapsed Time,{(COLUMNS + '1min (req/s),') * 3}Count,1min (errors/s)\n"
)
NONE = "0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0"


def row(second: int, writes: int, reads: int, errors: int) -> str:
    times = "0.1,0.5,0.9,2.0,{},30.0,40.0,100.0"
    at = f"2021-11-09T20:02:{second:02d}.463608846Z"
    return f"{at},{85 + second},{writes},{times.format(12.5)},{reads},{times.format(20.5)},{NONE},{errors},0.0\n"


def table(head: str) -> RunFile:
    rows = row(0, 300, 75, 0) + row(3, 600, 150, 1) + row(6, 900, 225, 2)
    return RunFile("metrics.csv", (head + HEAD + rows).encode())


AZUL = table("# tlp-stress run at Tue Nov 09 20:01:33 UTC 2021\n# run BasicTimeSeries --populate 200000 --rate 20k\n")
OURS = table("# plimsoll.stress run at 2026-01-31T12:00:00Z\n")


def test_azuls_columns_are_told_apart_and_can_not_be_judged() -> None:
    found = read_run([AZUL], ReadOptions())
    assert found.samples == ()
    assert "percentiles (p50, p90, p99, p99.9, p99.99, max) are service times from a reservoir" in found.obstacles[0]
    assert found.whole_run == (WholeRun("writes", 900), WholeRun("reads", 225))
    assert found.errors == {"errors": 2}
    assert any("populating (200000 a thread) counts in Elapsed Time, which is 85 s" in note for note in found.notes)
    assert "metrics.csv: 125.0 ops/s from its first row to its last, from cumulative counts" in found.notes


def test_beside_the_histogram_logs_of_its_run_it_tells_the_errors() -> None:
    times = RunFile("metrics.hdr-intended-mutations", log(every_second([[5], [6]])))
    csv = RunFile(AZUL.name, AZUL.data.replace(b"2021-11-09T20:02", b"2026-11-20T19:00"))
    found = read_run([times, csv], ReadOptions())
    assert found.title == "HdrHistogram interval log with tlp-stress CSV"
    assert [track.operation for track in found.tracks] == ["writes"]
    assert (found.errors, found.obstacles) == ({"errors": 2}, ())


def test_plimsolls_own_percentiles_are_of_each_rows_own_seconds() -> None:
    found = read_run([OURS], ReadOptions())
    assert [(one.operation, one.count, one.length_s) for one in found.samples] == [
        ("writes", 300, 3.0),
        ("reads", 75, 3.0),
    ] * 3
    assert found.samples[0].values_ms == {50.0: 0.5, 90.0: 0.9, 99.0: 2.0, 99.9: 12.5, 99.99: 30.0, 100.0: 40.0}
    assert found.obstacles == ()


def test_a_row_that_is_none_is_refused() -> None:
    broken = RunFile("metrics.csv", AZUL.data.replace(b",600,", b",six hundred,"))
    with pytest.raises(LogError, match="a row that is none of tlp-stress'"):
        read_run([broken], ReadOptions())


def test_a_last_row_cut_short_is_left_out_and_named() -> None:
    cut = RunFile("metrics.csv", AZUL.data[:-90])
    found = read_run([cut], ReadOptions())
    assert found.whole_run == (WholeRun("writes", 600), WholeRun("reads", 150))
    assert any("the last row is cut short" in note for note in found.notes)


@pytest.mark.parametrize("content", [b"", b"one line", b"a,b\nc,d\n\0\n", b"{}\n[]\n1,2,3,4\n"])
def test_whatever_is_forced_to_be_one_is_refused_and_no_more(content: bytes) -> None:
    with pytest.raises(LogError):
        read_run([RunFile("x", content)], ReadOptions(), "tlp-csv")


def test_a_head_without_rows_is_refused() -> None:
    with pytest.raises(LogError, match="holds no rows"):
        read_run([RunFile("metrics.csv", HEAD.encode())], ReadOptions())
