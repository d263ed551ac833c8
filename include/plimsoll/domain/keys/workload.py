"""Workloads: what clients ask of a database. Several named workloads are an axis of the campaign."""

from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from plimsoll.domain.keys.faults import Fault
from plimsoll.domain.keys.protocols import CQL, OPTIONS, UNKNOWN, CqlOptions, HBaseOptions
from plimsoll.domain.keys.variant import SLUG
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.units import Count, Size

BASIC_TIME_SERIES = "BasicTimeSeries"


class _Named(Model):
    """The name of a workload."""

    name: Annotated[str, Field(description="Workload of the load generator, whose options are further keys")] = (
        BASIC_TIME_SERIES
    )


class _BasicTimeSeriesOptions(Model):
    """The options of BasicTimeSeries, whose defaults stand in every definition that has it."""

    read_share: Annotated[float, Field(ge=0, le=1, description="Share of reads among all operations")] = 0.2
    partitions: Annotated[Count, Field(gt=0, description="Number of partition keys")] = 100_000_000
    partition_generator: Annotated[
        Literal["sequence", "random", "normal"], Field(description="Order or distribution of the partition keys")
    ] = "sequence"
    populate: Annotated[Count, Field(ge=0, description="Rows written per thread before the timed run")] = 0


# Keys of stored definitions stand in the order of the bases, from the last to the first.
class Workload(HBaseOptions, CqlOptions, _BasicTimeSeriesOptions, _Named):
    """The requests of the clients to the database."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]
    data_per_node: Annotated[
        Annotated[Size, Field(gt=0)] | None,
        Field(description="Size of the populated rows on each node's disk, instead of their number"),
    ] = None

    @property
    def states_read_share(self) -> bool:
        """Tell whether `read_share` is this workload's mix; other workloads state theirs by options of their own."""
        return self.name == BASIC_TIME_SERIES

    def faults_of_protocols(self, protocols: Collection[str], nodes: int) -> Iterator[Fault]:
        """Yield the faults of the protocols' options, where clients speak these on a cluster of so many nodes."""
        if CQL in protocols:
            yield from self.faults_with(nodes)
        foreign = frozenset[str]() if UNKNOWN in protocols else self.foreign_options(protocols)
        for key in sorted(foreign & self.model_fields_set):
            what = f"is an option of another protocol than the clients speak, {' and '.join(protocols)}"
            yield Fault((key,), what, "remove it")

    @staticmethod
    def foreign_options(protocols: Collection[str]) -> frozenset[str]:
        """Return the keys that are options of other protocols alone."""
        return frozenset(
            key for name, options in OPTIONS.items() if name not in protocols for key in options.model_fields
        )

    def with_options(self, **options: JsonValue) -> "Workload":
        return Workload.model_validate({**self.model_dump(mode="json", exclude_unset=True), **options})

    @model_serializer(mode="wrap")
    def _without_foreign_defaults(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out options of another workload, except those that somebody set."""
        fields: dict[str, Any] = dump(self)
        foreign = set() if self.states_read_share else {*_BasicTimeSeriesOptions.model_fields}
        hidden = foreign - self.model_fields_set
        return {
            key: value for key, value in fields.items() if key not in hidden and (key, value) != ("data_per_node", None)
        }


class NamedWorkload(Workload):
    """One of several workloads. `id` is part of the ids of its cells."""

    id: Annotated[str, Field(pattern=SLUG, max_length=20, description="Short name: letters, digits and hyphens")]

    @property
    def alone(self) -> Workload:
        """Return the same workload in the form that a definition with only one workload uses."""
        return Workload.model_validate(self.model_dump(mode="json", exclude_unset=True, exclude={"id"}))
