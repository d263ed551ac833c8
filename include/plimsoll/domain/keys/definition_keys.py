"""The keys of a definition, each with its meaning."""

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator, model_validator

from plimsoll.domain.keys.action import Action
from plimsoll.domain.keys.host_bounds import LARGEST_GRID, LONGEST_WAIT, Canary, Disturbance
from plimsoll.domain.keys.loads import OPEN, LoadLevels, Loop, of_the_top
from plimsoll.domain.keys.parameters import Parameters
from plimsoll.domain.keys.service_level import RateBelow, ServiceLevel
from plimsoll.domain.keys.strategy import LEFT_TO_STAGES, FullGrid, Stage, Strategy, left_to_stages
from plimsoll.domain.keys.substitution import with_values
from plimsoll.domain.keys.system import LoadGeneratorChoice, ProviderChoice, System
from plimsoll.domain.keys.timing import AtMost, FinishBy, StopRule, Timing
from plimsoll.domain.keys.trigger import Approve, Trigger
from plimsoll.domain.keys.variant import SLUG, Variant
from plimsoll.domain.keys.workload import NamedWorkload, Workload
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import ShortDuration, Usd

LONGEST_NAME = 60
MAX_CELLS = 5000
"""Cells of a definition that does not say `max_cells`: a grid that is larger is mostly a slip of the pen."""

Event = Literal["missed-schedule", "incomplete", "late", "regression", "improvement"]
"""An event of which people can be notified."""


class PublishedRow(Model):
    """One thing that the publication says or leaves open, beside what the campaign does."""

    what: Annotated[str, Field(min_length=1, max_length=60, description="What the row is about, such as `driver`")]
    keys: Annotated[LeftOutIfEmpty[tuple[str, ...]], Field(description="Keys of the definition that hold it")] = ()
    published: Annotated[
        LeftOutIfEmpty[str], Field(max_length=400, description="As published; empty: the publication does not say it")
    ] = ""
    here: Annotated[LeftOutIfEmpty[str], Field(max_length=400, description="As done here; empty: as published")] = ""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.published or self.here):
            raise ValueError("says neither what was published nor what is done here")
        return self

    @property
    def texts(self) -> tuple[str, str, str]:
        """Return the row as people read it: what, as published, here."""
        return self.what, self.published or "not published", self.here or "as published"


class Published(Model):
    """A publication beside the campaign that stands for it, as a table that `plan` and the report show."""

    publication: Annotated[str, Field(min_length=1, description="Author, title and year")]
    rows: Annotated[tuple[PublishedRow, ...], Field(min_length=1, description="As published, and here")]


