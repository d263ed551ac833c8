"""Own statements on a cluster of somebody else touch nothing but the load's own keyspace."""

from typing import Any

import pytest
from tests.support.resolved import only_part
from tests.unit.domain.test_external import EXTERNAL

from plimsoll.adapters.generators.plimsoll_stress.checks import foreign_keyspace_problems
from plimsoll.domain.campaign.resolve import load_spec
from plimsoll.domain.definition.definition import Definition

READ_ONLY = {"existing": "shop", "read_only": True}


def found(keyspace: Any, **workload: Any) -> list[str]:
    provider = {"name": "external", "options": {"keyspace": keyspace}}
    definition = Definition.model_validate({**EXTERNAL, "provider": provider, "workload": {"name": "cql", **workload}})
    return [f"{one.where}: {one.what}" for one in foreign_keyspace_problems(load_spec(only_part(definition)))]


def operation(statement: str) -> dict[str, Any]:
    return {"operations": [{"name": "one", "share": 1, "statement": statement}]}


@pytest.mark.parametrize(
    "statement", ["SELECT * FROM people WHERE id = 1", "/* as the shop does */ select id from shop.people"]
)
def test_what_only_reads_may_be_sent_to_tables_that_are_there(statement: str) -> None:
    assert found(READ_ONLY, **operation(statement)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO people (id) VALUES (1)",
        "-- SELECT\nDELETE FROM people WHERE id = 1",
        "/* SELECT */ UPDATE people SET a = 1 WHERE id = 1",
        "BEGIN BATCH INSERT INTO people (id) VALUES (1) APPLY BATCH",
        "TRUNCATE people",
        "DROP TABLE people",
        "",
    ],
)
def test_what_writes_is_refused_where_only_reading_is_allowed(statement: str) -> None:
    [problem] = found(READ_ONLY, **operation(statement))
    assert problem.startswith("workload.operations[0].statement: begins with ")


def test_rows_and_tables_of_a_load_are_refused_where_only_reading_is_allowed() -> None:
    population = {"statement": "INSERT INTO people (id) VALUES (:id)", "bind": {}}
    problems = found(READ_ONLY, schema=["CREATE TABLE a (id int PRIMARY KEY)"], population=population)
    assert "workload.schema: writes, and the keyspace is to be read only" in problems
    assert "workload.population: writes, and the keyspace is to be read only" in problems
    assert found(READ_ONLY, name="KeyValue") == [
        "workload.name: KeyValue writes rows of its own, and the keyspace is to be read only"
    ]


@pytest.mark.parametrize(
    ("key", "statement", "name"),
    [
        ("operations", "INSERT INTO shop.people (id) VALUES (1)", "shop"),
        ("operations", 'UPDATE "Shop" . people SET a = 1.5 WHERE id = 1', '"Shop"'),
        ("operations", "SELECT * FROM shop.people", "shop"),
        ("schema", "CREATE TABLE IF NOT EXISTS shop.people (id int PRIMARY KEY)", "shop"),
        ("schema", "CREATE INDEX ON shop.people (name)", "shop"),
    ],
)
def test_a_keyspace_that_is_not_the_loads_own_is_refused(key: str, statement: str, name: str) -> None:
    given = operation(statement) if key == "operations" else {"schema": [statement], **operation("SELECT 1")}
    assert any(f"names the keyspace {name}, which is not the load's own" in one for one in found("bench", **given))


def test_the_loads_own_keyspace_may_be_named() -> None:
    schema = ["CREATE TABLE IF NOT EXISTS {keyspace}.people (id int PRIMARY KEY, share double)"]
    given = operation("INSERT INTO {keyspace}.people (id, share) VALUES (1, 1.5)")
    assert found("bench", schema=schema, **given) == []


def test_a_schema_only_makes_tables() -> None:
    [problem] = found("bench", schema="DROP KEYSPACE shop", **operation("SELECT * FROM people"))
    assert problem == "workload.schema: does more than make a table of the load's own"


def test_other_clusters_are_plimsolls_own() -> None:
    ours = {**EXTERNAL, "provider": {"name": "local"}, "system": {"version": "4.0.1"}}
    assert not [
        *foreign_keyspace_problems(
            load_spec(
                only_part(Definition.model_validate({**ours, "workload": {"name": "cql", "schema": "DROP KEYSPACE a"}}))
            )
        )
    ]
