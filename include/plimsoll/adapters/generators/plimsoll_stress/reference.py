"""The keys of `workload: {name: cql, …}` for the definition reference, from the load generator's own description."""

import json
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.generators.plimsoll_stress.catalogue import catalogue
from plimsoll.adapters.generators.plimsoll_stress.remarks import OWN_STATEMENTS
from plimsoll.adapters.generators.workload_options import Option

Row = tuple[str, str, str, str]
"""Key, value, default, meaning."""
_PARTS = {"bind": "bind", "operations": "operation", "populate": "population"}
"""The tables that describe values of these types."""


def own_statement_tables() -> Mapping[str, Sequence[Row]]:
    """Return a table of keys for each part of a definition's own tables and statements, by its heading."""
    known = catalogue()
    distribution = (
        "distribution",
        "[a distribution](#distributions)",
        "required",
        "Numbers, with its own keys beside it",
    )
    return {
        "keys of cql": tuple(_rows(known.by_name[OWN_STATEMENTS].options)),
        "operation": tuple(_rows(known.operation)),
        "population": tuple(_rows(known.populate)),
        "bind": (distribution, *_rows(known.bind)),
        "distributions": tuple((one.name, _keys(one.parameters), "none", one.doc) for one in known.distributions),
    }


def _keys(parameters: Sequence[Option]) -> str:
    """Return the keys of a distribution, with their defaults."""
    told = (
        f"`{key}` ({default.strip('`')})" if default != "none" else f"`{key}`"
        for key, _, default, _ in _rows(parameters)
    )
    return ", ".join(told) or "no key"


def _rows(options: Sequence[Option]) -> Iterator[Row]:
    for one in options:
        default = "required" if one.required else _default(one.default)
        yield one.name, _value(one), default, one.doc


def _default(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return "none" if value in (None, "") else f"`{text}`"


def _value(option: Option) -> str:
    if option.choices:
        return ", ".join(f"`{choice}`" for choice in option.choices)
    return f"[{_PARTS[option.type]}](#{_PARTS[option.type]})" if option.type in _PARTS else option.type
