"""The values that stand for the placeholders of a database's commands. Pure."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from pydantic import JsonValue

PRODUCT = "command"
"""The name of such a database in definitions, of a node's job and of its process."""
OF_NODES = {
    "address": "address of the node",
    "addresses": "addresses of all nodes, with commas",
    "node": "number of the node, from 1",
    "data": "folder of the node's data, which `prepare` or `run` makes",
}
"""Name → meaning. Further names are the settings of system and variant that are texts or numbers."""


def of_settings(settings: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return the settings that can stand in commands, as they are written."""
    return {name: _text(value) for name, value in settings.items() if isinstance(value, str | int | float)}


def of_node(
    settings: Mapping[str, JsonValue], addresses: Sequence[str], number: int, data: PurePosixPath
) -> dict[str, str]:
    """Return every placeholder's value for a node; `number`: its place among all, from 0."""
    own = {"address": addresses[number], "addresses": ",".join(addresses), "node": str(number + 1), "data": str(data)}
    return {**of_settings(settings), **own}


def _text(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
