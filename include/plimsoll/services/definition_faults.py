"""Validation faults of a definition in words: which key, on which line, what was found, what is allowed."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from plimsoll.domain.base import Model
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem


def root_faults(error: ValidationError) -> Sequence[ErrorDetails]:
    """The faults without those that only follow from a fault deeper inside the same key."""
    faults = error.errors()
    places = [fault["loc"] for fault in faults]
    return [fault for fault in faults if not any(_lies_inside(place, fault["loc"]) for place in places)]


def _lies_inside(place: Sequence[Any], key: Sequence[Any]) -> bool:
    return len(place) > len(key) > 0 and tuple(place[: len(key)]) == tuple(key)


def problem_of(fault: ErrorDetails, content: Any, model: type[Model] = Definition) -> Problem:
    """The fault as key and line, what is wrong and was found there, and what is allowed in a model of that kind."""
    path = [part for part in fault["loc"] if part != "function-after"]
    key = ".".join(str(part) for part in path) or "the whole file"
    line = _line(path, content)
    found = _found(fault)
    return Problem(f"{key} (line {line})" if line else key, f"{_sentence(fault)}{found}", _allowed(fault, model))


def _sentence(fault: ErrorDetails) -> str:
    match fault["type"]:
        case "extra_forbidden":
            return "is not a key that a definition knows here"
        case "missing":
            return "is missing"
        case _:
            return str(fault["msg"]).removeprefix("Value error, ")


def _found(fault: ErrorDetails) -> str:
    value = fault.get("input")
    is_short = isinstance(value, str | int | float | bool)
    return f"; found {value!r}" if is_short and fault["type"] != "missing" else ""


def _allowed(fault: ErrorDetails, model: type[Model]) -> str:
    context = fault.get("ctx") or {}
    if "expected" in context:
        return f"allowed: {context['expected']}"
    if fault["type"] == "extra_forbidden":
        known = _known_keys(fault["loc"], model)
        return f"allowed: {', '.join(known)}" if known else "remove it"
    if "pattern" in context:
        return f"allowed: text like {context['pattern']}"
    return ""


def _known_keys(path: Iterable[Any], model: type[Model]) -> tuple[str, ...]:
    schema: Any = model.model_json_schema()
    node: Any = schema
    for part in list(path)[:-1]:
        node = _resolve(schema, _resolve(schema, node).get("items" if isinstance(part, int) else "properties", {}))
        node = node if isinstance(part, int) else node.get(part, {})
    return tuple(_resolve(schema, node).get("properties", {}))


def _resolve(schema: Any, node: Any) -> Any:
    reference = node.get("$ref") or next((part.get("$ref") for part in node.get("allOf", ())), None)
    return schema["$defs"][reference.rpartition("/")[2]] if reference else node


def _line(path: list[Any], content: Any) -> int | None:
    node, line = content, None
    for part in path:
        marks = getattr(node, "lc", None)
        if marks is None or part not in (marks.data or {}):
            return line
        line = marks.data[part][0] + 1
        node = node[part]
    return line
