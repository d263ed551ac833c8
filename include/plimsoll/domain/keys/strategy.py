"""The strategies that a definition can choose, which decide which cells a campaign runs. Stages: parts of a campaign
that run one after the other, each with a strategy and loads of its own.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BeforeValidator, Field, GetJsonSchemaHandler, model_serializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from plimsoll.domain.keys.action import Action
from plimsoll.domain.keys.expected import STRATEGY_NAMES
from plimsoll.domain.keys.faults import Fault, Faulty, Path
from plimsoll.domain.keys.loads import LONGEST_STAGE_ID, Loop, StageLoads, TakenLoad, listed_or_taken
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.keys.timing import Timing
from plimsoll.domain.keys.variant import SLUG
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Percent, PositiveDuration, Rate, share
from plimsoll.domain.text.wording import meant_or_known

FEWEST_CELLS = 8
"""The fewest cells after which a narrow interval ends a threshold's search: fewer can't show noise or hiccups."""
_LEAST_AT_MOST = 4
"""The fewest cells to which a threshold's search may be limited; its interval is wide then."""
MOST_LOADS = 2_000
"""The most loads among which a threshold is looked for: more would make no answer more exact."""
TRIES_BY_ITSELF = 2
"""How often a search or a ramp runs a cell by itself, the first time included, until it is valid."""
REQUIRED_UNLESS_STAGED = ("loads", "timing")
"""Keys that must stand at the top of a definition, unless every stage has its own."""
LEFT_TO_STAGES = object()
"""The placeholder for a required key, while a definition is read in which only the stages have that key."""


class FullGrid(Model):
    """The strategy that runs every repeat of every variant at every load."""

    name: Literal["full-grid"] = "full-grid"

    @model_serializer
    def _as_word(self) -> str:
        return self.name


class Search(Model):
    """The strategy that runs only the cells on which each variant's capacity depends."""

    name: Literal["search"] = "search"
    mode: Annotated[
        Literal["exact", "fast"],
        Field(
            description="`exact` climbs to the first miss. `fast` bisects, and takes loads that it did not run for met"
        ),
    ] = "exact"
    guard: Annotated[
        int, Field(ge=0, description="For `fast`: loads below the capacity that also run with all repeats")
    ] = 1
    repeats_at_once: Annotated[int, Field(ge=1, description="Repeats of a load that may run at the same time")] = 1


class Ramp(Model):
    """The strategy that climbs, in each repeat, until the rate is not reached or a service level is missed."""

    name: Literal["ramp"] = "ramp"
    data: Annotated[
        Literal["fresh", "same"],
        Field(description="`same`: a repeat goes on with the data that its lower loads left, on kept hosts"),
    ] = "fresh"


