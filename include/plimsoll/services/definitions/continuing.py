"""Decide whether a campaign can go on with a definition, and make the campaign's own copy of it. Sliding windows are
judged in addition, even if it has begun without them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.service_level import ServiceLevel

_FREE_TO_CHANGE = (
    *("description", "published", "label", "max_cells", "budget", "at_most", "approve", "schedule", "timezone"),
    *("finish_by", "trigger", "notify", "parameters"),
)
"""Keys that do not affect the measurement."""
_FREE_OPTIONS: Mapping[str, frozenset[str]] = {
    "command": frozenset({"answer_within", "connection", "launch_within", "patience", "prices", "startup"}),
    "ec2": frozenset(
        {"connection", "expiry_margin", "patience", "prices", "security_group", "ssh_connection", "ssh_port", "startup"}
        | {"subnets", "zones"}
    ),
    "external": frozenset({"connection", "secrets", "environment", "ready", "version", "facts", "owned", "clean_up"}),
    "local": frozenset({"disk_per_node", "memory_per_node_overhead", "reserved_memory"}),
    "ssh": frozenset({"connection", "disk_per_host"}),
}
"""Options by provider that say how hosts are reached, awaited and found room for, and not what they are."""


def continued_as(stored: Definition, definition: Definition) -> Definition | None:
    """Return what the campaign's own copy becomes if the campaign goes on with this definition; None where it can't.

    `stored` is the copy as the campaign declared it, without loads that stages took from earlier stages' results.
    """
    is_free = all(key in _FREE_TO_CHANGE for key in changed_keys(stored, definition))
    return judged_as(stored, definition) if is_free else None


def changed_keys(stored: Definition, definition: Definition) -> Iterator[str]:
    """Yield the keys that differ, without options of the provider that may change."""
    wanted = judged_as(stored, definition)
    for name in type(stored).model_fields:
        if name == "provider" and stored.provider.name == wanted.provider.name:
            before, after = (_fixed(copy.provider.model_dump())["options"] for copy in (stored, wanted))
            # An option may be null, but never `...`
            changed = [key for key in before | after if before.get(key, ...) != after.get(key, ...)]
            yield from (f"provider.options.{key}" for key in changed)
        elif getattr(stored, name) != getattr(wanted, name):
            yield name


def _fixed(provider: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provider without the options that may change, also of the provider that lends the load hosts."""
    name = str(provider.get("name") or provider.get("provider"))
    options = {key: value for key, value in provider["options"].items() if key not in _FREE_OPTIONS.get(name, ())}
    if isinstance(observe := options.get("observe"), dict):
        options["observe"] = {key: value for key, value in observe.items() if key != "ssh"}
    lender = options.get("load_hosts")
    if isinstance(lender, dict):
        options["load_hosts"] = _fixed({"options": {}, **lender})
    return {**provider, "options": options}


def with_sliding_windows(definition: Definition) -> Definition:
    """Return the definition, with sliding windows in addition to the first service level of every stage."""
    stages = tuple(
        stage.model_copy(update={"service_levels": _and_sliding(stage.service_levels)})
        if stage.service_levels
        else stage
        for stage in definition.stages
    )
    levels = _and_sliding(definition.service_levels)
    return definition.model_copy(update={"service_levels": levels, "stages": stages})


def _and_sliding(levels: tuple[ServiceLevel, ...]) -> tuple[ServiceLevel, ...]:
    sliding = levels[0].model_copy(update={"windows": "sliding"})
    return levels if sliding in levels else (*levels, sliding)


def judged_as(stored: Definition, definition: Definition) -> Definition:
    """Return the definition, with sliding windows if these were added after the campaign began."""
    amended = with_sliding_windows(definition)
    wanted, kept = ([stage.first.service_levels for stage in resolve(copy).stages] for copy in (amended, stored))
    return amended if wanted == kept else definition
