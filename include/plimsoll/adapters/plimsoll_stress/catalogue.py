"""The workloads that the load generator has: their options, their operations, and how operations share the load.

The generator itself says so (`workloads --json`); `workloads.json` beside this module is what it said, so that checking
a definition starts no JVM. `describe` makes it again.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import Field, JsonValue

from plimsoll.adapters.workload_options import Option
from plimsoll.domain.base import Model

FILE = Path(__file__).with_name("workloads.json")


class OperationOfWorkload(Model):
    """An operation's name, its name in files, and its share: `"rest"`, `{"weight": 1}` or `{"option": NAME}`."""

    name: str
    label: str
    share: str | dict[str, JsonValue] = "rest"


class WorkloadDescription(Model):
    """One workload. Without operations here, its option `operations` says which it has."""

    name: str
    doc: str
    options: tuple[Option, ...]
    operations: tuple[OperationOfWorkload, ...]

    def option(self, name: str) -> Option | None:
        """The option of that name, if there is one."""
        return next((option for option in self.options if option.name == name), None)


class DistributionDescription(Model):
    """A distribution of numbers and its parameters."""

    name: str
    doc: str
    parameters: tuple[Option, ...]


class Catalogue(Model):
    """Everything that `workloads --json` says.

    `bind`, `operation` and `populate`: the keys that these parts of a definition's own statements may have; a bind has
    its distribution's parameters besides.
    """

    format: int = Field(le=1)
    workloads: tuple[WorkloadDescription, ...]
    distributions: tuple[DistributionDescription, ...]
    bind: tuple[Option, ...]
    operation: tuple[Option, ...]
    populate: tuple[Option, ...]

    @property
    def by_name(self) -> Mapping[str, WorkloadDescription]:
        """The workloads by name."""
        return {workload.name: workload for workload in self.workloads}


@cache
def catalogue() -> Catalogue:
    """What the load generator's checked-in description says."""
    return Catalogue.model_validate_json(FILE.read_bytes())
