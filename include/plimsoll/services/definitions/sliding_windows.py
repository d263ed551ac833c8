"""Sliding windows that are judged in addition to aligned intervals, although the campaign has begun without them."""

from plimsoll.domain.definition import Definition
from plimsoll.domain.resolve import resolve
from plimsoll.domain.service_level import ServiceLevel


def with_sliding_windows(definition: Definition) -> Definition:
    """Return the definition, with sliding windows in addition to the first service level of every stage."""
    stages = tuple(
        stage.model_copy(update={"service_levels": _and_sliding(stage.service_levels)})
        if stage.service_levels
        else stage
        for stage in definition.stages
    )
    levels = _and_sliding(definition.service_levels)
    return definition.model_copy(update={"service_levels": levels, "stages": stages})


def _and_sliding(levels: tuple[ServiceLevel, ...]) -> tuple[ServiceLevel, ...]:
    sliding = levels[0].model_copy(update={"windows": "sliding"})
    return levels if sliding in levels else (*levels, sliding)


def judged_as(stored: Definition, definition: Definition) -> Definition:
    """Return the definition, with sliding windows if these were added after the campaign began."""
    amended = with_sliding_windows(definition)
    wanted, kept = ([stage.first.service_levels for stage in resolve(one).stages] for one in (amended, stored))
    return amended if wanted == kept else definition
