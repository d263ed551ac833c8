"""Definitions with workloads of their own statements."""

from typing import Any

from tests.unit.adapters.one_variant import one_variant

PLAIN = ['CREATE TABLE t (id bigint PRIMARY KEY, n int, m map<text, int>, note text, body text, "a:b" text)']


def definition(workload: Any, **changes: Any) -> Any:
    return one_variant(workload=workload, **changes)


def cql(*operations: Any, **keys: Any) -> Any:
    """Return a workload of these operations, on the table that they name unless `schema` is given."""
    return {"name": "cql", "schema": PLAIN, "operations": list(operations), **keys}


def reads(**changes: Any) -> Any:
    bind = {"id": {"distribution": "uniform", "max": "1M"}}
    return {"name": "reads", "share": 1, "statement": "SELECT * FROM t WHERE id = :id", "bind": bind, **changes}


def people(bind: Any, **changes: Any) -> Any:
    """Return a table of one's own, whose rows and keys are bound so."""
    population = {"statement": "INSERT INTO t (id) VALUES (:id)", "bind": {"id": bind}}
    asked = {"distribution": "zipfian", "max": "rows"}
    reads = {"name": "reads", "share": 1, "statement": "SELECT * FROM t WHERE id = :id", "bind": {"id": asked}}
    return {"name": "cql", "schema": PLAIN, "operations": [reads], "population": population, **changes}


NUMBERED = {"distribution": "sequence", "max": "rows"}


TYPED = (
    "CREATE TABLE t (id bigint PRIMARY KEY, tiny tinyint, small smallint, n int, u uuid, at timeuuid, day date, "
    "home inet, tags set<text>, note text, body blob, hits counter, done boolean)"
)


def bound(column: str, **bind: Any) -> Any:
    """Return a workload that writes a column of the table above from that bind."""
    statement = f"UPDATE t SET {column} = :v WHERE id = :id"
    given = {"id": {"distribution": "uniform", "max": 9}, "v": bind}
    return cql({"name": "writes", "share": 1, "statement": statement, "bind": given}, schema=[TYPED])
