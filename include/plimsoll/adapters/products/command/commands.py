"""The commands of a database: the values that stand for their placeholders, and their faults before anything starts."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from pydantic import JsonValue

from plimsoll.domain.commands import DatabaseCommand, placeholders
from plimsoll.domain.errors import Problem
from plimsoll.domain.specs import ProductSpec, VariantSpec
from plimsoll.domain.variant import Variant
from plimsoll.domain.wording import meant_or_known

PRODUCT = "command"
"""The name of such a database in definitions, of a node's job and of its process."""
OF_NODES = {
    "address": "address of the node",
    "addresses": "addresses of all nodes, with commas",
    "node": "number of the node, from 1",
    "data": "folder of the node's data, which `prepare` or `run` makes",
}
"""Name → meaning. Further names are the settings of system and variant that are texts or numbers."""

_WHERE = "system.command"
_EXAMPLE = "write `command: {run: my-database --data {data} --listen {address}, ready: …, version: …}`"


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


def problems(spec: ProductSpec) -> Sequence[Problem]:
    """Return all problems at once."""
    command = spec.command
    if command is None:
        return [Problem(_WHERE, "is missing: the database `command` is what it says", _EXAMPLE)]
    return [
        *(problem for one in spec.variants for problem in _variant(one.where, one.variant)),
        *dict.fromkeys(problem for one in spec.variants for problem in _unknown(one, command)),
        *_addresses(command),
    ]


def _variant(where: str, variant: Variant) -> Iterator[Problem]:
    if variant.jvm is not None:
        yield Problem(f"{where}.jvm", "its command alone says what a database runs on", "remove `jvm`")
    if variant.archive is not None:
        yield Problem(f"{where}.archive", "a database of commands must be on its hosts", "remove `archive`")
    for name in OF_NODES.keys() & variant.settings.keys():
        yield Problem(f"{where}.settings.{name}", f"{{{name}}} is {OF_NODES[name]}", "give the setting another name")


def _unknown(spec: VariantSpec, command: DatabaseCommand) -> Iterator[Problem]:
    known = [*OF_NODES, *of_settings(spec.settings)]
    lines = {"run": command.run, "ready": command.ready, "version": command.version}
    lines |= {f"prepare[{number}]": line for number, line in enumerate(command.prepare)}
    for key, line in lines.items():
        for name in placeholders(line):
            if name not in known:
                what = f"{{{name}}} stands for nothing with variant {spec.variant.id!r}"
                yield Problem(f"{_WHERE}.{key}", what, meant_or_known(name, known))


def _addresses(command: DatabaseCommand) -> Iterator[Problem]:
    """Yield a problem where nodes would all listen at one address, since several may share a machine."""
    named = {name for line in (command.run, *command.prepare) for name in placeholders(line)}
    if not {"address", "addresses"} & named:
        what = "has no {address}: nodes of several cells share a machine, and each listens at an address of its own"
        yield Problem(f"{_WHERE}.run", what, "write {address} where the database takes it")
