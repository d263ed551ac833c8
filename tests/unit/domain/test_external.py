"""What a definition of a cluster that somebody else runs must say."""

import json
from typing import Any

import pytest

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.reference import parse_definition

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


@pytest.mark.parametrize(
    ("choice", "source"),
    [
        ({"name": "ec2", "options": {"region": "r"}}, ("ec2", {"region": "r"}, "provider.options")),
        (
            {"name": "external", "options": {"load_hosts": {"provider": "ec2", "options": {"region": "r"}}}},
            ("ec2", {"region": "r"}, "provider.options.load_hosts.options"),
        ),
        ({"name": "external"}, None),
        ({"name": "external", "options": {"load_hosts": "ec2"}}, None),
        ({"name": "external", "options": {"load_hosts": {"provider": ["ec2"]}}}, None),
        ({"name": "external", "options": {"load_hosts": {"provider": "ec2", "options": ["r"]}}}, None),
    ],
)
def test_its_hosts_are_those_of_the_provider_that_lends_them(choice: Any, source: Any) -> None:
    found = ProviderChoice.model_validate(choice).hosts_from
    assert (found and (found.provider.name, found.provider.options, found.key)) == source


@pytest.mark.parametrize(
    ("choice", "owned"),
    [
        ({"name": "local"}, "cluster"),
        ({"name": "external", "options": {"keyspace": "mine"}}, "keyspace"),
        ({"name": "external", "options": {"keyspace": {"read_only": "theirs"}}}, "nothing"),
    ],
)
def test_a_load_has_a_cluster_a_keyspace_or_nothing_to_itself(choice: Any, owned: str) -> None:
    assert ProviderChoice.model_validate(choice).owns == owned
