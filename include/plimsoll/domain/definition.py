"""The definition: everything that declares a campaign."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from plimsoll.domain.base import Model
from plimsoll.domain.canary import Canary
from plimsoll.domain.contradictions import LARGEST_GRID, contradictions, raise_limit, too_many_cells
from plimsoll.domain.faults import Fault, Faulty, faults_of, require_none
from plimsoll.domain.service_level import ServiceLevel
from plimsoll.domain.strategy import FullGrid, Strategy
from plimsoll.domain.units import Duration, Rate, Usd, format_duration, format_rate
from plimsoll.domain.variant import RELEASE, SLUG, Variant
from plimsoll.domain.workload import NamedWorkload, Workload

MAX_CELLS = 5000
"""Cells of a definition that does not say `max_cells`: a grid that is larger is mostly a slip of the pen."""
STORED = {"stored": True}
"""Context of validation for a campaign's own copy, whose grid somebody allowed once, maybe before there was a limit."""


class System(Model):
    """The shape of a cluster, and the database of those variants that name no `product` of their own."""

    database: Annotated[str, Field(description="Product, by the name of its adapter")] = "cassandra"
    version: Annotated[
        str | None, Field(pattern=RELEASE, description="Release; of variants that name none", examples=["4.0.1"])
    ] = None
    nodes: Annotated[int, Field(ge=1, le=1000, description="Database nodes of one cluster")] = 3
    settings: Annotated[
        dict[str, JsonValue], Field(description="Settings over the adapter's template; of that database")
    ] = {}


class LoadRange(Model):
    """Evenly spaced load levels, both ends included."""

    from_: Annotated[Rate, Field(alias="from", gt=0)]
    to: Annotated[Rate, Field(gt=0)]
    step: Annotated[Rate, Field(gt=0)]

    def levels(self) -> tuple[int, ...]:
        """The load levels in ops/s, rising."""
        return tuple(self._range)

    @property
    def count(self) -> int:
        """How many levels there are, told without making them."""
        return len(self._range)

    @property
    def _range(self) -> range:
        return range(self.from_, self.to + 1, self.step)


