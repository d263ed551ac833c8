import json
from pathlib import Path

from plimsoll.services.definitions.reference import definition_reference
from plimsoll.services.definitions.text import definition_schema

ROOT = Path(__file__).parents[3]


def test_the_reference_in_docs_is_what_the_schema_says() -> None:
    assert (ROOT / "docs" / "definition.md").read_text() == definition_reference(), (
        "make it again: plimsoll schema --markdown > docs/definition.md"
    )


def test_the_schema_beside_the_definitions_is_the_model_s() -> None:
    stored = json.loads((ROOT / "include" / "campaigns" / "definition.schema.json").read_text())
    assert stored == json.loads(json.dumps(definition_schema())), (
        "make it again: plimsoll schema > include/campaigns/definition.schema.json"
    )
