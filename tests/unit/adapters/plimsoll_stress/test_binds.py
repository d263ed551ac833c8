"""What is bound to a marker must fit its column and make sense."""

from typing import Any

import pytest
from tests.unit.adapters.plimsoll_stress.workloads import bound, cql, reads


@pytest.mark.parametrize(
    ("column", "bind", "said"),
    [
        ("tiny", {"distribution": "uniform", "max": 1000}, "1000 does not fit the type tinyint: -128 to 127"),
        ("tiny", {"distribution": "fixed", "value": 128}, "128 does not fit the type tinyint"),
        ("small", {"distribution": "zipfian", "max": "40k"}, "40000 does not fit the type smallint"),
        ("n", {"distribution": "sequence", "max": "3G"}, "3000000000 does not fit the type int"),
        ("n", {"distribution": "uniform", "max": 9, "as": "hash"}, "does not fit the type int"),
        (
            "n",
            {"distribution": "fixed", "value": 9, "as": "letters"},
            "letters, where values of the type int are needed",
        ),
        (
            "n",
            {"distribution": "fixed", "value": 9, "prefix": "a"},
            "a text with a prefix, where values of the type int",
        ),
        ("n", {"distribution": "now"}, "the present time does not fit the type int"),
        ("u", {"distribution": "now"}, "the present time does not fit the type uuid"),
        ("body", {"distribution": "now"}, "the present time does not fit the type blob"),
        ("at", {"distribution": "uniform", "max": "200000G"}, "200000000000000 does not fit the type timeuuid"),
        ("day", {"distribution": "uniform", "max": "3G"}, "3000000000 does not fit the type date"),
        ("note", {"distribution": "fixed", "value": 9, "as": "bytes"}, "bytes do not fit the type text"),
        ("home", {"distribution": "uniform", "max": 9}, "no value of the type inet can be made"),
        ("tags", {"distribution": "fixed", "value": 9, "as": "letters"}, "no value of the type set<text> can be made"),
        ("note", {"distribution": "fixed", "value": "2M", "as": "letters"}, "values of 2000000 letters are longer"),
    ],
)
def test_a_bind_that_does_not_fit_its_column_is_refused(found: Any, column: str, bind: Any, said: str) -> None:
    (problem,) = found(bound(column, **bind))
    assert problem.startswith("workload.operations[0].bind.v: ")
    assert said in problem


@pytest.mark.parametrize(
    ("column", "bind"),
    [
        ("tiny", {"distribution": "uniform", "max": 127}),
        ("n", {"distribution": "uniform", "max": "2G"}),
        ("u", {"distribution": "uniform", "max": "2G"}),
        ("at", {"distribution": "now"}),
        ("day", {"distribution": "now"}),
        ("note", {"distribution": "uniform", "max": 9, "prefix": "user"}),
        ("note", {"distribution": "uniform", "max": 9}),
        ("note", {"distribution": "now"}),
        ("body", {"distribution": "uniform", "max": 9, "as": "bytes"}),
        ("body", {"distribution": "uniform", "max": 9, "as": "letters"}),
        ("hits", {"distribution": "uniform", "max": "1G"}),
        ("done", {"distribution": "uniform", "max": 1}),
    ],
)
def test_a_bind_that_fits_its_column_is_fine(found: Any, column: str, bind: Any) -> None:
    assert found(bound(column, **bind)) == []


@pytest.mark.parametrize(
    ("bind", "where", "said"),
    [
        ({"distribution": "uniform", "min": 9, "max": 3}, ".min", "9 lies above `max`, which is 3"),
        ({"distribution": "normal", "max": 10, "mean": 100, "deviation": 1}, ".mean", "lies far outside of 0 to 10"),
        ({"distribution": "normal", "max": 10, "mean": 10**400}, ".mean", "is more than 1e+18"),
        (
            {"distribution": "normal", "max": 10, "deviation": 1e15},
            ".deviation",
            "nearly all numbers of a bell so wide",
        ),
        ({"distribution": "normal", "min": 90, "max": 99, "mean": 0, "deviation": 1}, ".mean", "the mean 0 lies far"),
    ],
)
def test_a_range_that_makes_no_sense_is_refused(found: Any, bind: Any, where: str, said: str) -> None:
    (problem,) = found(bound("note", **bind))
    assert problem.startswith(f"workload.operations[0].bind.v{where}: ")
    assert said in problem


@pytest.mark.parametrize("more", [{"deviation": 110}, {"deviation": 1e15, "outside": "clamp"}])
def test_a_bell_may_be_wider_than_its_range_and_any_width_where_it_is_clamped(found: Any, more: Any) -> None:
    assert found(bound("note", distribution="normal", max=10, **more)) == []


def test_bytes_have_no_prefix(found: Any) -> None:
    (problem,) = found(bound("body", **{"as": "bytes"}, distribution="uniform", max=9, prefix="u-"))
    assert problem.startswith("workload.operations[0].bind.v.prefix: bytes have no prefix")
    assert found(bound("note", **{"as": "letters"}, distribution="uniform", max=9, prefix="u-")) == []


def test_a_limit_may_not_be_0(found: Any) -> None:
    statement = "SELECT * FROM t WHERE id = :id LIMIT :most"
    bind = {"id": {"distribution": "uniform", "max": 9}, "most": {"distribution": "uniform", "max": 10}}
    (problem,) = found(cql(reads(statement=statement, bind=bind)))
    assert problem.startswith("workload.operations[0].bind.most: 0 does not fit LIMIT")


@pytest.mark.parametrize(("least", "most"), [("minscanlength", "maxscanlength"), ("minfieldlength", "fieldlength")])
def test_lengths_of_ycsb_whose_least_lies_above_the_most_are_refused(found: Any, least: str, most: str) -> None:
    (problem,) = found({"name": "YcsbE", least: 50, most: 9})
    assert problem.startswith(f"workload.{least}: 50 lies above `{most}`, which is 9")
