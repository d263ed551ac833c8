"""A definition's workload, held against what the load generator says of itself."""

from typing import Any

import pytest
from tests.unit.adapters.one_variant import one_variant
from tests.unit.adapters.plimsoll_stress.workloads import cql, reads

from plimsoll.adapters.generators.plimsoll_stress.catalogue import shares
from plimsoll.domain.keys.workload import Workload


def test_an_old_workload_is_fine(found: Any) -> None:
    assert found({"read_share": 0.2, "partitions": "100M", "populate": 200000}) == []


def test_a_misspelt_workload_is_told_with_the_one_that_was_meant(found: Any) -> None:
    (problem,) = found({"name": "BasicTimeSerie"})
    assert problem.startswith("workload.name: 'BasicTimeSerie' is no workload")
    assert "BasicTimeSeries" in problem


def test_a_key_that_is_no_option_is_told_with_the_one_that_was_meant(found: Any) -> None:
    (problem,) = found({"read_shar": 0.2})
    assert problem.startswith("workload.read_shar: BasicTimeSeries has no such option")
    assert "read_share" in problem


def test_a_service_level_of_operations_that_the_workload_does_not_have_is_told(found: Any) -> None:
    (problem,) = found({}, service_levels=[{"operations": "scans"}])
    assert problem.startswith("service_levels[0].operations: BasicTimeSeries has no operations called 'scans'")
    assert "reads" in problem


def test_shares_are_those_of_the_definition() -> None:
    assert shares(Workload(read_share=0.3)) == {"writes": 0.7, "reads": 0.3}


def test_a_stored_definition_of_another_workload_has_no_keys_of_basic_time_series() -> None:
    dumped = one_variant(workload={"name": "Other", "rows": "1M"}).model_dump(mode="json")["workload"]
    assert dumped == {"name": "Other", "consistency": "LOCAL_ONE", "replication_factor": 3, "rows": "1M"}
    assert one_variant(workload=dumped).model_dump(mode="json")["workload"] == dumped


def test_a_stored_definition_of_basic_time_series_is_as_it_was() -> None:
    assert list(one_variant().model_dump(mode="json")["workload"]) == [
        "name",
        "read_share",
        "partitions",
        "partition_generator",
        "populate",
        "consistency",
        "replication_factor",
    ]


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ({"name": "YcsbA"}, {"reads": 0.5, "updates": 0.5}),
        ({"name": "YcsbE", "scanproportion": 0.5, "insertproportion": 0.5}, {"scans": 0.5, "inserts": 0.5}),
        ({"name": "YcsbF"}, {"reads": 0.5, "read-modify-writes": 0.5}),
        ({"name": "TimeSeries"}, {"reads": 0.1, "writes": 0.9}),
        ({"name": "StandardRow", "read": 3, "write": 1}, {"writes": 0.25, "reads": 0.75}),
        ({"name": "BatchedRows"}, {"batches": 1.0}),
        (cql(reads(share=0.25), reads(name="writes", share=0.75)), {"reads": 0.25, "writes": 0.75}),
    ],
)
def test_shares_of_every_kind_of_workload(workload: Any, expected: Any) -> None:
    told = shares(Workload.model_validate(workload))
    assert {name: share for name, share in told.items() if share} == pytest.approx(expected)


def test_an_option_out_of_range_is_told(found: Any) -> None:
    (problem,) = found({"name": "YcsbA", "recordcount": 0})
    assert problem.startswith("workload.recordcount: 0 is less than 1")
    (problem,) = found({"name": "YcsbA", "requestdistribution": "zipf"})
    assert "one of uniform, zipfian, latest" in problem


def test_an_option_of_another_workload_is_told(found: Any) -> None:
    (problem,) = found({"name": "YcsbA", "read_share": 0.5})
    assert problem.startswith("workload.read_share: YcsbA has no such option")


def test_a_service_level_of_scans_needs_scans(found: Any) -> None:
    assert found({"name": "YcsbE"}, service_levels=[{}, {"operations": "scans"}]) == []
    assert "no operations called 'scans'" in found({"name": "YcsbA"}, service_levels=[{"operations": "scans"}])[0]


@pytest.mark.parametrize(
    ("workload", "mend"),
    [
        ({"name": "KeyValue", "reads": 0, "writes": 0}, "give `reads` or `writes` a weight above 0"),
        ({"name": "YcsbC", "readproportion": 0}, "give `readproportion` or `updateproportion` or"),
        ({"name": "BatchedRows", "batches": 0}, "give `batches` or `reads` a weight above 0"),
    ],
)
def test_a_workload_that_asks_for_nothing_is_told(found: Any, workload: Any, mend: str) -> None:
    (problem,) = found(workload)
    assert problem.startswith("workload: asks for neither reads nor writes")
    assert mend in problem


def test_a_load_beyond_what_the_program_sends_is_told(found: Any) -> None:
    assert found({}, loads=["10M/s"]) == []
    (problem,) = found({}, loads=["100/s", "10001k/s"])
    assert problem == "loads: 10001000/s is more than plimsoll-stress sends (at most 10000000/s)"


def test_batched_rows_may_be_the_published_ones(found: Any) -> None:
    assert found({"name": "BatchedRows", "batch": "logged", "batch_rows": 200, "prepared": False}) == []
