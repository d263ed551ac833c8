"""A definition with a load of cassandra-stress, and the request for this load."""

from datetime import timedelta
from typing import Any

from tests.support.resolved import only_part
from tests.unit.adapters.one_variant import one_variant

from plimsoll.domain.campaign.resolve import load_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.ports.load_generator import LoadRequest

PROFILE = {
    "keyspace": "mine",
    "keyspace_definition": "CREATE KEYSPACE mine WITH replication = {'class': 'SimpleStrategy'}",
    "table": "people",
    "table_definition": "CREATE TABLE people (id bigint PRIMARY KEY, note text)",
    "queries": {"by-id": {}, "one": {"cql": "SELECT note FROM people WHERE id = ?"}},
}


def definition(workload: dict[str, Any] | None = None, **changes: Any) -> Definition:
    """Of StandardRow unless told otherwise."""
    keys = {
        "load_generator": {"name": "cassandra-stress", "threads": 2, "concurrency": 20},
        "workload": workload or {"name": "StandardRow", "rows": "10k"},
        "timing": {"duration": "45s", "warmup": "15s"},
    }
    return one_variant(**{**keys, **changes})


def request(workload: dict[str, Any] | None = None, **changes: Any) -> LoadRequest:
    """For that definition, on two nodes."""
    return LoadRequest(
        "load", load_spec(only_part(definition(workload, **changes))), 100, ["10.0.0.1", "10.0.0.2"], timedelta(hours=1)
    )
