"""Describe faults in values that a person wrote: which key, what was found, what to write instead.

pydantic checks definitions, descriptions of imports, options of providers, Params of runs and settings. Its own
messages are written for programmers, so users never see them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from plimsoll.domain.keys.expected import STRATEGY_NAMES, expected, known_keys, node_at, sections_with
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.guesses import number_meant, way_around
from plimsoll.domain.text.units import format_duration
from plimsoll.domain.text.wording import masked, meant, meant_or_known, nearest

Path = tuple[int | str, ...]
"""Keys and places in lists, from the outermost: `("variants", 0, "jvm", "heap")`."""
Source = Callable[[Path], str | None]
"""The text that stands at a path in the file; None where it is not known, or is more than one value."""
IN_QUOTES = "put it in quotes"
"""How to mend text that YAML takes for a number; it may be followed by the text in quotes."""


@dataclass(frozen=True)
class Fault:
    """One fault at a path: `what` was found, and what to write there instead (`mend`)."""

    path: Path
    what: str
    mend: str = ""

    @property
    def key(self) -> str:
        """Return the path as people write it: `variants[0].jvm.heap`."""
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return text.removeprefix(".")

    def problem(self, line: int | None = None, under: str = "") -> Problem:
        """Return the fault as a Problem: its key below the key `under`, and its line where that is known."""
        key = ".".join(part for part in (under, self.key) if part) or "the whole file"
        return Problem(f"{key} (line {line})" if line else key, self.what, self.mend)


class Faulty(ValueError):
    """Raised by a model's own validators. It carries several faults, each with its path from that model."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.what for fault in faults))


def require_none(faults: Iterator[Fault]) -> None:
    """Raise Faulty if there is any fault."""
    if listed := list(faults):
        raise Faulty(listed)


def problems_of(error: ValidationError, model: type[BaseModel], under: str = "") -> list[Problem]:
    """Return every fault that pydantic found in a value of that model, as Problems with keys below `under`."""
    return [fault.problem(under=under) for fault in faults_of(error, model)]


def faults_of(error: ValidationError, model: type[BaseModel], source: Source = lambda _: None) -> list[Fault]:
    """Return each fault that pydantic found in a model's value. `source` returns the file's own text at a path."""
    schema = _schema(model)
    return [fault for root in _roots(error.errors()) for fault in _faults(root, schema, source)]


