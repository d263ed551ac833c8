"""A definition's workload, held against what the load generator says of itself."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts

from plimsoll.adapters.generators.plimsoll_stress.adapter import PlimsollStress
from plimsoll.adapters.generators.plimsoll_stress.checks import problems
from plimsoll.adapters.generators.plimsoll_stress.operations import shares
from plimsoll.domain.definition import Definition
from plimsoll.domain.workload import Workload


def definition(workload: Any, **changes: Any) -> Any:
    return Definition.model_validate(
        {
            "name": "small",
            "title": "Small",
            "system": {"version": "4.0.1"},
            "variants": [{"id": "g1", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M"}}],
            "loads": ["100/s"],
            "timing": {"duration": "40s", "warmup": "10s"},
            "workload": workload,
            **changes,
        }
    )


@pytest.fixture
def found(tmp_path: Path) -> Any:
    """What `plan` says of a workload, a text each."""
    return lambda workload, **changes: [
        str(problem) for problem in problems(definition(workload, **changes), EmptyArtefacts(tmp_path))
    ]


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
    dumped = Workload.model_validate({"name": "Other", "rows": "1M"}).model_dump(mode="json")
    assert dumped == {"name": "Other", "consistency": "LOCAL_ONE", "replication_factor": 3, "rows": "1M"}
    assert Workload.model_validate(dumped).model_dump(mode="json") == dumped


def test_a_stored_definition_of_basic_time_series_is_as_it_was() -> None:
    assert list(Workload().model_dump(mode="json")) == [
        "name",
        "read_share",
        "partitions",
        "partition_generator",
        "populate",
        "consistency",
        "replication_factor",
    ]


def cql(*operations: Any, **keys: Any) -> Any:
    return {"name": "cql", "operations": list(operations), **keys}


def reads(**changes: Any) -> Any:
    bind = {"id": {"distribution": "uniform", "max": "1M"}}
    return {"name": "reads", "share": 1, "statement": "SELECT * FROM t WHERE id = :id", "bind": bind, **changes}


def test_own_statements_are_fine(found: Any) -> None:
    writes = {
        "name": "writes",
        "share": 0.25,
        "statement": "INSERT INTO t (id, at, body) VALUES (:id, :at, :body)",
        "bind": {
            "id": {"distribution": "zipfian", "max": "1G", "scrambled": True},
            "at": {"distribution": "now"},
            "body": {"distribution": "normal", "min": 10, "max": 200, "as": "letters"},
        },
        "consistency": "LOCAL_QUORUM",
    }
    populate = {"statement": "INSERT INTO t (id) VALUES (:id)", "bind": {"id": {"distribution": "sequence", "max": 9}}}
    schema = ["CREATE TABLE IF NOT EXISTS t (id bigint PRIMARY KEY, at timestamp, body text)"]
    whole = cql(reads(share=0.75), writes, schema=schema, rows=10, population=populate)
    assert found(whole, service_levels=[{}, {"operations": "writes"}]) == []


@pytest.mark.parametrize(
    ("changes", "where", "said"),
    [
        ({"statement": "SELECT * FROM t\nWHERE id = :idd"}, "statement", "marker :idd, line 2, column 12 of: SELECT *"),
        ({"statement": "SELECT * FROM t WHERE id = ?"}, "statement", "`?` has no name, line 1, column 28 of: SELECT"),
        ({"statement": "SELECT * FROM t WHERE id = 'a"}, "statement", "never closed, line 1, column 28"),
        ({"bind": {}}, "statement", "nothing is bound to the marker :id, line 1, column 28 of: SELECT * FROM t"),
        ({"statement": "SELECT * FROM t"}, "bind.id", "the statement has no marker :id: SELECT * FROM t"),
        ({"bind": {"id": {"distribution": "zipf"}}}, "bind.id.distribution", "'zipf' is no distribution (did you mean"),
        ({"bind": {"id": {"max": 4}}}, "bind.id.distribution", "`distribution` is missing"),
        ({"bind": {"id": 7}}, "bind.id", "must have keys of its own"),
        ({"bind": {"id": {"distribution": "uniform"}}}, "bind.id", "the distribution uniform needs 'max'"),
        ({"bind": {"id": {"distribution": "uniform", "max": 9, "mean": 3}}}, "bind.id.mean", "has no such option"),
        (
            {"bind": {"id": {"distribution": "zipfian", "max": 9, "constant": 2}}},
            "bind.id.constant",
            "2 is more than 0.999",
        ),
        ({"name": "All reads"}, "name", "'All reads' can't be an operation's name"),
        ({"consistency": "MOST"}, "consistency", "'MOST' is none of the values"),
        ({"rows": 0}, "rows", "0 is less than 1"),
        ({"share": "half"}, "share", "'half' is no number"),
        ({"share": "50%"}, "share", "'50%' is no number like 0.5"),
    ],
)
def test_a_mistake_in_a_statement_is_told_with_its_place(found: Any, changes: Any, where: Any, said: str) -> None:
    first, *_ = found(cql(reads(**changes)))
    assert first.startswith(f"workload.operations[0].{where}: ")
    assert said in first


def test_markers_in_strings_names_and_comments_are_none(found: Any) -> None:
    statement = """SELECT "a:b", 'c:d?', $$:e$$ FROM t -- :f ?
        WHERE id = :id /* ? :g */ AND m = {'k':1}"""
    assert found(cql(reads(statement=statement))) == []


def test_shares_must_make_one(found: Any) -> None:
    (problem,) = found(cql(reads(share=0.5), reads(name="others", share=0.6)))
    assert problem.startswith("workload.operations: the shares add up to 1.1")


def test_two_operations_of_one_name_are_told(found: Any) -> None:
    assert "'reads' stands 2 times" in found(cql(reads(share=0.5), reads(share=0.5)))[0]


def test_no_operations_at_all_are_told(found: Any) -> None:
    assert found({"name": "cql"}) == [
        "workload: cql needs 'operations' (what clients ask)",
    ]
    assert "must be a list of operations" in found({"name": "cql", "operations": []})[0]


def test_populating_needs_rows(found: Any) -> None:
    populate = {"statement": "INSERT INTO t (id) VALUES (1)"}
    (problem,) = found(cql(reads(), population=populate))
    assert problem.startswith("workload.rows: is missing")


@pytest.mark.parametrize(
    ("read_back", "said"),
    [
        ("SELECT id FROM t WHERE id = :id", ""),
        ("SELECT id FROM t WHERE id = :idd", "nothing is bound to the marker :idd, line 1, column 29 of: SELECT id"),
        ("SELECT id FROM t WHERE body = :body", "marker :body is bound to no sequence, line 1, column 31 of: SELECT"),
        ("SELECT id FROM t WHERE id = ?", "`?` has no name"),
    ],
)
def test_a_populated_row_is_read_back_by_what_its_number_decides(found: Any, read_back: Any, said: str) -> None:
    bind = {
        "id": {"distribution": "sequence", "max": 9},
        "body": {"distribution": "uniform", "max": 9, "as": "letters"},
    }
    written = "INSERT INTO t (id, body) VALUES (:id, :body)"
    told = found(cql(reads(), rows=10, population={"statement": written, "bind": bind, "read_back": read_back}))
    assert [one.partition(": ")[0] for one in told] == (["workload.population.read_back"] if said else [])
    assert said in "".join(told)


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


def people(bind: Any, **changes: Any) -> Any:
    """A table of one's own, whose rows and keys are bound so."""
    population = {"statement": "INSERT INTO t (id) VALUES (:id)", "bind": {"id": bind}}
    asked = {"distribution": "zipfian", "max": "rows"}
    reads = {"name": "reads", "share": 1, "statement": "SELECT * FROM t WHERE id = :id", "bind": {"id": asked}}
    return {"name": "cql", "operations": [reads], "population": population, **changes}


