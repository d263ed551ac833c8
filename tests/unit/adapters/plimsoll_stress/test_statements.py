"""Own statements, their markers and their populating are checked with their places."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.support.resolved import only_part
from tests.unit.adapters.plimsoll_stress.workloads import NUMBERED, PLAIN, bound, cql, definition, reads

from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.domain.campaign.resolve import load_spec


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
        ({"name": "selects"}, "name", "'selects' can't be an operation's name (small letters, digits and dashes; none"),
        ({"name": "mutations"}, "name", "'mutations' can't be an operation's name"),
        ({"name": "intended-reads"}, "name", "'intended-reads' can't be an operation's name"),
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


def test_a_share_in_quotes_counts_as_the_number_that_it_is(found: Any) -> None:
    (problem,) = found(cql(reads(share="0.9"), reads(name="others", share=0.9)))
    assert problem.startswith("workload.operations: the shares add up to 1.8")
    assert (
        found(cql(reads(share="0.5"), reads(name="others", share=0.5)), service_levels=[{"operations": "reads"}]) == []
    )


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


def test_a_batch_is_logged_or_not_and_has_more_than_one_row(found: Any) -> None:
    writes = bound("note", distribution="now")["operations"][0]
    assert found(cql({**writes, "rows": 10, "batch": "logged", "prepared": False, "first_page": True})) == []
    (problem,) = found(cql({**writes, "batch": "logged"}))
    assert problem.startswith("workload.operations[0].batch: an operation of one row is no batch")


@pytest.mark.parametrize(
    "statement", ["SELECT * FROM t WHERE id = :id", "BEGIN BATCH INSERT INTO t (id) VALUES (:id); APPLY BATCH"]
)
def test_only_statements_that_write_a_row_can_be_in_a_batch(found: Any, statement: str) -> None:
    (problem,) = found(cql(reads(rows=100, statement=statement)))
    assert problem.startswith("workload.operations[0].rows: only statements that write a row can be in a batch: ")
    assert found(cql(reads(rows=100, statement="/* one */ delete FROM t WHERE id = :id"))) == []


def test_the_value_of_a_key_that_is_taken_for_a_marker_is_told_apart_by_a_space(found: Any) -> None:
    (problem,) = found(cql(reads(statement="SELECT * FROM t WHERE id = :id AND m = {'k':true}")))
    assert "nothing is bound to the marker :true, line 1, column 44" in problem
    assert "if it is no marker, write a space behind the colon" in problem
    assert found(cql(reads(statement="SELECT * FROM t WHERE id = :id AND m = {'k': true}"))) == []


def test_markers_that_differ_in_capital_letters_alone_are_told(found: Any) -> None:
    fixed = {"distribution": "fixed", "value": 1}
    writes = reads(statement="INSERT INTO t (id, n) VALUES (:Id, :id)", bind={"Id": fixed, "id": fixed})
    assert [problem.partition(": ")[0] for problem in found(cql(writes))] == [
        "workload.operations[0].bind.Id",
        "workload.operations[0].bind.id",
    ]


def test_operations_that_are_timed_to_their_first_page_are_told(tmp_path: Path) -> None:
    generator = PlimsollStress(EmptyArtefacts(tmp_path))
    assert generator.limits(load_spec(only_part(definition(cql(reads()))))) == ()
    (remark,) = generator.limits(load_spec(only_part(definition(cql(reads(first_page=True))))))
    assert remark.startswith("reads is timed to the first page of each answer")


def test_a_new_cluster_has_no_keyspace_of_another_name(found: Any) -> None:
    assert found(cql(reads(statement="SELECT host_id FROM system.local", bind={}))) == []
    assert found(cql(reads(statement="SELECT * FROM {keyspace}.t WHERE id = :id"))) == []
    (problem,) = found(cql(reads(statement="SELECT * FROM mine.t WHERE id = :id")))
    assert problem.startswith("workload.operations[0].statement: names the keyspace mine, which a new cluster does not")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"schema": ["CREATE KEYSPACE mine WITH replication = {}", *PLAIN]}, "workload.schema[0]: CREATE KEYSPACE"),
        ({"schema": [*PLAIN, "CREATE TABLE u (id itn PRIMARY KEY)"]}, "workload.schema[1]: column id has the type itn"),
        ({"schema": None}, "workload.operations[0].statement: `schema` makes no table t"),
    ],
)
def test_a_schema_that_can_not_be_made_is_refused_before_a_deployment(found: Any, keys: Any, said: str) -> None:
    (problem,) = found(cql(reads(), **keys))
    assert problem.startswith(said)


def test_statements_of_the_load_and_of_populating_are_held_against_the_schema(found: Any) -> None:
    rows = {"statement": "INSERT INTO t (id, nota) VALUES (:id, 1)", "bind": {"id": NUMBERED}}
    rows["read_back"] = "SELECT n FROM tt WHERE id = :id"
    told = found(cql(reads(statement="SELET * FROM t WHERE id = :id"), rows=10, population=rows))
    assert [one.split(": ")[:2] for one in told] == [
        ["workload.operations[0].statement", "begins with SELET, as no statement of CQL does"],
        ["workload.population.statement", "the table t has no column nota"],
        ["workload.population.read_back", "`schema` makes no table tt"],
    ]


def test_a_batch_of_several_tables_takes_values_that_fit_one_of_them_alone(found: Any) -> None:
    schema = ["CREATE TABLE by_id (id int PRIMARY KEY)", "CREATE TABLE by_name (id text PRIMARY KEY, n int)"]
    batch = "BEGIN BATCH INSERT INTO by_id (id) VALUES (1); UPDATE by_name SET n = 1 WHERE id = :id; APPLY BATCH"
    bind = {"id": {"distribution": "uniform", "max": 9, "prefix": "user"}}
    assert found(cql(reads(statement=batch, bind=bind), schema=schema)) == []


def test_batches_are_said_to_be_checked_by_the_database(tmp_path: Path) -> None:
    batch = "BEGIN BATCH INSERT INTO t (id) VALUES (:id); APPLY BATCH"
    stress = PlimsollStress(EmptyArtefacts(tmp_path))
    assert stress.unchecked(load_spec(only_part(definition(cql(reads()))))) == ()
    (told,) = stress.unchecked(load_spec(only_part(definition(cql(reads(statement=batch))))))
    assert told.startswith("tables and columns of reads are not checked here")
