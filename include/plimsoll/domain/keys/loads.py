"""The loads of a campaign or of a stage, listed, evenly spaced, or taken from the results of an earlier stage, and
how far the number of operations may be from a load that is drawn at random.
"""

from collections.abc import Iterator, Mapping
from math import inf, sqrt
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator

from plimsoll.domain.keys.faults import Fault, Faulty, faults_of, require_none
from plimsoll.domain.keys.host_bounds import LARGEST_GRID, raise_limit
from plimsoll.domain.keys.variant import SLUG
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Percent, Rate, format_rate, parse_rate

LoadLevels = tuple[Annotated[Rate, Field(ge=0)], ...]
NO_LOAD = (0,)
"""The loads of a stage that does something to its clusters while nobody asks anything of them."""
LONGEST_STAGE_ID = 20
OPEN: Literal["open"] = "open"
CLOSED: Literal["closed"] = "closed"
Loop = Annotated[
    Literal["open", "closed"],
    Field(
        description="`open`: operations are sent at their times. `closed`: one is sent only after another was "
        "answered, which hides waits; loads are the rates at most"
    ),
]
_StageId = Annotated[str, Field(pattern=SLUG, max_length=LONGEST_STAGE_ID)]

LEAST = 0.01
"""The share of a load by which every rate may differ."""

_DEVIATIONS = 3
ENOUGH_OPERATIONS = round((_DEVIATIONS / LEAST) ** 2)
"""So many operations of a random schedule come within the least tolerance: 90,000."""


class LoadRange(Model):
    """Evenly spaced load levels, both ends included."""

    from_: Annotated[Rate, Field(alias="from", gt=0)]
    to: Annotated[Rate, Field(gt=0)]
    step: Annotated[Rate, Field(gt=0)]

    @property
    def levels(self) -> range:
        """Return the load levels in ops/s, rising. They can be counted without being made."""
        return range(self.from_, self.to + 1, self.step)


_RANGE = frozenset({"from", "to", "step"})


def _with_other_name(schema: dict[str, Any]) -> None:
    """Add `slowest` to the schema, of which the model itself has no field."""
    schema["properties"]["slowest"] = {
        **schema["properties"]["slowest_of"],
        "description": "Another name of `slowest_of`",
        "title": "Slowest",
    }


