"""Describe in words which values a key accepts, from a model's JSON schema."""

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.domain.keys.variant import SLUG

STRATEGY_NAMES = ("full-grid", "search", "ramp", "threshold")

Node = Mapping[str, Any]


def node_at(schema: Node, path: Sequence[int | str]) -> Node:
    """Return the node of the schema at that path; empty where the schema has no such path."""
    node: Node = _resolved(schema, schema)
    for key in path:
        node = _resolved(schema, _child(schema, node, key))
    return node


def known_keys(schema: Node, path: Sequence[int | str]) -> tuple[str, ...]:
    """Return the keys that are allowed beside the last one of the path."""
    node = node_at(schema, path[:-1])
    choices = (node, *node.get("anyOf", ()))
    kinds = (_referenced(schema, kind) for choice in choices for kind in choice.get("oneOf", ()))
    return tuple(dict.fromkeys(name for kind in (*choices, *kinds) for name in kind.get("properties", {})))


def sections_with(schema: Node, path: Sequence[int | str]) -> tuple[str, ...]:
    """Return the keys beside the last one of the path that have a key of its name inside: `strategy` for `mode`."""
    *parent, name = path
    return tuple(key for key in known_keys(schema, path) if name in known_keys(schema, (*parent, key, name)))


def expected(node: Node) -> str:
    """Return what to write, such as `write a whole number from 1 to 1000: times every variant meets every load`."""
    value, about = value_words(node), _about(node)
    if not value:
        return about
    return f"write {value}: {about}" if about and "properties" not in node else f"write {value}"


def value_words(node: Node) -> str:
    """Return the kind of value without its meaning: `a whole number from 1 to 1000`, `one of: all, reads, writes`."""
    if "anyOf" in node:
        choices = [value_words(choice) for choice in node["anyOf"] if choice.get("type") != "null"]
        return " or ".join(choice for choice in choices if choice)
    if "enum" in node or "const" in node:
        values = [str(value) for value in node.get("enum", [node.get("const")])]
        return f"one of: {', '.join(values)}" if len(values) > 1 else f"{values[0]}, the only value there is"
    if node.get("examples"):
        return f"a value like {' or '.join(str(example) for example in node['examples'])}"
    if node.get("pattern") == SLUG:
        return "lower-case letters, digits and single hyphens, such as `g1-large`"
    if "properties" in node:
        return f"keys: {', '.join(node['properties'])}"
    return _plain(node)


def _about(node: Node) -> str:
    """Return the node's description, in the form of the end of a sentence."""
    about = str(node.get("description", "")).replace("\n", " ").rstrip(".")
    # A first word in capitals, such as JVM, stays as it is
    return about[:1].lower() + about[1:] if about[1:2].islower() or about[1:2] == " " else about


def _plain(node: Node) -> str:
    kind = str(node.get("type", ""))
    if kind == "array":
        items = value_words(node.get("items", {}))
        return f"a list, each entry {items}" if items else "a list"
    words = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text"}
    return f"{words.get(kind, 'keys with values' if kind == 'object' else '')}{_limits(node)}"


def _limits(node: Node) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "up to", "exclusiveMaximum": "below"}
    limits = [f"{word} {node[key]:g}" for key, word in words.items() if key in node]
    return f" {' and '.join(limits)}" if limits else ""


def _child(schema: Node, node: Node, key: int | str) -> Node:
    for choice in (node, *node.get("anyOf", ())):
        for kind in (_referenced(schema, option) for option in choice.get("oneOf", ())):
            if kind.get("properties", {}).get("name", {}).get("const") == key:
                return kind
        if isinstance(key, int) and "items" in choice:
            return dict(choice["items"])
        if key in choice.get("properties", {}):
            return dict(choice["properties"][key])
        if isinstance(choice.get("additionalProperties"), dict):
            return dict(choice["additionalProperties"])
    return {}


def _resolved(schema: Node, node: Node) -> Node:
    """Return the node with its references resolved. Its own keys win over those of the reference.

    A choice between one thing and nothing is resolved to that thing.
    """
    node = _referenced(schema, node)
    choices = [choice for choice in node.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        own = {key: value for key, value in node.items() if key != "anyOf"}
        resolved = {**_referenced(schema, choices[0]), **own}
        if "oneOf" in resolved:  # each kind with its own keys
            resolved["anyOf"] = [_referenced(schema, kind) for kind in resolved.pop("oneOf")]
        return resolved
    if choices:
        return {**node, "anyOf": [_referenced(schema, choice) for choice in choices]}
    if isinstance(node.get("items"), dict):
        return {**node, "items": _referenced(schema, node["items"])}
    return node


def _referenced(schema: Node, node: Node) -> Node:
    reference = node.get("$ref")
    if not reference:
        return node
    own = {key: value for key, value in node.items() if key != "$ref"}
    return {**schema["$defs"][str(reference).rpartition("/")[2]], **own}