NUMBERED = {"distribution": "sequence", "max": "rows"}


@pytest.mark.parametrize("bind", [NUMBERED, {"distribution": "now"}])
@pytest.mark.parametrize("rows", [{"rows": "1M"}, {"data_per_node": "5G"}])
def test_own_rows_are_numbered_up_to_the_last_one_however_many_there_are(found: Any, bind: Any, rows: Any) -> None:
    assert found(people(bind, **rows)) == []


def test_own_rows_for_a_size_must_not_overwrite_each_other(found: Any) -> None:
    (problem,) = found(people({"distribution": "sequence", "max": "1M"}, data_per_node="5G"))
    assert problem.startswith("workload.population.bind: no marker tells the counted rows apart")
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


TYPED = (
    "CREATE TABLE t (id bigint PRIMARY KEY, tiny tinyint, small smallint, n int, u uuid, at timeuuid, day date, "
    "home inet, tags set<text>, note text, body blob, hits counter, done boolean)"
)


def bound(column: str, **bind: Any) -> Any:
    """A workload that writes a column of the table above from that bind."""
    statement = f"UPDATE t SET {column} = :v WHERE id = :id"
    given = {"id": {"distribution": "uniform", "max": 9}, "v": bind}
    return cql({"name": "writes", "share": 1, "statement": statement, "bind": given}, schema=[TYPED])


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
        ("unknown", {"distribution": "now"}),
    ],
)
def test_a_bind_that_fits_its_column_is_fine(found: Any, column: str, bind: Any) -> None:
    assert found(bound(column, **bind)) == []


