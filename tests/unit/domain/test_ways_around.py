"""What published set-ups ask for and a definition can't express is refused with a way that leads there."""

import pytest
from tests.support.campaigns.small_definition import SMALL

from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.reference import parse_definition

SMALL_TEXT = SMALL.read_text()
COMPARE = "lay their campaigns side by side: `plimsoll compare A B"


@pytest.mark.parametrize(
    ("right", "wrong", "where", "way"),
    [
        ("- id: g1", "- id: g1\n    nodes: 6", "variants[0].nodes", "all cells have `system.nodes` nodes"),
        ("- id: g1", "- id: g1\n    instance_type: i2.xlarge", "variants[0].instance_type", "the hosts of `provider`"),
        ("- id: g1", "- id: g1\n    loads: [5/s]", "variants[0].loads", "variants differ in product, version"),
        ("seed: ", "clients: [1, 64]\nseed: ", "clients", "clients are no axis, loads are"),
        ("threads: 2", "threads: [1, 64]", "load_generator.threads", "clients are no axis, loads are"),
    ],
)
def test_a_campaign_for_each_and_a_comparison_is_the_way(right: str, wrong: str, where: str, way: str) -> None:
    assert right in SMALL_TEXT
    with pytest.raises(DefinitionError) as caught:
        parse_definition(SMALL_TEXT.replace(right, wrong, 1), "x.yaml")
    (problem,) = caught.value.problems
    assert problem.where.startswith(where)
    assert way in problem.mend
    assert COMPARE in problem.mend


def test_an_action_for_some_variants_is_a_definition_of_these() -> None:
    with pytest.raises(DefinitionError, match="an action is done to all variants of its stage"):
        parse_definition(SMALL_TEXT.replace("- id: g1", "- id: g1\n    action: {name: add-node}", 1), "x.yaml")
