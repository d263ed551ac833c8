"""Definitions as text: parse with errors a person can act on, write back, export the JSON schema."""

from io import StringIO
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DefinitionError, Problem
from plimsoll.services.definition_faults import problem_of, root_faults

_SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


def parse_definition(text: str, where: str) -> Definition:
    """The definition that a YAML text declares. Raises DefinitionError with every fault: key, line, found, allowed."""
    content = parse_yaml(text, where)
    if not isinstance(content, dict):
        raise DefinitionError([Problem("the whole file", "is not a mapping of keys", "see `demo.yaml`")], where=where)
    try:
        return Definition.model_validate(content)
    except ValidationError as error:
        raise DefinitionError([problem_of(fault, content) for fault in root_faults(error)], where=where) from None


def dump_definition(definition: Definition) -> str:
    """The definition as YAML, complete with its defaults; parses back to an equal one."""
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.dump(definition.model_dump(mode="json"), stream)
    return stream.getvalue()


def definition_schema() -> dict[str, Any]:
    """The JSON schema of definitions, for editors and forms."""
    schema = Definition.model_json_schema(by_alias=True)
    return {"$schema": _SCHEMA_ID, **_with_load_range(schema)}


def _with_load_range(schema: dict[str, Any]) -> dict[str, Any]:
    rate = {"type": "string", "pattern": schema["properties"]["loads"]["items"]["pattern"]}
    keys = ("from", "to", "step")
    span = {"type": "object", "properties": dict.fromkeys(keys, rate), "required": list(keys)}
    loads = schema["properties"]["loads"]
    listed = {key: value for key, value in loads.items() if key not in ("title", "description")}
    schema["properties"]["loads"] = {
        "title": loads["title"],
        "description": loads["description"],
        "anyOf": [listed, {**span, "additionalProperties": False}],
    }
    return schema


def parse_yaml(text: str, where: str) -> Any:
    """What a YAML text holds, with the lines of its keys. DefinitionError where it is not YAML."""
    try:
        return YAML(typ="rt", pure=True).load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise DefinitionError([Problem(f"line {line}", f"is not YAML: {error.problem}")], where=where) from None
