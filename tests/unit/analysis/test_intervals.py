from io import BytesIO

import pandas as pd
import pytest
from tests.unit.analysis.judged_logs import FAST, READS, WRITES, judge, seconds

from plimsoll.analysis.attempt.intervals import IntervalTable

COLUMNS = {
    "start_s": "float64",
    "duration_s": "float64",
    "phase": "str",
    "operation": "str",
    "count": "int64",
    "rate_ops_s": "float64",
    "p50_ms": "float64",
    "p90_ms": "float64",
    "p99_ms": "float64",
    "p99_9_ms": "float64",
    "max_ms": "float64",
    "judged_ms": "float64",
    "met": "boolean",
    "failed": "int64",
}


@pytest.fixture
def table() -> IntervalTable:
    return judge({WRITES: seconds(35, [FAST]), READS: seconds(35, [])}).intervals


def test_the_frame_has_one_column_a_field_whatever_it_holds(table: IntervalTable) -> None:
    for frame in (table.frame(), IntervalTable().frame()):
        assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == COLUMNS


def test_the_frame_holds_the_rows(table: IntervalTable) -> None:
    frame = table.frame()
    assert len(frame) == len(table.rows)
    assert frame[frame["operation"] == "reads"]["p50_ms"].isna().all()
    assert frame["met"].dropna().tolist() == [True, True]


def test_the_frame_survives_parquet(table: IntervalTable) -> None:
    stream = BytesIO()
    table.frame().to_parquet(stream, index=False)
    pd.testing.assert_frame_equal(pd.read_parquet(BytesIO(stream.getvalue())), table.frame())


def test_rows_are_selected_by_phase_and_operation(table: IntervalTable) -> None:
    assert [row.start_s for row in table.select("judged")] == [10.0, 20.0]
    assert [row.count for row in table.select("partial", "writes")] == [5]
    assert table.operations == ("reads", "writes")
