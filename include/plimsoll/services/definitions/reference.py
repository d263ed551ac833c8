"""Definitions as text: parse them with clear errors, write them back, export the JSON schema.

The definition reference is that schema as a Markdown document for people.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from importlib.resources import files
from io import StringIO
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from ruamel.yaml import YAML

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.parameters import PARAMETERS
from plimsoll.domain.keys.strategy import REQUIRED_UNLESS_STAGED
from plimsoll.domain.keys.substitution import WITHOUT_PARAMETERS, as_own_copy
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.domain.text.units import format_duration
from plimsoll.services.definitions.documents import parse_yaml

_SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = {"type": "string", "pattern": r"\$\(", "description": "A text with the value of a parameter: `$(name)`"}
_ABOUT = ("title", "description", "default")
_NO_PARAMETERS = (*WITHOUT_PARAMETERS, PARAMETERS)


def parse_definition(text: str, where: str) -> Definition:
    """Parse the definition in a YAML text. Raises DefinitionError with every fault: key, line, found, what to write."""
    try:
        return _parsed(text)
    except DefinitionError as error:
        raise DefinitionError(error.problems, where=where) from None


@lru_cache(maxsize=256)
def _parsed(text: str) -> Definition:
    """Return the definition in a text, which takes 10 to 20 ms to parse, and which many attempts ask for."""
    # Without a place, because all files with this text share the result
    return parse_yaml(text, where="").model(Definition)


def dump_definition(definition: Definition) -> str:
    """Return the definition as YAML, complete with its defaults. Parsing the result gives an equal definition."""
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    unused = {"workload"} if definition.workloads else {"workloads"}
    yaml.dump(as_own_copy(definition.model_dump(mode="json", exclude=unused)), stream)
    return stream.getvalue()


class _DefaultsAsWritten(GenerateJsonSchema):
    """A schema that has default durations as definitions have them, `10s`; pydantic would write `PT10S`."""

    def encode_default(self, dft: Any) -> Any:
        return format_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def definition_schema() -> dict[str, Any]:
    """Return the JSON schema of definitions, for editors and forms: references to parameters may stand in them."""
    schema = _schema_of_values()
    referring = _with_references(schema)
    whole = {name: schema["properties"][name] for name in _NO_PARAMETERS}
    for part, values in ((referring, schema), (referring["$defs"]["Stage"], schema["$defs"]["Stage"])):
        part["properties"]["strategy"] = values["properties"]["strategy"]
    own = {name: schema["$defs"][name] for name in _parts_of(whole, schema["$defs"])}
    parts = {**referring["$defs"], **own, "Reference": _REFERENCE}
    return {**referring, "$defs": parts, "properties": {**referring["properties"], **whole}}


def _parts_of(node: Any, parts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of all parts that something in the schema consists of."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for one in inner:
        yield from _parts_of(one, parts)
    if isinstance(node, dict) and "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        yield from (name, *_parts_of(parts[name], parts))


def _with_references(node: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the schema that also takes a reference for each single value that may be a parameter's."""
    part = {key: _inner(key, value) for key, value in node.items()}
    if part.get("type") in (None, "object", "array", "null") or ("const" in part and "default" in part):
        return part
    about: dict[str, Any] = {key: part.pop(key) for key in _ABOUT if key in part}
    return part | about if part == {"type": "string"} else {**about, "anyOf": [part, {"$ref": "#/$defs/Reference"}]}


def _inner(keyword: str, value: Any) -> Any:
    """Return the value of a keyword of the schema, with references in the parts of the schema that it consists of."""
    if keyword in ("properties", "$defs"):
        return {name: _with_references(part) for name, part in value.items()}
    if keyword in ("anyOf", "oneOf"):
        return list(map(_with_references, value))
    return _with_references(value) if keyword in ("items", "additionalProperties") and value else value


def _schema_of_values() -> dict[str, Any]:
    schema = Definition.model_json_schema(by_alias=True, schema_generator=_DefaultsAsWritten)
    schema["required"] = [name for name in schema["required"] if name not in REQUIRED_UNLESS_STAGED]
    loads, keys = schema["properties"]["loads"], ["from", "to", "step"]
    rate = {"type": "string", "pattern": loads["items"]["pattern"]}
    span = {"type": "object", "properties": dict.fromkeys(keys, rate), "required": keys}
    range_of_loads, no_load = {**span, "additionalProperties": False}, {"type": "string", "const": "none"}
    about = {key: loads.pop(key) for key in ("title", "description")}
    schema["properties"]["loads"] = {**about, "anyOf": [loads, range_of_loads, no_load]}
    of_stage = schema["$defs"]["Stage"]["properties"]["loads"]
    of_stage["anyOf"] = [range_of_loads, no_load, *of_stage["anyOf"]]
    return {"$schema": _SCHEMA_ID, **schema}


