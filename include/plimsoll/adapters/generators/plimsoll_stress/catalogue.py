"""The load generator's workloads: their options, their operations, and the operations' shares of the load, also by a
definition.

The generator itself describes them (`workloads --json`). `workloads.json` beside this module is a copy of its answer,
so that checking a definition starts no JVM. `describe` renews the copy.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import Field, JsonValue

from plimsoll.adapters.generators.workload_options import Option, given_options, number_of
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.base import Model

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
        """Return the option with that name; None where there is none."""
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
        """Return the workloads by name."""
        return {workload.name: workload for workload in self.workloads}


@cache
def catalogue() -> Catalogue:
    """Return the load generator's checked-in description."""
    return Catalogue.model_validate_json(FILE.read_bytes())


def shares(workload: Workload) -> dict[str, float]:
    """Return operation → share of all operations, 0 to 1. Empty for a workload unknown to the load generator."""
    described = catalogue().by_name.get(workload.name)
    if described is None:
        return {}
    given = given_options(workload)
    weights = _declared(given) if not described.operations else _weights(described, given)
    told = sum(weight for weight in weights.values() if weight is not None)
    if None in weights.values():
        return {name: 1 - told if weight is None else weight for name, weight in weights.items()}
    return {name: (weight or 0) / told for name, weight in weights.items()} if told else {}


def _weights(described: WorkloadDescription, given: Mapping[str, JsonValue]) -> dict[str, float | None]:
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
            weights[operation.name] = number_of(option, given.get(option.name, option.default))
    return weights


def _declared(given: Mapping[str, JsonValue]) -> dict[str, float | None]:
    """Return the shares of operations that the definition declares itself."""
    operations = given.get("operations")
    found: dict[str, float | None] = {}
    for operation in operations if isinstance(operations, list) else []:
        if isinstance(operation, dict) and isinstance(share := operation.get("share", 0), int | float):
            found[str(operation.get("name"))] = float(share)
    return found
