"""Workloads: what clients ask of a database, with the protocols that they speak, CQL and HBase's, and their options.

Several named workloads are an axis of the campaign. Nothing else knows which options belong together, so a campaign may
compare products of several protocols.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from plimsoll.domain.keys.faults import Fault
from plimsoll.domain.keys.variant import SLUG
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Count, Size
from plimsoll.domain.text.wording import plural

OWN = "a protocol of its own"
"""The protocol of a database that only the definition knows. Its options are the commands' alone."""
UNKNOWN = "a protocol that nobody stated"
"""The protocol of an imported database that Plimsoll does not know. Nothing is told of its options."""

CQL, HBASE = "cql", "hbase"


class HBaseOptions(Model):
    """The options of a workload whose clients speak HBase's protocol: how its tables are made."""

    regions: Annotated[int, Field(ge=1, le=1000, description="Regions of each new table (HBase)")] = 8
    block_encoding: Annotated[
        Literal["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"],
        Field(description="Block encoding of new tables (HBase)"),
    ] = "NONE"
    compression: Annotated[Literal["NONE", "GZ"], Field(description="Compression of new tables (HBase)")] = "NONE"


class CqlOptions(Model):
    """The options of a workload whose clients speak CQL."""

    consistency: Annotated[
        Literal["ONE", "LOCAL_ONE", "TWO", "QUORUM", "LOCAL_QUORUM", "ALL"],
        Field(description="Consistency level (CQL)"),
    ] = "LOCAL_ONE"
    replication_factor: Annotated[int, Field(ge=1, description="Replicas of each row (CQL)")] = 3

    def faults_with(self, nodes: int) -> Iterator[Fault]:
        factor = self.replication_factor
        if factor > nodes:
            what = f"replication_factor {factor} needs at least {plural(factor, 'node')}; the system has {nodes}"
            yield Fault(("replication_factor",), what, f"write at most {nodes}, or more `system.nodes`")


OPTIONS: Mapping[str, type[Model]] = {CQL: CqlOptions, HBASE: HBaseOptions, OWN: Model, UNKNOWN: Model}
"""Protocol → the options of a workload that it has."""
_OTHER_THAN_CQL: Mapping[str, str] = {"hbase": HBASE, "command": OWN}
"""Product → the protocol that its clients speak."""
KNOWN_PRODUCTS = frozenset({"cassandra", "scylladb", *_OTHER_THAN_CQL})


def protocol_of(product: str) -> str:
    return _OTHER_THAN_CQL.get(product, CQL)


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
        LeftOutIfEmpty[Annotated[Size, Field(gt=0)] | None],
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
        return {key: value for key, value in fields.items() if key not in hidden}


class NamedWorkload(Workload):
    """One of several workloads. `id` is part of the ids of its cells."""

    id: Annotated[str, Field(pattern=SLUG, max_length=20, description="Short name: letters, digits and hyphens")]

    @property
    def alone(self) -> Workload:
        """Return the same workload in the form that a definition with only one workload uses."""
        return Workload.model_validate(self.model_dump(mode="json", exclude_unset=True, exclude={"id"}))
