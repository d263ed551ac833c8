"""Every workload on a real node: its statements are accepted, its rows are there, its operations are apart."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.node import Node
from tests.integration.stress.program import Files, Program
from tests.support.nodes.slowness import not_slow
from tests.support.suite.requirements import long
from tests.support.suite.tries import tries

SCHEMA, POPULATE, INCOMPLETE = 4, 5, 6
SHORT = ("--rf", "1", "--rate", "200", "-d", "2s", "-t", "2", "-c", "20")

WORKLOADS = {
    "KeyValue": ({"rows": 300}, {"reads", "writes"}),
    "TimeSeries": ({"rows": 300, "sources": 10, "sensors": 3}, {"reads", "writes"}),
    "Tabular": ({"rows": 300, "partsize": 10, "partcount": 30}, {"reads", "writes"}),
    "StandardRow": ({"rows": 300}, {"reads", "writes"}),
    "YcsbA": ({"recordcount": 300}, {"reads", "updates"}),
    "YcsbD": ({"recordcount": 300}, {"reads", "inserts"}),
    "YcsbE": ({"recordcount": 300, "insertproportion": 0.2}, {"scans", "inserts"}),
    "YcsbF": ({"recordcount": 300}, {"reads", "read-modify-writes"}),
    "BatchedRows": ({"batch_rows": 10, "reads": 1, "at_a_time": 10}, {"batches", "reads"}),
}
OTHER = long("logged batches are of the kind asked for, too")

OWN: dict[str, Any] = {
    "schema": [
        "CREATE TABLE IF NOT EXISTS people (id bigint PRIMARY KEY, born timestamp, badge uuid, n int, body blob)"
    ],
    "rows": 200,
    "population": {
        "statement": "INSERT INTO people (id, body) VALUES (:id, :body)",
        "bind": {
            "id": {"distribution": "sequence", "max": 199},
            "body": {"distribution": "fixed", "value": 50, "as": "bytes"},
        },
        "read_back": "SELECT id FROM people WHERE id = :id",
    },
    "operations": [
        {
            "name": "look-ups",
            "share": 0.5,
            "statement": "SELECT * FROM people WHERE id = :id",
            "bind": {"id": {"distribution": "zipfian", "max": 199, "scrambled": True}},
            "consistency": "ONE",
        },
        {
            "name": "changes",
            "share": 0.5,
            "statement": "UPDATE people SET born = :born, badge = :badge, n = :n, body = :body WHERE id = :id",
            "bind": {
                "id": {"distribution": "latest", "max": 199},
                "born": {"distribution": "now"},
                "badge": {"distribution": "uniform", "max": 1000},
                "n": {"distribution": "normal", "max": 100},
                "body": {"distribution": "exponential", "max": 99, "as": "bytes"},
            },
            "rows": 3,
        },
    ],
}


TOO_BIG = {"id": {"distribution": "uniform", "max": 3_000_000_000}}


@pytest.fixture
def run(program: Program, node: Node, tmp_path: Path) -> Any:
    """Runs a workload with options to its end: the ended process and its files."""

    def run(name: str, options: Any, *more: Any) -> Any:
        path, files = tmp_path / "options.json", Files(tmp_path)
        path.write_text(json.dumps(options))
        keyspace = ("--keyspace", f"w_{name.lower()}", "--drop")
        told = ("run", name, "--host", node.address, "--options", str(path), *keyspace, *SHORT)
        return program.run(*told, *files.options, *more), files

    return run


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_does_all_of_its_operations(run: Callable[..., Any], name: str) -> None:
    options, operations = WORKLOADS[name]
    ended, files = run(name, options)
    assert ended.returncode == 0, ended.stderr
    done = files.summary["run"]
    assert not_slow(done["errors"]) == {}
    assert done["completed"] + sum(done["errors"].values()) == done["scheduled"]
    assert done["operations"].keys() == operations
    for operation, counts in done["operations"].items():
        logged = sum(record.histogram.total_count for record in files.log(f"-intended-{operation}"))
        assert logged == counts["completed"] > 0
    assert sum(done["shares"].values()) == pytest.approx(1)
    sizes: Any = options
    rows = sizes.get("rows", sizes.get("recordcount"))
    if rows:
        populated = files.summary["populate"]
        assert (populated["completed"], populated["verified"]) == (rows, rows)
        assert f"verified: a sample of {rows} rows is there" in ended.stdout


def test_own_statements_run_as_declared(run: Callable[..., Any]) -> None:
    ended, files = run("cql", OWN, "--settle", "5m")
    assert ended.returncode == 0, ended.stderr
    assert not_slow(files.summary["run"]["errors"]) == {}
    assert files.summary["run"]["operations"].keys() == {"look-ups", "changes"}
    populated = files.summary["populate"]
    assert (populated["completed"], populated["verified"]) == (200, 200)
    assert files.summary["populate"]["settle"]["settled"] is True
    assert files.summary["populate"]["settle"]["compactions_left"] == 0


def test_own_rows_that_are_not_there_end_the_run(run: Any) -> None:
    elsewhere = {**OWN["population"], "read_back": "SELECT id FROM others WHERE id = :id"}
    schema = [*OWN["schema"], "CREATE TABLE IF NOT EXISTS others (id bigint PRIMARY KEY)"]
    ended, _ = run("cql", {**OWN, "schema": schema, "population": elsewhere})
    assert ended.returncode == POPULATE
    assert "of 200 populated rows only 0 are there" in ended.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"statement": "SELECT * FORM people WHERE id = :id"}, "line 1:9"),
        ({"statement": "SELECT * FROM poeple WHERE id = :id"}, "poeple"),
        ({"statement": "SELECT * FROM people WHERE id = :idd"}, "nothing is bound to the marker :idd"),
        (
            {"statement": "SELECT * FROM people WHERE id = 1 AND n = :id ALLOW FILTERING", "bind": TOO_BIG},
            "the values of the marker :id do not fit its type int: 3000000000 is not between",
        ),
    ],
)
def test_a_statement_that_the_database_refuses_is_shown_with_its_place_before_anything_is_written(
    run: Callable[..., Any], change: Any, said: str
) -> None:
    operation = {**OWN["operations"][0], **change, "share": 1}
    ended, files = run("cql", {**OWN, "operations": [operation]})
    assert ended.returncode == SCHEMA
    assert "workload.operations[0] (look-ups).statement: the database refuses the statement: " in ended.stderr
    assert said in ended.stderr
    assert change["statement"] in ended.stderr
    assert files.summary["populate"] is None


@pytest.mark.parametrize(
    ("batch", "prepared"),
    [pytest.param("unlogged", True, marks=OTHER), pytest.param("unlogged", False, marks=OTHER), ("logged", False)],
)
def test_batches_are_of_the_kind_asked_for_and_the_databases_warnings_are_counted(
    run: Callable[..., Any], batch: str, prepared: bool
) -> None:
    """Cassandra warns of each unlogged batch over more than ten partitions, and of no logged one so small."""
    ended, files = run("BatchedRows", {"batch": batch, "batch_rows": 20, "prepared": prepared})
    assert ended.returncode == 0, ended.stderr
    done = files.summary["run"]
    assert not_slow(done["errors"]) == {}
    warnings = done["server_warnings"]
    if batch == "logged":
        assert warnings == {"count": 0, "first": []}
        return
    assert warnings["count"] >= done["completed"] > 0
    assert "Unlogged batch covering 20 partitions" in warnings["first"][0]["message"]
    assert warnings["first"][0]["statement"].startswith("INSERT INTO t")
    assert ended.stdout.count("Unlogged batch covering") == len(warnings["first"]) <= 4
    assert "Unlogged batch" not in ended.stderr
    assert f"; the database warned {warnings['count']:,} times" in ended.stdout


WIDE = {
    "schema": ["CREATE TABLE IF NOT EXISTS wide (part int, n int, note text, at date, PRIMARY KEY (part, n))"],
    "rows": 5_500,
    "population": {
        "statement": "INSERT INTO wide (part, n, note, at) VALUES (0, :n, :note, :at)",
        "bind": {
            "n": {"distribution": "sequence", "max": 5_499},
            "note": {"distribution": "sequence", "max": 5_499, "prefix": "it's; "},
            "at": {"distribution": "now"},
        },
        "read_back": "SELECT n FROM wide WHERE part = 0 AND n = :n",
    },
    "operations": [
        {
            "name": "changes",
            "share": 0.5,
            "statement": "UPDATE wide SET note = :note, at = :at WHERE part = 0 AND n = :n -- :not one\n",
            "bind": {
                "n": {"distribution": "uniform", "max": 5_499},
                "note": {"distribution": "uniform", "max": 9, "prefix": "it's; :n "},
                "at": {"distribution": "now"},
            },
            "prepared": False,
        },
        {
            "name": "peeks",
            "share": 0.5,
            "statement": "SELECT n FROM wide WHERE part = 0 LIMIT :most",
            "bind": {"most": {"distribution": "fixed", "value": 0}},
        },
    ],
}


def test_failures_of_kind_other_keep_their_first_message_and_answers_are_fetched_to_their_last_page(
    run: Callable[..., Any], node: Node, ask: Callable[..., Any]
) -> None:
    ended, files = run("cql", WIDE)
    assert ended.returncode == 0, ended.stderr
    done = files.summary["run"]
    assert not_slow(done["errors"]).keys() == {"other"}
    assert done["operations"]["changes"]["completed"] > 0
    (failure,) = done["failures"]
    assert (failure["operation"], failure["count"]) == ("peeks", done["errors"]["other"])
    assert failure["message"] == "InvalidQueryException: LIMIT must be strictly positive"
    assert failure["statement"] == "SELECT n FROM wide WHERE part = 0 LIMIT :most"
    assert ended.stdout.count("first of its kind in peeks") == 1
    assert ask(f"fetched {node.address} w_cql false", f"fetched {node.address} w_cql true") == ["5500", "5000"]


def test_populating_ends_once_too_many_rows_are_lost(run: Callable[..., Any]) -> None:
    rows = 1_000_000
    lasting = {
        "statement": "INSERT INTO people (id) VALUES (:id) USING TTL :seconds",
        "bind": {
            "id": {"distribution": "sequence", "max": rows - 1},
            "seconds": {"distribution": "fixed", "value": 2_000_000_000},
        },
    }
    ended, files = run("cql", {**OWN, "rows": rows, "population": lasting})
    assert ended.returncode == POPULATE
    lost, _, reason = files.summary["reason"].partition(
        " of 1000000 rows could not be written, which ended populating: "
    )
    assert 1_000 < int(lost) < rows
    assert "; the first failure of kind other: InvalidQueryException: ttl is too large" in reason


def test_a_load_of_which_every_operation_fails_ends_with_the_first_message(run: Callable[..., Any]) -> None:
    only = {**WIDE, "rows": 0, "operations": [{**WIDE["operations"][1], "share": 1}]}
    for _ in tries():
        ended, files = run("cql", only, "--give-up", "1s")
        assert ended.returncode == INCOMPLETE
        # Nothing has failed yet either where node or generator stood still for these two seconds.
        if not files.summary["reason"].endswith(": the database is lost"):
            break
    first = "InvalidQueryException: LIMIT must be strictly positive — SELECT n FROM wide WHERE part = 0 LIMIT :most"
    assert files.summary["reason"] == f"no operation was answered for 1 s; the first failure of kind other: {first}"