class Threshold(Model):
    """The strategy that runs cells where they tell most about the load that is met with a given chance."""

    name: Literal["threshold"] = "threshold"
    chance: Annotated[Percent, share("Chance that a cell at the load found is met", 90, ge=50, le=99)] = 90
    within: Annotated[
        Percent, share("How far either end of the interval may lie from its middle", 15, ge=5, le=100)
    ] = 15
    confidence: Annotated[Percent, share("Chance that the interval holds that load", 95, ge=50, le=99)] = 95
    at_most: Annotated[int, Field(ge=_LEAST_AT_MOST, le=1000, description="Valid cells of one variant at most")] = 30
    at_once: Annotated[
        int,
        Field(
            ge=1,
            le=100,
            description="Cells of one variant that may run at the same time: more end sooner, but take more cells",
        ),
    ] = 1
    rounded_to: Annotated[
        LeftOutIfEmpty[Rate | None],
        Field(
            gt=0,
            description="Every multiple of this rate from the lowest to the highest of the `loads` may run. Without "
            "it, only the `loads` themselves",
        ),
    ] = None
    over: Annotated[
        LeftOutIfEmpty[PositiveDuration | None],
        Field(description="For how long the load is to be met. Without it: for the cells' own judged time"),
    ] = None

    def loads_between(self, loads: tuple[int, ...]) -> tuple[int, ...]:
        """Return the loads that may run, ops/s, by the definition's `loads`; these where there are too many others."""
        multiples = self.multiples_between(loads)
        return tuple(multiples) if 0 < len(multiples) <= MOST_LOADS else loads

    def multiples_between(self, loads: tuple[int, ...]) -> range:
        """Return the multiples of `rounded_to` between the lowest and the highest of the loads, ops/s."""
        if self.rounded_to is None or not loads:
            return range(0)
        first = max(1, -(-min(loads) // self.rounded_to)) * self.rounded_to
        return range(first, max(loads) + 1, self.rounded_to)


def _of_a_name(value: Any) -> Any:
    """Return a strategy as a mapping, also where its name stands alone.

    Raises Faulty for an unknown name: pydantic's own message would list tags.
    """
    if not isinstance(value, Mapping | str):
        return value
    path: Path = () if isinstance(value, str) else ("name",)
    given: Mapping[str, Any] = {"name": value} if isinstance(value, str) else value
    if (name := given.get("name")) is None:
        mend = "write a strategy's name beside its keys, such as {name: search, mode: fast}"
        raise Faulty([Fault(path, "is missing", mend)])
    if name not in STRATEGY_NAMES:
        raise Faulty([Fault(path, f"there is no strategy {str(name)!r}", meant_or_known(name, STRATEGY_NAMES))])
    return given


class _OrItsName:
    """An addition to the JSON schema: a strategy may be given by its name alone."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string", "enum": list(STRATEGY_NAMES)}, handler(schema)]}


Strategy = Annotated[
    FullGrid | Search | Ramp | Threshold, Field(discriminator="name"), BeforeValidator(_of_a_name), _OrItsName()
]
"""A strategy's name alone stands for the strategy with its defaults."""


def tries_of_a_cell(strategy: Strategy) -> int:
    """Tell how often a campaign runs a cell by itself, the first time included, until it is valid.

    Then a person must ask. A search or a ramp can't go on with a variant before the cell is valid, and would stand
    still overnight for one disturbance. In a full grid nothing waits for an invalid cell.
    """
    return TRIES_BY_ITSELF if chooses_cells(strategy) else 1


def chooses_cells(strategy: Strategy) -> bool:
    """Tell whether it chooses cells by the results of earlier ones."""
    return not isinstance(strategy, FullGrid)


def most_cells(strategy: Strategy, of_grid: int) -> int:
    """Return the number of valid cells of a variant that the strategy asks for at most, of those of its grid."""
    return min(strategy.at_most, of_grid) if isinstance(strategy, Threshold) else of_grid


class Stage(Model):
    """A part of a campaign that begins when the stages before it are complete.

    For keys that it does not have, the keys at the top of the definition count.
    """

    id: Annotated[
        str, Field(pattern=SLUG, max_length=LONGEST_STAGE_ID, description="Short name: letters, digits and hyphens")
    ]
    title: Annotated[LeftOutIfEmpty[str], Field(description="Purpose of the stage")] = ""
    strategy: LeftOutIfEmpty[Strategy | None] = None
    loads: Annotated[
        LeftOutIfEmpty[StageLoads | None],
        BeforeValidator(listed_or_taken),
        Field(description="Load levels, or one load taken from an earlier stage"),
    ] = None
    loop: LeftOutIfEmpty[Loop | None] = None
    repeats: Annotated[
        LeftOutIfEmpty[int | None],
        Field(ge=1, le=1000, description="Number of times that every variant gets every load"),
    ] = None
    timing: LeftOutIfEmpty[Timing | None] = None
    service_levels: Annotated[LeftOutIfEmpty[tuple[ServiceLevel, ...] | None], Field(min_length=1)] = None
    action: Annotated[LeftOutIfEmpty[Action | None], Field(description="What is done to the cluster")] = None
    workloads: Annotated[
        LeftOutIfEmpty[tuple[str, ...]], Field(description="Ids of the `workloads` that the stage has; by default all")
    ] = ()

    @property
    def label(self) -> str:
        return self.title or self.id

    def has(self, workload: str) -> bool:
        """Return whether the stage has cells with that one of the definition's workloads."""
        return not self.workloads or workload in self.workloads

    @property
    def taken(self) -> TakenLoad | None:
        """Return the rule by which an earlier stage's results give the load; None where the stage has its own loads."""
        return self.loads if isinstance(self.loads, TakenLoad) else None


class StageLoad(Model):
    """The load of a variant with a workload in a stage, and the results that it was taken from."""

    variant: str
    workload: LeftOutIfEmpty[str] = ""
    load_ops_s: Annotated[int | None, Field(description="ops/s; none: nothing was carried that it could be taken from")]
    maximum_ops_s: Annotated[int | None, Field(description="Of that variant in the earlier stage; none: no load")]
    kind: Annotated[
        Literal["found", "at-least", "achieved", "none"],
        Field(
            description="found: the next load missed, or it is a threshold; at-least: every load was met, or a "
            "threshold lies above them; achieved: the rate of a closed loop; none: no load was found to be carried"
        ),
    ]
    decided_by: Annotated[
        tuple[str, ...], Field(description="Attempts that counted: at the maximum, and at the next higher load")
    ] = ()


class StageStart(Model):
    """The loads of a stage, found when the stages before it were complete. They never change afterwards."""

    stage: str
    of: Annotated[str, Field(description="Id of the stage whose results they were taken from")]
    at: AwareDatetime
    loads: tuple[StageLoad, ...]

    def of_workload(self, workload: str) -> tuple[StageLoad, ...]:
        """Return the loads of all variants with that workload, in the definition's order."""
        return tuple(load for load in self.loads if load.workload == workload)


StageStarts = Mapping[str, StageStart]
"""Stage's id → its start; without those whose loads are not known yet."""


def left_to_stages(given: Any) -> Any:
    """Return a definition as somebody wrote it, with LEFT_TO_STAGES for each required key that all stages have."""
    stages = given.get("stages") if isinstance(given, Mapping) else None
    if not isinstance(stages, list | tuple) or not stages:
        return given
    left = [name for name in REQUIRED_UNLESS_STAGED if name not in given and all(_has(stage, name) for stage in stages)]
    return {**given, **dict.fromkeys(left, LEFT_TO_STAGES)}


def _has(stage: object, name: str) -> bool:
    value = stage.get(name) if isinstance(stage, Mapping) else getattr(stage, name, None)
    return value is not None
