"""What a definition chooses beside its variants and loads: the system, the load generator and the provider."""

from datetime import timedelta
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from plimsoll.domain.keys.commands import DatabaseCommand, LoadCommand
from plimsoll.domain.keys.variant import RELEASE
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import PositiveDuration

LONGEST_START = timedelta(minutes=25)
"""The longest `start_within`: it is a part of the hour of the step in which the database starts."""


EXTERNAL = "external"
"""The provider, and the product, of a cluster that somebody else runs."""

NOT_KNOWN = "not known"
"""The word for what such a cluster does not tell."""

OwnedByLoad = Literal["cluster", "keyspace", "nothing"]
"""The part of a database that is the load's own: a cluster that was deployed for it, one keyspace of a cluster of
somebody else, or nothing, so that it only reads.
"""


class System(Model):
    """The number of nodes of a cluster, and the database of the variants that have no `product` of their own."""

    database: Annotated[str, Field(description="Product: `cassandra`, `hbase`, `scylladb` or `command`")] = "cassandra"
    version: Annotated[
        str | None,
        Field(pattern=RELEASE, description="Release of the variants that name no version", examples=["4.0.1"]),
    ] = None
    nodes: Annotated[int, Field(ge=1, le=1000, description="Number of database nodes of one cluster")] = 3
    start_within: Annotated[
        LeftOutIfEmpty[PositiveDuration | None],
        Field(
            le=LONGEST_START,
            description="Longest time for all nodes to start; by default the product's own",
        ),
    ] = None
    settings: Annotated[
        dict[str, JsonValue], Field(description="Settings of the database, which replace the adapter's own")
    ] = {}
    command: Annotated[
        LeftOutIfEmpty[DatabaseCommand | None], Field(description="The commands of `database: command`")
    ] = None


class LoadGeneratorChoice(Model):
    """The load generator and its concurrency."""

    name: Annotated[str, Field(description="`plimsoll-stress`, `cassandra-stress`, `latte` or `command`")] = (
        "plimsoll-stress"
    )
    hosts: Annotated[int, Field(ge=1, le=32, description="Load hosts of a cell, which share the rate")] = 1
    threads: Annotated[int, Field(ge=1, le=1024, description="Client threads of each load host")] = 8
    concurrency: Annotated[int, Field(ge=1, description="Operations in flight per thread, at most")] = 50
    heap: Annotated[
        str, Field(pattern=r"^\d+[MG]$", description="Heap of the generator's own JVM", examples=["512M", "2G"])
    ] = "1G"

    command: Annotated[LeftOutIfEmpty[LoadCommand | None], Field(description="The commands of `name: command`")] = None

    @model_serializer(mode="wrap")
    def _without_the_only_host(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a count of one load host, as definitions were written before there could be several."""
        fields: dict[str, Any] = dump(self)
        return {key: value for key, value in fields.items() if (key, value) != ("hosts", 1)}

    @property
    def most_in_flight(self) -> int:
        """Return the greatest number of queries in flight, over all load hosts."""
        return self.hosts * self.threads * self.concurrency


class ProviderChoice(Model):
    """The provider of clusters, and its options."""

    name: Annotated[str, Field(description="`local`, `ssh`, `ec2` or `external`")] = "local"
    options: Annotated[dict[str, JsonValue], Field(description="Options of that provider")] = {}

    @property
    def owns(self) -> OwnedByLoad:
        """Return what the load has to itself. Of less than a cluster little is known, and no host has nodes."""
        if self.name != EXTERNAL:
            return "cluster"
        return "nothing" if isinstance(self.options.get("keyspace"), dict) else "keyspace"

    @property
    def shares_machine(self) -> bool:
        """Tell whether all nodes run on one machine, and share its processors."""
        return self.name == "local"

    @property
    def hosts_from(self) -> "HostSource | None":
        """Return whose hosts are used; None where the definition does not say it, so that they are this machine's."""
        if self.owns == "cluster":
            return HostSource(self, "provider.options")
        lender = self.options.get("load_hosts")
        name, options = (
            (lender.get("provider"), lender.get("options") or {}) if isinstance(lender, dict) else (None, {})
        )
        if not isinstance(name, str) or not isinstance(options, dict):
            return None
        return HostSource(ProviderChoice(name=name, options=options), "provider.options.load_hosts.options")


class HostSource(NamedTuple):
    """The provider whose hosts a campaign uses, and the key at which the definition has its options."""

    provider: ProviderChoice
    key: str
