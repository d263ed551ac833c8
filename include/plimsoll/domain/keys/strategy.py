"""The strategies that a definition can choose. A strategy decides which cells a campaign runs."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_serializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from plimsoll.domain.keys.expected import STRATEGY_NAMES
from plimsoll.domain.keys.faults import Fault, Faulty, Path
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Percent, PositiveDuration, Rate, share
from plimsoll.domain.text.wording import meant_or_known

FEWEST_CELLS = 8
"""The fewest cells after which a narrow interval ends a threshold's search: fewer can't show noise or hiccups."""
_LEAST_AT_MOST = 4
"""The fewest cells to which a threshold's search may be limited; its interval is wide then."""


MOST_LOADS = 2_000
"""The most loads among which a threshold is looked for: more would make no answer more exact."""


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


TRIES_BY_ITSELF = 2
"""How often a search or a ramp runs a cell by itself, the first time included, until it is valid."""


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
