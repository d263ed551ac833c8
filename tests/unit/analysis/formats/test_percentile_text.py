import pytest

from plimsoll.analysis.logs.formats import ReadOptions, RunFile, WholeRun, read_run
from plimsoll.domain.text.errors import LogError

TABLE = """\
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.123     0.000000            1         1.00
       1.050     0.500000          500         2.00
       2.000     0.900000          900        10.00
       3.000     0.990000          990       100.00
       6.200     0.998437          998       640.00
       9.870     1.000000         1000          inf
#[Mean    =        1.120, StdDeviation   =        0.510]
#[Max     =        9.868, Total count    =         1000]
#[Buckets =           27, SubBuckets     =         2048]
"""
CORRECTED = "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    1.05ms\n\n" + TABLE
UNCORRECTED = CORRECTED.replace("Recorded", "Uncorrected").replace("9.868", "5.000")


def test_wrk2s_corrected_table_is_taken_and_the_percentile_is_never_too_low() -> None:
    found = read_run([RunFile("wrk.txt", (CORRECTED + UNCORRECTED).encode())], ReadOptions())
    # Of 1,000 the 999th: the row of the 998th does not reach it.
    values = {50.0: 1.05, 90.0: 2.0, 99.0: 3.0, 99.9: 9.87, 100.0: 9.868}
    assert found.whole_run == (WholeRun("", 1000, values),)
    assert "hide intervals" in found.obstacles[0]
    assert "wrk.txt: wrk2's times count from the schedule (its corrected table is taken)" in found.notes
    assert not any("does not say its unit" in note for note in found.notes)


def test_a_table_that_says_nothing_of_itself_has_its_unit_assumed_or_given() -> None:
    assumed = read_run([RunFile("t.txt", TABLE.encode())], ReadOptions())
    assert "t.txt: does not say its unit; ms is assumed (`--unit`)" in assumed.notes
    assert any("coordinated omission" in note for note in assumed.notes)
    given = read_run([RunFile("t.txt", TABLE.encode())], ReadOptions(unit="us"))
    assert given.whole_run[0].values_ms[50.0] == pytest.approx(0.00105)


def test_a_damaged_row_is_none() -> None:
    found = read_run([RunFile("t.txt", TABLE.replace("1.050", "1.0.50").encode())], ReadOptions())
    assert found.whole_run[0].values_ms[100.0] == 9.868


def test_a_table_cut_short_is_refused() -> None:
    with pytest.raises(LogError, match="no last lines"):
        read_run([RunFile("t.txt", TABLE.partition("#[Mean")[0].encode())], ReadOptions())