class DefinitionKeys(Model):
    """The keys of a definition as somebody wrote them, whether or not they contradict one another."""

    name: Annotated[
        str,
        Field(pattern=SLUG, max_length=LONGEST_NAME, description="Name. The DAG has the same name, with underscores"),
    ]
    title: Annotated[str, Field(min_length=1, description="Heading of the report and of the DAG")]
    description: Annotated[str, Field(description="Purpose of the campaign, in Markdown")] = ""
    published: Annotated[
        LeftOutIfEmpty[Published | None], Field(description="The publication that the campaign stands for")
    ] = None
    tags: Annotated[tuple[str, ...], Field(description="Tags of the DAG in Airflow")] = ()
    label: Annotated[
        LeftOutIfEmpty[str],
        Field(max_length=100, description="Such as the number of a build: `plimsoll trend --by label` sorts by it"),
    ] = ""
    parameters: Parameters = {}
    system: System
    variants: Annotated[tuple[Variant, ...], Field(min_length=1, description="Variants to compare")]
    control: Annotated[str | None, Field(description="Id of the variant that others are compared with")] = None
    max_cells: Annotated[int, Field(ge=1, le=LARGEST_GRID, description="Greatest number of cells")] = MAX_CELLS
    loads: Annotated[
        LeftOutIfEmpty[LoadLevels],
        Field(
            min_length=1,
            description="Load levels; `none` where an action is all that is done. Required unless every stage has its "
            "own",
        ),
    ]
    loop: Annotated[Loop, Field(exclude_if=OPEN.__eq__)] = OPEN
    repeats: Annotated[int, Field(ge=1, le=1000, description="Number of times that every variant gets every load")] = 1
    seed: Annotated[
        int, Field(description="Seed of the random order of cells within each repeat, and of what loads draw at random")
    ] = 1
    workload: Workload = Workload()
    workloads: Annotated[
        tuple[NamedWorkload, ...], Field(description="Several workloads instead of one `workload`, reported one by one")
    ] = ()
    stages: Annotated[
        LeftOutIfEmpty[tuple[Stage, ...]], Field(description="Stages, which run one after the other")
    ] = ()
    load_generator: LoadGeneratorChoice = LoadGeneratorChoice()
    timing: Annotated[Timing, Field(description="Required unless every stage has its own")]
    service_levels: Annotated[tuple[ServiceLevel, ...], Field(min_length=1)] = (ServiceLevel(),)
    rate: Annotated[
        LeftOutIfEmpty[Literal["achieved"] | None],
        Field(
            description="`achieved`: a cell of files or of a command is judged at the rate that came out. Without it a "
            "met cell must have answered its load within 1 %"
        ),
    ] = None
    rates_below: Annotated[
        LeftOutIfEmpty[tuple[RateBelow, ...]],
        Field(description="Bounds that decide nothing: the report says up to which load each was kept"),
    ] = ()
    stop_when: Annotated[
        LeftOutIfEmpty[tuple[StopRule, ...]],
        Field(
            description="Rules at which the load generator ends a load, to protect the system. The cell has then missed"
        ),
    ] = ()
    action: Annotated[LeftOutIfEmpty[Action | None], Field(description="What is done to the cluster of every cell")] = (
        None
    )
    provider: ProviderChoice = ProviderChoice()
    canary: Annotated[Canary | None, Field(description="Check of every host before the load")] = None
    disturbance: Annotated[
        Disturbance,
        Field(
            description="Bounds of noise. A miss that noise beyond them explains is invalid, and the cell runs again",
            exclude_if=Disturbance().__eq__,
        ),
    ] = Disturbance()
    wait_for_calm: Annotated[
        LeftOutIfEmpty[ShortDuration | None],
        Field(
            le=LONGEST_WAIT,
            description="How long a cell waits for hosts within the bounds of `disturbance`, at most 30m",
        ),
    ] = None
    strategy: Annotated[Strategy, Field(description="Which cells run, and when the campaign ends")] = FullGrid()
    cluster_scope: Annotated[
        Literal["cell", "variant", "campaign"],
        Field(description="How long hosts live: for a `cell`, for all cells of a `variant`, or for the `campaign`"),
    ] = "cell"
    max_parallel: Annotated[int, Field(ge=1, le=1000, description="Greatest number of cells at the same time")] = 1
    budget: Annotated[
        Usd | None, Field(gt=0, description="Cost of all hosts at most: a cell that would exceed it does not start")
    ] = None
    at_most: Annotated[
        LeftOutIfEmpty[AtMost | None],
        Field(description="A ceiling. Without it a cell ends an hour after everything that the definition lets it do"),
    ] = None
    finish_by: Annotated[
        LeftOutIfEmpty[FinishBy | None],
        Field(
            description="Time by which the campaign has to end: with its zone, or from its first cell on. A cell that "
            "is expected to end later does not start"
        ),
    ] = None
    approve: Annotated[
        LeftOutIfEmpty[Approve | None], Field(description="A person approves the campaign before hosts are launched")
    ] = None
    schedule: Annotated[str | None, Field(description="Cron expression")] = None
    timezone: Annotated[str, Field(description="Time zone of the schedule")] = "UTC"
    trigger: Annotated[
        LeftOutIfEmpty[Trigger | None],
        Field(description="An event that begins a campaign, instead of a schedule or beside one"),
    ] = None
    notify: Annotated[
        tuple[Event, ...],
        Field(
            description="Events to notify of: `missed-schedule` (no campaign had started 15 minutes after it was due), "
            "`incomplete` (a campaign ended without a report), `late` (it is expected to end after `finish_by`), "
            "`regression` and `improvement` (a change in the trend over its campaigns, once)"
        ),
    ] = ()

    @model_validator(mode="before")
    @classmethod
    def _put_values_and_leave_to_stages(cls, written: Any, info: ValidationInfo) -> Any:
        """Put values of parameters in: those of the context, else their defaults."""
        return left_to_stages(with_values(written, info.context or {}))

    @field_validator("loads", mode="wrap")
    @classmethod
    def _expand_range(cls, value: object, listed: ValidatorFunctionWrapHandler, info: ValidationInfo) -> LoadLevels:
        if value is LEFT_TO_STAGES:
            return ()
        # `info.data` has only the fields that are declared before this one, so `max_cells` stands above `loads`
        loads: LoadLevels = listed(of_the_top(value, info.data.get("max_cells", MAX_CELLS)))
        return loads

    @field_validator("timing", mode="wrap")
    @classmethod
    def _first_timing(cls, value: object, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Timing:
        """Take the first stage's timing where only stages have timings, so that all have one. No cell uses it."""
        if value is LEFT_TO_STAGES:
            # `info.data` has only the fields that are declared before this one, so `stages` stands above `timing`
            stages: tuple[Stage, ...] = info.data.get("stages", ())
            return next((stage.timing for stage in stages if stage.timing), _UNREAD)
        timing: Timing = read(value)
        return timing


_UNREAD = Timing(duration=timedelta(seconds=1), warmup=timedelta(0))
"""The timing of a definition whose stages can't be read, and which is refused for that."""
