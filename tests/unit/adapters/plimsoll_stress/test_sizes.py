"""A size of the data instead of a number of rows."""

from typing import Any

import pytest
from tests.unit.adapters.plimsoll_stress.workloads import NUMBERED, cql, people, reads

from plimsoll.domain.keys.workload import Workload


def test_rows_are_counted_from_a_size_where_the_workload_has_a_number_of_them(found: Any) -> None:
    assert found({"name": "StandardRow", "data_per_node": "5G"}) == []
    assert found({"name": "YcsbA", "data_per_node": "5G", "fieldcount": 2}) == []


def test_a_size_and_a_number_of_rows_are_one_too_many(found: Any) -> None:
    (problem,) = found({"name": "YcsbA", "data_per_node": "5G", "recordcount": "1M"})
    assert problem.startswith(
        "workload.recordcount: 'recordcount' and `data_per_node` both say how many rows there are"
    )


def test_a_size_needs_rows_that_can_be_counted(found: Any) -> None:
    (problem,) = found({"name": "BatchedRows", "data_per_node": "5G"})
    assert problem.startswith(
        "workload.data_per_node: BatchedRows populates no rows that could be counted from a size (leave it out; "
        "these populate: BasicTimeSeries, KeyValue, TimeSeries, Tabular, StandardRow, YcsbA"
    )


def test_time_series_have_a_size_or_rows_of_each_thread(found: Any) -> None:
    assert found({"name": "BasicTimeSeries", "data_per_node": "5G"}) == []
    (problem,) = found({"name": "BasicTimeSeries", "data_per_node": "5G", "populate": 1000})
    assert problem.startswith("workload.populate: 'populate' and `data_per_node` both say how many rows there are")


@pytest.mark.parametrize("bind", [NUMBERED, {"distribution": "now"}])
@pytest.mark.parametrize("rows", [{"rows": "1M"}, {"data_per_node": "5G"}])
def test_own_rows_are_numbered_up_to_the_last_one_however_many_there_are(found: Any, bind: Any, rows: Any) -> None:
    assert found(people(bind, **rows)) == []


def test_own_rows_for_a_size_must_not_overwrite_each_other(found: Any) -> None:
    (problem,) = found(people({"distribution": "sequence", "max": "1M"}, data_per_node="5G"))
    assert problem.startswith("workload.population.bind: no marker distinguishes the counted rows")
    assert "{distribution: sequence, max: rows}" in problem


def test_own_rows_for_a_size_need_a_statement_that_writes_them(found: Any) -> None:
    (problem,) = found(cql(reads(), data_per_node="5G"))
    assert problem.startswith("workload.population: is missing: how a row is populated")


def test_a_last_row_needs_rows(found: Any) -> None:
    assert [one.partition(": ")[0] for one in found(people(NUMBERED))] == ["workload.rows"]


def test_a_definition_without_a_size_is_stored_as_ever() -> None:
    assert "data_per_node" not in Workload(name="YcsbA").model_dump(mode="json")
    sized = Workload.model_validate({"name": "YcsbA", "data_per_node": "5G"})
    assert sized.model_dump(mode="json")["data_per_node"] == "5G"
    assert Workload.model_validate(sized.model_dump(mode="json")) == sized