class LoadGeneratorChoice(Model):
    """The load generator and its concurrency."""

    name: Annotated[str, Field(description="`plimsoll-stress`, `cassandra-stress` or `latte`")] = "plimsoll-stress"
    hosts: Annotated[
        int, Field(ge=1, le=32, description="Load hosts of a cell: they share the rate, and start together")
    ] = 1
    threads: Annotated[
        int, Field(ge=1, le=1024, description="Client threads of each load host, each with a schedule of its own")
    ] = 8
    concurrency: Annotated[int, Field(ge=1, description="Queries in flight per thread at most")] = 50
    heap: Annotated[str, Field(pattern=r"^\d+[MG]$", description="Heap of the generator's own JVM")] = "1G"

    @model_serializer(mode="wrap")
    def _without_the_only_host(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Written as it was before there could be several."""
        fields: dict[str, Any] = dump(self)
        return {key: value for key, value in fields.items() if (key, value) != ("hosts", 1)}

    @property
    def most_in_flight(self) -> int:
        """Queries in flight at most, from all load hosts together."""
        return self.hosts * self.threads * self.concurrency


class Timing(Model):
    """How long a cell is loaded. The service level is judged over `duration` less `warmup`."""

    duration: Annotated[Duration, Field(description="Length of the timed run, warm-up included")]
    warmup: Annotated[Duration, Field(description="First part of the run, which is not judged")]

    @model_validator(mode="after")
    def _warmup_is_shorter(self) -> Self:
        if self.warmup >= self.duration:
            length, warmup = format_duration(self.duration), format_duration(self.warmup)
            what = f"warm-up {warmup} is not shorter than duration {length}"
            raise Faulty([Fault(("warmup",), what, f"write less than {length}, or a longer duration")])
        return self

    @property
    def judged(self) -> timedelta:
        """Duration less warm-up."""
        return self.duration - self.warmup


class ProviderChoice(Model):
    """Where clusters come from: a provider by name, and its options as that provider defines them."""

    name: Annotated[str, Field(description="`local`, or another provider's name")] = "local"
    options: Annotated[dict[str, JsonValue], Field(description="Options of that provider")] = {}


Event = Literal["missed-schedule", "incomplete"]
"""What people can be told of."""


class Definition(Model):
    """A campaign as declared in one YAML file."""

    name: Annotated[str, Field(pattern=SLUG, max_length=60, description="Name; also the DAG's, with underscores")]
    title: Annotated[str, Field(min_length=1, description="Heading of the report and of the DAG")]
    description: Annotated[str, Field(description="What it is for, in Markdown")] = ""
    tags: tuple[str, ...] = ()
    system: System
    variants: Annotated[tuple[Variant, ...], Field(min_length=1, description="What is compared")]
    control: Annotated[str | None, Field(description="Id of the variant the others are compared with")] = None
    max_cells: Annotated[
        int,
        Field(
            ge=1, le=LARGEST_GRID, description="Most cells that variants × loads × repeats may make; say more for more"
        ),
    ] = MAX_CELLS
    loads: Annotated[
        tuple[Annotated[Rate, Field(gt=0)], ...],
        Field(min_length=1, description="Load levels: a list of rates, or `{from, to, step}`"),
    ]
    repeats: Annotated[int, Field(ge=1, le=1000, description="Times every variant meets every load")] = 1
    seed: Annotated[int, Field(description="Shuffles the order of cells within each repeat")] = 1
    workload: Workload = Workload()
    workloads: Annotated[
        tuple[NamedWorkload, ...],
        Field(
            description="Several workloads instead of one `workload`: every variant meets every load of each. They are "
            "judged, compared and reported one by one"
        ),
    ] = ()
    load_generator: LoadGeneratorChoice = LoadGeneratorChoice()
    timing: Timing
    service_levels: Annotated[tuple[ServiceLevel, ...], Field(min_length=1)] = (ServiceLevel(),)
    provider: ProviderChoice = ProviderChoice()
    canary: Annotated[
        Canary | None,
        Field(description="Check of every host before its load, with floors; none: hosts are not checked"),
    ] = None
    strategy: Annotated[Strategy, Field(description="Which cells to run: `full-grid`, `search` or `ramp`")] = FullGrid()
    cluster_scope: Annotated[
        Literal["cell", "variant", "campaign"],
        Field(
            description="How long hosts live: for a `cell`; for the cells of a `variant`, which then run before those "
            "of the next; or for the `campaign`. On kept hosts each cell has its own software and no other's data"
        ),
    ] = "cell"
    max_parallel: Annotated[int, Field(ge=1, le=500, description="Cells in flight at most")] = 1
    budget: Annotated[
        Usd | None, Field(gt=0, description="What the hosts may cost at most; no cell starts that would exceed it")
    ] = None
    schedule: Annotated[str | None, Field(description="Cron expression; none: by hand or by REST only")] = None
    timezone: Annotated[str, Field(description="Time zone of the schedule")] = "UTC"
    notify: Annotated[
        tuple[Event, ...],
        Field(
            description="Of what people are told: `missed-schedule` (no campaign had started 15 minutes after it was "
            "due), `incomplete` (one ended without a report). Whom to tell, and how, is a setting of the installation"
        ),
    ] = ()

    @field_validator("loads", mode="before")
    @classmethod
    def _expand_range(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, dict):
            return value
        try:
            span = LoadRange.model_validate(value)
        except ValidationError as error:
            raise Faulty(faults_of(error, LoadRange)) from None
        # Counted before it is made: `{from: 1/s, to: 100M/s, step: 1/s}` would fill the memory.
        require_none(_empty_or_endless(span, info.data.get("max_cells", MAX_CELLS)))
        return tuple(f"{level}/s" for level in span.levels())

    @model_validator(mode="after")
    def _is_consistent(self, info: ValidationInfo) -> Self:
        is_stored = bool((info.context or {}).get("stored"))
        require_none(contradictions(self))
        require_none(iter(()) if is_stored else too_many_cells(self))
        return self

    @property
    def cells(self) -> int:
        """How many cells the grid has, told without making them."""
        return len(self.variants) * len(self.loads) * self.repeats * max(1, len(self.workloads))

    @property
    def cluster_size(self) -> int:
        """Hosts of one cluster: database nodes and load hosts."""
        return self.system.nodes + self.load_generator.hosts

    @property
    def dag_id(self) -> str:
        """Of the DAG that runs it."""
        return dag_id_of(self.name)

    @property
    def has_rounds(self) -> bool:
        """Whether its strategy is asked again once the cells that it asked for have run."""
        return not isinstance(self.strategy, FullGrid)

    def variant(self, variant_id: str) -> Variant:
        """The variant of that id; KeyError when the definition has none."""
        return {variant.id: variant for variant in self.variants}[variant_id]

    def product_of(self, variant: Variant) -> str:
        """The database that a variant runs, by the name of its adapter."""
        return variant.product or self.system.database

    def version_of(self, variant: Variant) -> str:
        """The release that a variant runs; a definition where that is not said is not valid."""
        own = variant.version or (self.system.version if self._is_of_system(variant) else None)
        assert own is not None, "variants without a version are refused"
        return own

    def settings_of(self, variant: Variant) -> dict[str, JsonValue]:
        """The settings that a variant's database gets over what its adapter ships."""
        return {**self.settings_of_system(self.product_of(variant)), **variant.settings}

    def settings_of_system(self, product: str) -> dict[str, JsonValue]:
        """The settings for every variant of that product: the system's, if it is of the product."""
        return self.system.settings if product == self.system.database else {}

    @property
    def products(self) -> tuple[str, ...]:
        """The databases of all variants, each once, in the variants' order."""
        return tuple(dict.fromkeys(map(self.product_of, self.variants)))

    def of_product(self, product: str) -> tuple[tuple[int, Variant], ...]:
        """The variants that run that database, each with its place in the list of all."""
        return tuple((n, variant) for n, variant in enumerate(self.variants) if self.product_of(variant) == product)

    def _is_of_system(self, variant: Variant) -> bool:
        return self.product_of(variant) == self.system.database


def dag_id_of(name: str) -> str:
    """A definition's name as Airflow's DAG id: `azul-2022` → `azul_2022`."""
    return name.replace("-", "_")


def name_of_dag(dag_id: str) -> str:
    """The name of the definition that a DAG runs: the reverse of `dag_id_of`, names having no underscore."""
    return dag_id.replace("_", "-")


def _empty_or_endless(span: LoadRange, most: int) -> Iterator[Fault]:
    if span.count == 0:
        yield Fault(
            ("to",), f"{format_rate(span.to)} lies below `from`, {format_rate(span.from_)}", "write a higher rate"
        )
    if span.count > most:
        what = f"{span.count:,} load levels, {format_rate(span.step)} apart; at most {most:,} cells are allowed"
        yield Fault(("step",), what, f"write a larger step{raise_limit(span.count)}")