_ANYTHING = "/JsonValue"
_INTRODUCTION = """# Definition reference

A campaign is declared in one YAML file in `include/campaigns/`. `plimsoll plan FILE` reports each mistake with its line
and with what to write instead, before anything starts. JVM flags are checked by the JVM that will run with them; `plan`
says so if that JVM is not on this machine.

Values have units: durations `150m`, `90s`, `100ms`; sizes `512M`, `40G` (binary); rates `20000/s`, `20k/s`; counts
`200000`, `100M` (decimal); money `1500 USD`. A key without a kind of value in parentheses is text. An unknown key is an
error. The options of a workload are further keys of `workload`
([workloads](../../include/stress/README.md#workloads), [your own statements](#cql)).

`plimsoll schema --markdown` generates this page from the
[schema](../../include/campaigns/definition.schema.json).

## Four examples

Each is a complete file.
"""


_OWN_STATEMENTS = """## cql

`workload: {name: cql, …}` asks your own statements of your own tables, as in the second example above. These are its
further keys, of the load generator `plimsoll-stress` ([more](../../include/stress/README.md#your-own-statements)).
"""
Row = tuple[str, str, str, str]
"""Key, value, default, meaning."""


def definition_reference(own_statements: Mapping[str, Sequence[Row]]) -> str:
    """Return the whole reference: examples, the definition, every part of it, and keys of `cql` by load generator."""
    schema = _schema_of_values()
    parts = {"Definition": schema, **{name: part for name, part in schema["$defs"].items() if "properties" in part}}
    sections = [_section(name, part, parts) for name, part in parts.items()]
    tables = (f"### {heading}\n\n{_keys(rows)}\n" for heading, rows in own_statements.items())
    return "\n".join([_INTRODUCTION, *map(_example, examples()), *sections, _OWN_STATEMENTS, *tables])


def examples() -> tuple[str, ...]:
    """Return complete definitions, each with a first line that says what the definition shows."""
    folder = files("plimsoll.services.definitions").joinpath("examples")
    return tuple(file.read_text() for file in sorted(folder.iterdir(), key=lambda file: file.name))


def _example(text: str) -> str:
    about, _, definition = text.partition("\n")
    return f"{about.removeprefix('# ')}\n\n```yaml\n{definition}```\n"


def _keys(rows: Iterable[Row]) -> str:
    return "\n".join(
        f"- `{key}`{_kind(value, default)}{f': {meaning}' if meaning else ''}" for key, value, default, meaning in rows
    )


def _kind(value: str, default: str) -> str:
    """Return what stands in parentheses after a key. Text is the kind of value that needs no word."""
    asked = {"required": "required", "none": "", "see there": ""}.get(default, f"default {default}")
    words = "; ".join(word for word in ("" if value in ("string", "text") else value, asked) if word)
    return f" ({words})" if words else ""


def _section(name: str, part: dict[str, Any], parts: Mapping[str, dict[str, Any]]) -> str:
    about = " ".join(part.get("description", "").split())
    keys = part["properties"].items()
    # A part all of whose keys this part has too, beside keys of its own, is its base.
    base = next((other for other, candidate in parts.items() if candidate["properties"].items() < keys), None)
    known = parts[base]["properties"] if base else {}
    rows = (row for row in _rows(part) if row[0] not in known)
    inherited = f"It has the keys of a [{base}](#{base.lower()}), and:\n\n" if base else ""
    return f"## {name}\n\n{about}\n\n{inherited}{_keys(rows)}\n"


def _rows(part: dict[str, Any]) -> Iterator[Row]:
    required = part.get("required", [])
    for key, field in part["properties"].items():
        if "const" in field and field["const"] == field.get("default"):
            continue  # the name of a part that is chosen by it
        default = "required" if key in required else _default(field)
        yield key, _value(field), default, field.get("description", "")


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if value in (None, [], {}, ""):
        return "none"
    return "see there" if isinstance(value, dict | list) else f"`{value}`"


def _value(field: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for choices in ("anyOf", "oneOf"):
        if choices in field:
            return " or ".join(_value(choice) for choice in field[choices] if choice.get("type") != "null")
    if "enum" in field:
        return ", ".join(f"`{choice}`" for choice in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if field.get("type") == "array":
        return f"list of {_value(field['items'])}"
    return _scalar(field)


def _scalar(field: dict[str, Any]) -> str:
    if "examples" in field:
        return f"`{field['examples'][0]}`"
    if "properties" in field:
        return "`{" + ", ".join(field["properties"]) + "}`"
    each = str((field.get("additionalProperties") or {}).get("$ref", _ANYTHING))
    if not each.endswith(_ANYTHING):
        return f"names, each with a {_value({'$ref': each})}"
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = ", ".join(f"{sign}{field[key]:.10g}" for key, sign in bounds.items() if key in field)
    return limits or str(field.get("type", "anything"))