class TakenLoad(Model):
    """One load for each variant and workload, taken from its maximum in an earlier stage: its capacity there, or the
    rate that a closed loop achieved.
    """

    model_config = ConfigDict(json_schema_extra=_with_other_name)

    share: Annotated[
        LeftOutIfEmpty[Percent | None],
        Field(ge=1, le=100, description="Share of each variant's own maximum, with `of`"),
    ] = None
    of: Annotated[LeftOutIfEmpty[_StageId | None], Field(description="Id of the stage whose maxima are used")] = None
    slowest_of: Annotated[
        LeftOutIfEmpty[_StageId | None],
        Field(description="Id of the stage of whose maxima every variant gets the lowest"),
    ] = None
    rounded_to: Annotated[
        LeftOutIfEmpty[Rate | None],
        Field(gt=0, description="The load is rounded down to a multiple of it, unless it is lower"),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _read_other_name(cls, content: Any) -> Any:
        if not isinstance(content, dict) or "slowest" not in content:
            return content
        if "slowest_of" in content:
            raise Faulty([Fault(("slowest",), "is another name of `slowest_of`, which stands here too", "remove it")])
        return {"slowest_of" if key == "slowest" else key: value for key, value in content.items()}

    @model_validator(mode="after")
    def _is_one_of_both_kinds(self) -> Self:
        if (self.share is None) != (self.of is None) or (self.of is None) == (self.slowest_of is None):
            mend = "write `{share: 70%, of: STAGE}`, or `{slowest_of: STAGE}`"
            raise Faulty([Fault((), "does not say one load", mend)])
        return self

    @property
    def source(self) -> str:
        """Return the id of the stage that gives the load."""
        stage = self.of or self.slowest_of
        assert stage is not None, "one of both is always there"
        return stage

    @property
    def slug(self) -> str:
        """Return the name of the load in ids of cells, needed before the load is known: `70pct`, `slowest`."""
        return "slowest" if self.share is None else f"{self.share}pct"

    def __str__(self) -> str:
        return f"slowest of {self.slowest_of}" if self.share is None else f"{self.share} % of {self.of}"

    def load(self, maximum_ops_s: int) -> int:
        """Return the load that follows from that maximum; both in ops/s."""
        exact = maximum_ops_s if self.share is None else maximum_ops_s * self.share // 100
        step = self.rounded_to or 1
        return max(1, exact // step * step or exact)


_TAKEN = frozenset({*TakenLoad.model_fields, "slowest"})


def expanded(value: object, most: int = LARGEST_GRID) -> object:
    """Return `loads` with a range `{from, to, step}` as a list of at most `most`, and `none` as no load."""
    if value == "none":
        return ("0/s",)
    if not isinstance(value, dict):
        return value
    try:
        span = LoadRange.model_validate(value)
    except ValidationError as error:
        raise Faulty(faults_of(error, LoadRange)) from None
    # Counted before it is made: `{from: 1/s, to: 100M/s, step: 1/s}` would fill the memory.
    require_none(_empty_or_endless(span, most))
    return tuple(f"{level}/s" for level in span.levels)


def of_the_top(value: object, most: int) -> object:
    """Expand loads at the top of a definition as `expanded` does. They can't come from a stage."""
    if isinstance(value, dict) and value.keys() & _TAKEN:
        what = "can't be taken from a stage's results here: these are the loads of stages that have none of their own"
        mend = "put it into the stage that is to run at that load, as `stages: [{id: …, loads: {…}}]`"
        raise Faulty([Fault((), what, mend)])
    return expanded(value, most)


def listed_or_taken(value: object) -> object:
    """Expand `loads` as `expanded` does. They may also be `{share, of}` or `{slowest_of}`, which stay unchanged."""
    if not isinstance(value, dict) or (value.keys() & _RANGE and not value.keys() & _TAKEN):
        return expanded(value)
    return value


StageLoads = Annotated[
    Annotated[LoadLevels, Field(min_length=1), Tag("load-levels")] | Annotated[TakenLoad, Tag("taken-load")],
    Discriminator(lambda value: "taken-load" if isinstance(value, dict | TakenLoad) else "load-levels"),
]
"""Load levels, or one that an earlier stage's results give."""


def load_remarks(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a person may not have meant in the loads of a sound definition, as its file has them: a range that
    steps over its end, a list that falls.
    """
    stages = content.get("stages") or ()
    for where, owner in (("loads", content), *((f"stages[{n}].loads", stage) for n, stage in enumerate(stages))):
        loads = owner.get("loads")
        if isinstance(loads, dict) and loads.keys() >= _RANGE:
            span = LoadRange.model_validate(loads)
            if (highest := span.levels[-1]) < span.to:
                over = f"the step {format_rate(span.step)} leads from there over `to`, {format_rate(span.to)}"
                yield f"{where} end at {format_rate(highest)}: {over}, which is not run"
        elif isinstance(loads, list):
            levels = [parse_rate(load) for load in loads]
            if levels != sorted(levels):
                yield f"{where} fall: their order changes nothing, and searches and ramps go up from the lowest"


def _empty_or_endless(span: LoadRange, most: int) -> Iterator[Fault]:
    if not span.levels:
        low, high = format_rate(span.to), format_rate(span.from_)
        yield Fault(("to",), f"{low} lies below `from`, {high}", f"write `from: {low}` and `to: {high}`: loads rise")
    if (count := len(span.levels)) > most:
        what = f"{count:,} load levels, {format_rate(span.step)} apart; at most {most:,} cells are allowed"
        yield Fault(("step",), what, f"write a larger step{raise_limit(count)}")


def rate_tolerance(operations: float) -> float:
    """Return the share by which a random schedule's number of operations may differ from the load, at least 1 %.

    `operations`: the load times the judged time. A program that sends at random times (a Poisson process) sends n
    give or take √n of n operations: three standard deviations are 3/√n of them. Beyond that is one of 370 cells.
    """
    return max(LEAST, _DEVIATIONS / sqrt(operations)) if operations > 0 else inf
