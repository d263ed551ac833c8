"""The definition reference: the JSON schema as a Markdown document for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from plimsoll.services.definitions.text import definition_schema

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

## Three examples

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
    schema = definition_schema()
    parts = {"Definition": schema, **{name: part for name, part in schema["$defs"].items() if "properties" in part}}
    sections = [_section(name, part, parts) for name, part in parts.items()]
    return "\n".join([_INTRODUCTION, *map(_example, examples()), *sections, _cql(own_statements)])


def examples() -> tuple[str, ...]:
    """Return complete definitions, each with a first line that says what the definition shows."""
    folder = files("plimsoll.services.definitions").joinpath("examples")
    return tuple(one.read_text() for one in sorted(folder.iterdir(), key=lambda one: one.name))


def _example(text: str) -> str:
    about, _, definition = text.partition("\n")
    return f"{about.removeprefix('# ')}\n\n```yaml\n{definition}```\n"


def _cql(tables: Mapping[str, Sequence[Row]]) -> str:
    return "\n".join([_OWN_STATEMENTS, *(f"### {heading}\n\n{_keys(rows)}\n" for heading, rows in tables.items())])


def _keys(rows: Iterable[Row]) -> str:
    return "\n".join(f"- `{key}`{_kind(value, default)}{_meaning(meaning)}" for key, value, default, meaning in rows)


def _kind(value: str, default: str) -> str:
    """Return what stands in parentheses after a key. Text is the kind of value that needs no word."""
    asked = {"required": "required", "none": "", "see there": ""}.get(default, f"default {default}")
    told = "; ".join(one for one in ("" if value in ("string", "text") else value, asked) if one)
    return f" ({told})" if told else ""


def _meaning(meaning: str) -> str:
    return f": {meaning}" if meaning else ""


def _section(name: str, part: dict[str, Any], parts: Mapping[str, dict[str, Any]]) -> str:
    about = " ".join(part.get("description", "").split())
    base = _base(part, parts)
    known = parts[base]["properties"] if base else {}
    rows = (row for row in _rows(part) if row[0] not in known)
    inherited = f"It has the keys of a [{base}](#{base.lower()}), and:\n\n" if base else ""
    return f"## {name}\n\n{about}\n\n{inherited}{_keys(rows)}\n"


def _base(part: dict[str, Any], parts: Mapping[str, dict[str, Any]]) -> str | None:
    """Return the part all of whose keys this part has too, beside keys of its own."""
    own = part["properties"].items()
    return next((name for name, one in parts.items() if one["properties"].items() < own), None)


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
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = ", ".join(f"{sign}{field[key]:g}" for key, sign in bounds.items() if key in field)
    return limits or str(field.get("type", "anything"))
