"""Stages: parts of a campaign that run one after the other, each with a strategy and loads of its own."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BeforeValidator, Field

from plimsoll.domain.keys.action import Action
from plimsoll.domain.keys.loads import LONGEST_STAGE_ID, Loop, StageLoads, TakenLoad, listed_or_taken
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.keys.strategy import Strategy
from plimsoll.domain.keys.timing import Timing
from plimsoll.domain.keys.variant import SLUG
from plimsoll.domain.text.base import LeftOutIfEmpty, Model

REQUIRED_UNLESS_STAGED = ("loads", "timing")
"""Keys that must stand at the top of a definition, unless every stage has its own."""
LEFT_TO_STAGES = object()
"""The placeholder for a required key, while a definition is read in which only the stages have that key."""


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
        LeftOutIfEmpty[tuple[str, ...]],
        Field(description="Ids of the `workloads` that the stage has; by default all"),
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
