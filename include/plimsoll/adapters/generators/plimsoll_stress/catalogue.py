"""The load generator's workloads: their options, their operations, and the operations' shares of the load.

The generator itself describes them (`workloads --json`). `workloads.json` beside this module is a copy of its answer,
so that checking a definition starts no JVM. `describe` renews the copy.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import Field, JsonValue

from plimsoll.adapters.generators.workload_options import Option
from plimsoll.domain.base import Model

FILE = Path(__file__).with_name("workloads.json")


class OperationOfWorkload(Model):
    """An operation's name, its name in files, and its share: `"rest"`, `{"weight": 1}` or `{"option": NAME}`."""

    name: str
    label: str
    share: str | dict[str, JsonValue] = "rest"


class WorkloadDescription(Model):
    """One workload, and the protocols in which it can be asked.

    If it lists no operations, its option `operations` defines them.
    """

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
