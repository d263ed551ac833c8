"""The load generator's workloads: their options, their operations, and the operations' shares of the load, also by a
definition.

The generator itself describes them (`workloads --json`). `workloads.json` beside this module is a copy of its answer,
so that checking a definition starts no JVM. Run with `python -m`, this module renews the copy after a change of
workloads.

The keys of `workload: {name: cql, …}` for the definition reference are from the same description.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue

from plimsoll.adapters.generators.workload_options import Option, given_options, number_of
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.base import Model

OWN_STATEMENTS = "cql"
"""The workload of a definition's own tables and statements."""
FILE = Path(__file__).with_name("workloads.json")


class OperationOfWorkload(Model):
    """An operation's name, its name in files, and its share: `"rest"`, `{"weight": 1}` or `{"option": NAME}`."""

    name: str
    label: str
    share: str | dict[str, JsonValue] = "rest"


class WorkloadDescription(Model):
    """One workload, and its protocols. If it lists no operations, its option `operations` defines them."""

    name: str
    doc: str
    protocols: tuple[str, ...]
    options: tuple[Option, ...]
    operations: tuple[OperationOfWorkload, ...]

    def option(self, name: str) -> Option | None:
        return next((option for option in self.options if option.name == name), None)


class DistributionDescription(Model):
    """A distribution of numbers and its parameters."""

    name: str
    doc: str
    parameters: tuple[Option, ...]


class Catalogue(Model):
    """The content of `workloads --json`.

    `bind`, `operation` and `populate`: the keys that these parts of a definition's own statements may have. A bind also
    has its distribution's parameters.
    """

    format: int = Field(le=1)
    workloads: tuple[WorkloadDescription, ...]
    distributions: tuple[DistributionDescription, ...]
    bind: tuple[Option, ...]
    operation: tuple[Option, ...]
    populate: tuple[Option, ...]

    @property
    def by_name(self) -> Mapping[str, WorkloadDescription]:
        return {workload.name: workload for workload in self.workloads}


@cache
def catalogue() -> Catalogue:
    """Return the load generator's checked-in description."""
    return Catalogue.model_validate_json(FILE.read_bytes())


def shares(workload: Workload) -> dict[str, float]:
    """Return operation → share of all operations, 0 to 1, of a workload that the load generator knows."""
    described = catalogue().by_name[workload.name]
    options = given_options(workload)
    if described.operations:
        weights = _weights(described, options)
    else:
        declared = ((operation, share_of(operation)) for operation in own_operations(options))
        weights = {str(operation.get("name")): share for operation, share in declared if share is not None}
    total = sum(weight for weight in weights.values() if weight is not None)
    if None in weights.values():
        return {name: 1 - total if weight is None else weight for name, weight in weights.items()}
    return {name: (weight or 0) / total for name, weight in weights.items()} if total else {}


def _weights(described: WorkloadDescription, options: Mapping[str, JsonValue]) -> dict[str, float | None]:
    """Return the weights of operations; None stands for the rest."""
    weights: dict[str, float | None] = {}
    for operation in described.operations:
        share = operation.share
        if isinstance(share, str):
            weights[operation.name] = None
        elif "weight" in share:
            weights[operation.name] = float(str(share["weight"]))
        else:
            option = described.option(str(share["option"]))
            assert option is not None, f"{described.name}: a share by an option that it does not have"
            weights[operation.name] = number_of(option, options.get(option.name, option.default))
    return weights


def share_options(described: WorkloadDescription) -> list[str]:
    """Return the options that set shares of operations."""
    shares = (operation.share for operation in described.operations)
    return [str(share["option"]) for share in shares if isinstance(share, dict) and "option" in share]


def own_operations(given: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Return the operations that the definition declares itself, as far as they have keys."""
    operations = given.get("operations")
    listed = operations if isinstance(operations, list) else []
    return [operation for operation in listed if isinstance(operation, dict)]


def share_of(operation: Mapping[str, JsonValue]) -> float | None:
    """Return the share that an operation declares, which may be a number in quotes; None for what is no number."""
    option = next(option for option in catalogue().operation if option.name == "share")
    with suppress(ValueError):
        return number_of(option, operation.get(option.name))
    return None


Row = tuple[str, str, str, str]
"""Key, value, default, meaning."""
_PARTS = {"bind": "bind", "operations": "operation", "populate": "population"}
"""The tables that describe values of these types."""


def own_statement_tables() -> Mapping[str, Sequence[Row]]:
    """Return a table of keys for each part of a definition's own tables and statements, by its heading."""
    known = catalogue()
    meaning = "Numbers, with its own keys beside it"
    distribution = ("distribution", "[a distribution](#distributions)", "required", meaning)
    return {
        "keys of cql": tuple(_rows(known.by_name[OWN_STATEMENTS].options)),
        "operation": tuple(_rows(known.operation)),
        "population": tuple(_rows(known.populate)),
        "bind": (distribution, *_rows(known.bind)),
        "distributions": tuple((kind.name, _keys(kind.parameters), "none", kind.doc) for kind in known.distributions),
    }


def _keys(parameters: Sequence[Option]) -> str:
    keys = (
        f"`{key}` ({default.strip('`')})" if default != "none" else f"`{key}`"
        for key, _, default, _ in _rows(parameters)
    )
    return ", ".join(keys) or "no key"


def _rows(options: Sequence[Option]) -> Iterator[Row]:
    for option in options:
        default = "required" if option.required else _default(option.default)
        yield option.name, _value(option), default, option.doc


def _default(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return "none" if value in (None, "") else f"`{text}`"


def _value(option: Option) -> str:
    if option.choices:
        return ", ".join(f"`{choice}`" for choice in option.choices)
    return f"[{_PARTS[option.type]}](#{_PARTS[option.type]})" if option.type in _PARTS else option.type


def ask(java: Path, class_path: str) -> dict[str, Any]:
    """Return the load generator's present description of its workloads."""
    argv = [str(java), "-XX:TieredStopAtLevel=1", "-cp", class_path, "plimsoll.stress.Main", "workloads", "--json"]
    described: dict[str, Any] = json.loads(subprocess.run(argv, check=True, capture_output=True, timeout=60).stdout)
    return described


def as_text(described: Mapping[str, Any]) -> str:
    """Return the content of the file for that description."""
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def main(cache: Path) -> None:
    """Write the file again, using the artefacts in that cache."""
    from plimsoll.adapters.artefacts import Artefacts
    from plimsoll.ports.artefacts import LOAD_JDK

    artefacts = Artefacts(cache, print)
    described = ask(artefacts.jdk(LOAD_JDK).java, f"{artefacts.program('load-generator')}/*")
    FILE.write_text(as_text(described), encoding="utf-8")
    print(f"{FILE.name}: {len(Catalogue.model_validate_json(FILE.read_bytes()).workloads)} workloads")


if __name__ == "__main__":
    main(Path.home() / ".cache" / "plimsoll")
