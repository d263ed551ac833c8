"""What a definition of a cluster that somebody else runs must say."""

import json
from typing import Any

import pytest

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DefinitionError
from plimsoll.domain.resolve import resolve
from plimsoll.services.definitions.text import parse_definition

EXTERNAL: dict[str, Any] = {
    "name": "staging",
    "title": "Staging",
    "system": {"database": "external", "nodes": 3},
    "variants": [{"id": "staging"}],
    "loads": ["1k/s"],
    "timing": {"duration": "10m", "warmup": "1m"},
    "stop_when": [{"errors": "5%", "within": "10s"}],
    "provider": {"name": "external"},
}


def faults(**changes: Any) -> list[str]:
    try:
        parse_definition(json.dumps({**EXTERNAL, **changes}), "x.yaml")
    except DefinitionError as error:
        return [f"{one.where.partition(' (')[0]}: {one.what}" for one in error.problems]
    return []


def test_it_needs_no_hosts_for_nodes_and_no_version() -> None:
    definition = Definition.model_validate(EXTERNAL)
    assert (resolve(definition).node_hosts, resolve(definition).cluster_size) == (0, 1)
    assert resolve(definition).version_of(definition.variants[0]) == "not known"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"stop_when": []}, "stop_when: is missing"),
        ({"max_parallel": 2}, "max_parallel: the cells of an external cluster have one keyspace"),
        ({"variants": [{"id": "a"}, {"id": "b"}]}, "variants: an external cluster is what it is"),
        ({"system": {"database": "cassandra", "version": "4.0.1"}}, "system.database: Plimsoll deploys cassandra"),
        ({"provider": {"name": "local"}}, "provider.name: an external database is reached by"),
        ({"variants": [{"id": "a", "settings": {"x": 1}}]}, "variants[0].settings: somebody else decides"),
        ({"system": {"database": "external", "settings": {"x": 1}}}, "system.settings: somebody else decides"),
    ],
)
def test_half_of_one_and_a_load_that_may_harm_are_refused(changes: Any, fault: str) -> None:
    found = faults(**changes)
    assert any(fault in one for one in found), found