@pytest.mark.parametrize(
    ("bind", "where", "said"),
    [
        ({"distribution": "uniform", "min": 9, "max": 3}, ".min", "9 lies above `max`, which is 3"),
        ({"distribution": "normal", "max": 10, "mean": 100, "deviation": 1}, ".mean", "lies far outside of 0 to 10"),
        ({"distribution": "normal", "min": 90, "max": 99, "mean": 0, "deviation": 1}, ".mean", "the mean 0 lies far"),
    ],
)
def test_a_range_that_makes_no_sense_is_refused(found: Any, bind: Any, where: str, said: str) -> None:
    (problem,) = found(bound("note", **bind))
    assert problem.startswith(f"workload.operations[0].bind.v{where}: ")
    assert said in problem


def test_a_limit_may_not_be_0(found: Any) -> None:
    statement = "SELECT * FROM t WHERE id = :id LIMIT :most"
    bind = {"id": {"distribution": "uniform", "max": 9}, "most": {"distribution": "uniform", "max": 10}}
    (problem,) = found(cql(reads(statement=statement, bind=bind)))
    assert problem.startswith("workload.operations[0].bind.most: 0 does not fit LIMIT")


@pytest.mark.parametrize(("least", "most"), [("minscanlength", "maxscanlength"), ("minfieldlength", "fieldlength")])
def test_lengths_of_ycsb_whose_least_lies_above_the_most_are_refused(found: Any, least: str, most: str) -> None:
    (problem,) = found({"name": "YcsbE", least: 50, most: 9})
    assert problem.startswith(f"workload.{least}: 50 lies above `{most}`, which is 9")


def test_a_batch_is_logged_or_not_and_has_more_than_one_row(found: Any) -> None:
    writes = bound("note", distribution="now")["operations"][0]
    assert found(cql({**writes, "rows": 10, "batch": "logged", "prepared": False, "first_page": True})) == []
    (problem,) = found(cql({**writes, "batch": "logged"}))
    assert problem.startswith("workload.operations[0].batch: an operation of one row is no batch")


def test_batched_rows_are_the_published_ones_and_older_definitions_keep_their_meaning(found: Any) -> None:
    assert found({"name": "BatchedRows", "batch": "logged", "batch_rows": 200, "prepared": False}) == []
    older = Workload.model_validate({"name": "BatchedRows", "batch": "1k"})
    assert found(older.model_dump(mode="json")) == []
    kept = older.model_dump(mode="json")
    assert (kept["batch"], kept["batch_rows"], kept["prepared"]) == ("unlogged", "1k", True)
    assert Workload.model_validate(kept) == older


def test_operations_that_are_timed_to_their_first_page_are_told(tmp_path: Path) -> None:
    generator = PlimsollStress(EmptyArtefacts(tmp_path))
    assert generator.limits(definition(cql(reads()))) == ()
    (remark,) = generator.limits(definition(cql(reads(first_page=True))))
    assert remark.startswith("reads is timed to the first page of each answer")
