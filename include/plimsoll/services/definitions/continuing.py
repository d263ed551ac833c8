"""Decide whether a campaign can go on with a definition, and make the campaign's own copy of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.domain.definition import Definition
from plimsoll.services.definitions.sliding_windows import judged_as

_FREE_TO_CHANGE = ("description", "published", "max_cells", "budget", "at_most", "schedule", "timezone", "notify")
"""Keys that do not affect the measurement."""
_FREE_OPTIONS: Mapping[str, frozenset[str]] = {
    "ec2": frozenset(
        {"connection", "expiry_margin", "patience", "prices", "security_group", "ssh_connection", "ssh_port", "startup"}
        | {"subnets", "zones"}
    ),
    "external": frozenset({"connection"}),
    "local": frozenset({"disk_per_node", "memory_per_node_overhead", "reserved_memory"}),
    "ssh": frozenset({"connection", "disk_per_host"}),
}
"""Options by provider that say how hosts are reached, awaited and found room for, and not what they are."""


def continued_as(stored: Definition, definition: Definition) -> Definition | None:
    """Return the campaign's own copy if the campaign goes on with this definition; None where it can't.

    `stored` is the copy as the campaign declared it, without loads that stages took from earlier stages' results.
    """
    wanted = judged_as(stored, definition)
    free = {name: getattr(wanted, name) for name in _FREE_TO_CHANGE}
    if _fixed(stored.provider.model_dump()) == _fixed(wanted.provider.model_dump()):
        free["provider"] = wanted.provider
    return wanted if stored.model_copy(update=free) == wanted else None


def changed_keys(stored: Definition, definition: Definition) -> Iterator[str]:
    """Yield the keys that the definition and the campaign's own copy do not agree in."""
    wanted = judged_as(stored, definition)
    for name in type(stored).model_fields:
        if name == "provider" and stored.provider.name == wanted.provider.name:
            before, after = (_fixed(one.provider.model_dump())["options"] for one in (stored, wanted))
            yield from (f"provider.options.{key}" for key in before | after if before.get(key) != after.get(key))
        elif getattr(stored, name) != getattr(wanted, name):
            yield name


def _fixed(provider: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provider without the options that may change, also of the provider that lends the load hosts."""
    name = str(provider.get("name") or provider.get("provider"))
    options = {key: one for key, one in provider["options"].items() if key not in _FREE_OPTIONS.get(name, ())}
    lender = options.get("load_hosts")
    if isinstance(lender, dict):
        options["load_hosts"] = _fixed({"options": {}, **lender})
    return {**provider, "options": options}
