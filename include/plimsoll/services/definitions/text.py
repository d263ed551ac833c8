"""Definitions as text: parse them with clear errors, write them back, export the JSON schema."""

from datetime import timedelta
from functools import lru_cache
from io import StringIO
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from ruamel.yaml import YAML

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DefinitionError
from plimsoll.domain.stage import REQUIRED_UNLESS_STAGED
from plimsoll.domain.units import format_duration
from plimsoll.services.definitions.documents import parse_yaml

_SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


def parse_definition(text: str, where: str) -> Definition:
    """Parse the definition in a YAML text. Raises DefinitionError with every fault: key, line, found, what to write."""
    try:
        return _parsed(text)
    except DefinitionError as error:
        raise DefinitionError(error.problems, where=where) from None


@lru_cache(maxsize=256)
def _parsed(text: str) -> Definition:
    """Return the definition in a text, which takes 10 to 20 ms to parse, and which many attempts ask for."""
    return parse_yaml(text, where="").model(Definition)


def dump_definition(definition: Definition) -> str:
    """Return the definition as YAML, complete with its defaults. Parsing the result gives an equal definition."""
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    unused = {"workload"} if definition.workloads else {"workloads"}
    yaml.dump(definition.model_dump(mode="json", exclude=unused), stream)
    return stream.getvalue()


class _DefaultsAsWritten(GenerateJsonSchema):
    """A schema that has default durations as definitions have them, `10s`; pydantic would write `PT10S`."""

    def encode_default(self, dft: Any) -> Any:
        return format_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def definition_schema() -> dict[str, Any]:
    """Return the JSON schema of definitions, for editors and forms."""
    schema = Definition.model_json_schema(by_alias=True, schema_generator=_DefaultsAsWritten)
    schema["required"] = [name for name in schema["required"] if name not in REQUIRED_UNLESS_STAGED]
    rate = {"type": "string", "pattern": schema["properties"]["loads"]["items"]["pattern"]}
    keys = ("from", "to", "step")
    span = {"type": "object", "properties": dict.fromkeys(keys, rate), "required": list(keys)}
    loads = schema["properties"]["loads"]
    listed = {key: value for key, value in loads.items() if key not in ("title", "description")}
    range_of_loads, no_load = {**span, "additionalProperties": False}, {"type": "string", "const": "none"}
    schema["properties"]["loads"] = {
        "title": loads["title"],
        "description": loads["description"],
        "anyOf": [listed, range_of_loads, no_load],
    }
    of_stage = schema["$defs"]["Stage"]["properties"]["loads"]
    of_stage["anyOf"] = [range_of_loads, no_load, *of_stage["anyOf"]]
    return {"$schema": _SCHEMA_ID, **schema}
