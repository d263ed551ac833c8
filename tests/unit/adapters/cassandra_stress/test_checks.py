from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.support.resolved import only_part
from tests.unit.adapters.foreign_load.load_requests import PROFILE, definition

from plimsoll.adapters.generators.cassandra_stress import CassandraStress
from plimsoll.domain.campaign.resolve import load_spec


def faults(tmp_path: Path, workload: dict[str, Any] | None = None, **changes: Any) -> list[str]:
    stress = CassandraStress(EmptyArtefacts(tmp_path))
    return [
        f"{problem.where}: {problem.what}"
        for problem in stress.check(load_spec(only_part(definition(workload, **changes))))
    ]


def test_what_it_can_do_has_no_problem(tmp_path: Path) -> None:
    assert faults(tmp_path) == []
    assert faults(tmp_path, {"name": "user", "profile": PROFILE, "ops": {"insert": 1, "one": 1}}) == []


@pytest.mark.parametrize(
    ("workload", "fault"),
    [
        ({"name": "KeyValue"}, "workload.name: 'KeyValue' is no workload that cassandra-stress can put on"),
        ({"name": "mixed", "row": 5}, "workload.row: mixed has no such option"),
        ({"name": "mixed", "keys": "zipfian"}, "workload.keys: 'zipfian' is none of the values that can stand here"),
        ({"name": "mixed", "rows": "many"}, "workload.rows: 'many' is not a count like 200000 or 100M"),
        (
            {"name": "mixed", "rows": 10**20},
            f"workload.rows: '{10**20}' is too large: the largest is 9223372036854775807",
        ),
        ({"name": "write", "write": 0}, "workload: asks for neither reads nor writes"),
        ({"name": "user", "profile": PROFILE}, "workload: user needs 'ops'"),
        ({"name": "user", "profile": "x.yaml", "ops": {}}, "workload.profile: must have keys of its own"),
        (
            {"name": "user", "profile": {"table": "t"}, "ops": {"insert": 1}},
            "workload.profile.keyspace: is missing",
        ),
        (
            {"name": "user", "profile": PROFILE, "ops": {"two": 1}},
            "workload.ops.two: the profile has no such operation",
        ),
        ({"name": "user", "profile": PROFILE, "ops": {"one": 0.5}}, "workload.ops.one: 0.5 is no weight"),
        (
            {"name": "user", "profile": PROFILE, "ops": {"by-id": 1}},
            "workload.ops.by-id: the profile has no such operation",
        ),
    ],
)
def test_what_it_can_not_do_is_said_at_its_key(tmp_path: Path, workload: dict[str, Any], fault: str) -> None:
    assert fault in faults(tmp_path, workload)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        (
            {"load_generator": {"name": "cassandra-stress", "threads": 100, "concurrency": 50}},
            "load_generator.concurrency",
        ),
        ({"service_levels": [{"interval": "2500ms"}]}, "service_levels[0].interval"),
        ({"service_levels": [{"operations": "scans"}]}, "service_levels[0].operations"),
    ],
)
def test_so_is_what_else_it_can_not_do(tmp_path: Path, changes: dict[str, Any], where: str) -> None:
    assert [fault.partition(":")[0] for fault in faults(tmp_path, **changes)] == [where]


def test_times_are_whole_seconds(tmp_path: Path) -> None:
    found = faults(tmp_path, timing={"duration": "45500ms", "warmup": "15500ms"})
    assert [fault.partition(":")[0] for fault in found] == ["timing.duration", "timing.warmup"]


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"table_definition": None}, "table_definition: is missing: a new cluster has no such table"),
        ({"keyspace_definition": None}, "keyspace_definition: is missing: a new cluster has no such keyspace"),
        ({"keyspace_definition": "CREAT KEYSPACE x"}, "keyspace_definition: is no CREATE KEYSPACE: CREAT KEYSPACE x"),
        ({"table": "peple"}, "table: `table_definition` makes no table peple"),
        (
            {"table_definition": "CREATE TABLE people (id bigint, note text)"},
            "table_definition: the table has no PRIMARY KEY",
        ),
        ({"columnspec": [{"name": "nota"}]}, "columnspec[0].name: the table people has no column nota"),
        (
            {"queries": {"one": {"cql": "SELECT nota FROM people"}}},
            "queries.one.cql: the table people has no column nota: SELECT nota FROM people",
        ),
        (
            {"queries": {"one": {"cql": "SELET * FROM people"}}},
            "queries.one.cql: begins with SELET, as no statement of CQL does: SELET * FROM people",
        ),
    ],
)
def test_a_profile_that_no_cluster_takes_is_refused(tmp_path: Path, keys: dict[str, Any], fault: str) -> None:
    workload = {"name": "user", "profile": {**PROFILE, **keys}, "ops": {"insert": 1}}
    assert faults(tmp_path, workload) == [f"workload.profile.{fault}"]
