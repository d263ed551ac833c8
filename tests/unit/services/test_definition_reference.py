import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

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


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping in the schema, outermost first."""
    if isinstance(schema, dict):
        yield schema
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for one in inner:
        yield from nodes(one)


def test_every_default_is_written_as_its_own_pattern_asks() -> None:
    patterns = {
        one["default"]: one["pattern"]
        for one in nodes(definition_schema())
        if "pattern" in one and isinstance(one.get("default"), str)
    }
    assert {"10s", "100ms"} <= patterns.keys()
    assert [default for default, pattern in patterns.items() if not re.search(pattern, default)] == []
