"""Whole definitions on pages of the documentation can be planned as they are."""

import re
from pathlib import Path

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.clock import SteppingClock
from tests.support.resolved import only_part

from plimsoll.adapters.generators.command import CommandGenerator
from plimsoll.adapters.products.command import CommandDatabase
from plimsoll.domain.campaign.resolve import load_spec, product_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.definitions.reference import parse_definition

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = (DOCS / "reference" / "load-generators.md", DOCS / "guides" / "any-database.md")
DEFINITIONS = [
    parse_definition(text, page.name)
    for page in PAGES
    for text in re.findall(r"^```yaml\n(name: .*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
]


def test_the_pages_have_a_definition_for_each_program_that_they_name() -> None:
    assert {own.name for own in DEFINITIONS} == {"ycsb", "nosqlbench", "postgresql", "mariadb", "redis"}


@pytest.mark.parametrize("own", DEFINITIONS, ids=lambda own: own.name)
def test_a_definition_of_commands_has_no_problem_and_a_plan(own: Definition, tmp_path: Path) -> None:
    assert CommandGenerator(EmptyArtefacts(tmp_path)).check(load_spec(only_part(own))) == []
    if own.system.command:
        assert CommandDatabase(SteppingClock()).check(product_spec(resolve(own), "command")) == []
    assert make_plan(resolve(own)).cells