def fault_words(found: Mapping[str, Any]) -> str:
    """Describe the fault of a value of an unknown model, from pydantic's account of it and the value itself."""
    context, text = found.get("ctx") or {}, _shown(found.get("input"), None)
    match found["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "there is no such key here"
        case "json_invalid":
            return f"is no JSON: {context.get('error', '')}"
        case "literal_error":
            what = f"must be {context['expected']}"
        case "value_error":
            what = str(context["error"])
        case kind:
            what = _rule(kind, context, text)
    return f"{what}; found {text}" if text else what


def as_written(value: Any, model: type[BaseModel]) -> Any:
    """Return the value with `true` and `false` as text for a number, which pydantic would read as 1 and 0."""
    schema = _schema(model)

    def written(leaf: Any, path: Path) -> Any:
        is_truth = isinstance(leaf, bool) and node_at(schema, path).get("type") in ("integer", "number")
        return _BooleanText(str(leaf).lower()) if is_truth else leaf

    return changed_tree(value, written)


def changed_tree(node: Any, change: Callable[[Any, Path], Any], path: Path = ()) -> Any:
    """Return the tree with what `change` makes of each single value in it and its path."""
    if isinstance(node, Mapping):
        return {key: changed_tree(value, change, (*path, key)) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [changed_tree(value, change, (*path, number)) for number, value in enumerate(node)]
    return change(node, path)


@cache
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """Return the model's JSON schema. Making it takes as long as reading a definition's YAML, so it is made once."""
    return model.model_json_schema(by_alias=True)


class _BooleanText(str):
    """The text `true` or `false`, as the file has it."""

    __slots__ = ()


def _roots(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out faults that only follow from a fault deeper inside the same key."""
    paths = [_path(error) for error in errors]
    return [
        error
        for error, key in zip(errors, paths, strict=True)
        if not any(len(path) > len(key) > 0 and path[: len(key)] == key for path in paths)
    ]


_TIMES = re.compile(r"(days|seconds|microseconds)=(-?\d+)")
# The last two are the tags of `loads.StageLoads`
_NO_KEYS = ("function-after", "function-before", "[key]", "load-levels", "taken-load")
_KINDS = {("strategy", name) for name in STRATEGY_NAMES}


def _path(error: ErrorDetails) -> Path:
    """Return the path as the file has it, without what pydantic puts between its keys: validators, union members."""
    place = _place(error)
    return tuple(part for part, before in zip(place, (None, *place), strict=False) if (before, part) not in _KINDS)


def _place(error: ErrorDetails) -> Path:
    """Return the path as the JSON schema has it, with the name of a strategy, as the schema has keys for each."""
    return tuple(part for part in error["loc"] if part not in _NO_KEYS)


def _faults(error: ErrorDetails, schema: Mapping[str, Any], source: Source) -> Iterator[Fault]:
    path = _path(error)
    inner = (error.get("ctx") or {}).get("error")
    if isinstance(inner, Faulty):
        yield from (Fault((*path, *fault.path), fault.what, fault.mend) for fault in inner.faults)
        return
    text = _shown(error.get("input"), source(path))
    yield Fault(path, *_words(error, schema, text))


def _words(error: ErrorDetails, schema: Mapping[str, Any], text: str) -> tuple[str, str]:
    """Return the two texts of a fault: what is wrong, and what to write."""
    place = _place(error)
    node, value, shown = node_at(schema, place), error.get("input"), f"; found {text}" if text else ""
    mend = expected(node)
    match error["type"]:
        case "extra_forbidden":
            what, shown, mend = "there is no such key here", "", way_around(place) or _where_to_write(schema, place)
        case "invalid_key":
            what, shown, mend = "a key must be text", "", IN_QUOTES
        case "missing":
            what, shown = "is missing", ""
        case "string_type" | "invalid-json-value" if _is_scalar(value):
            what, shown = "must be text", f"{shown}, which is {_kind(value)}"
            mend = f'{IN_QUOTES}: "{text}"' if re.search(str(node.get("pattern", "")), text) else mend
        case "literal_error":
            what = "is none of the values that can stand here"
            mend = f"{meant(value, map(str, node.get('enum', ())))} {mend}".strip()
        case "value_error":
            what, shown = str(error["ctx"]["error"]), ""
            # Such messages already say what to write
            mend = "" if " like " in what or ": write " in what else mend
        # Several values in place of one, such as `threads: [1, 64]`, are meant as an axis that there is not
        case "int_type" if isinstance(value, list) and way_around(place):
            what, mend = "must be a whole number", way_around(place)
        case kind:
            what, mend = _rule(kind, error.get("ctx") or {}, text), _number_to_write(kind, value, node, mend)
    return f"{what}{shown}", mend


def _number_to_write(kind: str, value: object, node: Mapping[str, Any], mend: str) -> str:
    """Return the advice for a number that is written otherwise: `p99`, or a share as `20%` or 20; else `mend`."""
    is_share = node.get("maximum") == 1
    if kind == "less_than_equal" and is_share and isinstance(value, int | float) and value <= _PER_CENT:
        return f"{mend}; {value:g} % is {value / _PER_CENT:g}"
    number = number_meant(value, is_share=is_share) if kind == "float_parsing" and isinstance(value, str) else None
    return mend if number is None else f"write {number:g}"


def _where_to_write(schema: Mapping[str, Any], place: Path) -> str:
    """Return the advice for an unknown key: the section that has a key of that name, or the keys that are allowed here.

    A key may be misspelt and the name of another section's key too: `load` for `loads`, which `canary` has.
    """
    known = known_keys(schema, place)
    sections = " or ".join(f"`{section}`" for section in sections_with(schema, place))
    if not sections:
        return meant_or_known(place[-1], known)
    near = nearest(place[-1], known, least=_NEARER)
    return f"did you mean {near!r}? or write it inside {sections}" if near else f"write it inside {sections}"


def _bound(bound: object) -> str:
    """Return a bound as people write it. pydantic gives one that is a time as Python's code for it."""
    if isinstance(bound, str):
        return format_duration(timedelta(**{unit: int(number) for unit, number in _TIMES.findall(bound)}))
    return f"{bound:g}"


def _rule(kind: str, context: Mapping[str, Any], text: str) -> str:
    if text == _NOTHING:
        return "has no value"
    limits = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
    for name, words in limits.items():
        if name in context:
            return f"must be {words} {_bound(context[name])}"
    if kind in ("string_too_short", "too_short"):
        return "must not be empty"
    if "max_length" in context:
        unit = "characters" if kind == "string_too_long" else "entries"
        return f"must have at most {context['max_length']} {unit}"
    return _RULES.get(kind, "can't stand here")


_NOTHING = "nothing"
_RULES: Mapping[str, str] = {
    "string_type": "must be text",
    "string_pattern_mismatch": "is not written as it must be",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    "int_parsing_size": "is too large",
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    "finite_number": "must be a finite number",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("tuple_type", "list_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "must have keys of its own"),
    **dict.fromkeys(
        ("datetime_type", "datetime_parsing", "datetime_from_date_parsing", "timezone_aware"),
        "must be a date and a time with a zone, such as 2026-01-31T12:00:00Z",
    ),
    "invalid-json-value": "must be text, a number, true, false, a list or keys with such values",
}


def _shown(value: object, source: str | None) -> str:
    """Return a value as the file has it. That holds for numbers too, from which YAML drops zeros (`4.10`)."""
    return source if source and _is_scalar(value) else _as_text(value)


def _is_scalar(value: object) -> bool:
    return value is not None and not isinstance(value, str | list | tuple | dict)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false to YAML"
    if isinstance(value, int | float):
        return "a number to YAML"
    return "a date to YAML" if isinstance(value, date) else "no text to YAML, because of its tag"


_LONGEST = 60
_PER_CENT = 100
_NEARER = 0.8
"""How much another key must resemble one that a section has: `load` resembles `loads`, `duration` no `action`."""


def _as_text(value: object) -> str:
    """Return a single value as YAML shows it; empty for lists and mappings."""
    if value is None:
        return _NOTHING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "" if value else "[]"
    if isinstance(value, dict):
        return "keys" if value else "{}"
    is_text = isinstance(value, str) and not isinstance(value, _BooleanText)
    text = repr(masked(str(value))) if is_text else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
