"""How long an action takes a variant beside the control, as a whole and in its parts, over repeats at one load."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from plimsoll.analysis.campaign.cell_results import CellResult, values_by_load
from plimsoll.analysis.campaign.statistics import typical_interval, typical_ratio
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.keys.action import ActionResult
from plimsoll.domain.text.base import Model

WHOLE = ""
"""The name of an action's whole time among those of its parts."""


class ActionComparison(Model):
    """The time of an action, or of one of its parts, beside the control's at the same load."""

    variant: str
    control: str
    load_ops_s: int
    part: Annotated[str, Field(description="Such as `streaming`, over all nodes; empty: the whole action")]
    repeats: Annotated[tuple[int, int], Field(description="Valid repeats of the variant and of the control")]
    ratio: Annotated[float, Field(description="Typical time / the control's (Hodges-Lehmann)")]
    low: float
    high: float
    confidence: Annotated[float, Field(description="Chance that low to high contain the true ratio; 0: one repeat")]


def compare_actions(cells: Sequence[CellResult], control: str | None) -> tuple[ActionComparison, ...]:
    """Compare every other variant with the control; empty without a control, and at loads that it did not run."""
    parts = dict.fromkeys(
        name for one in cells if one.verdict and one.verdict.action for name in seconds_of(one.verdict.action)
    )
    return tuple(found for part in parts for found in _of_part(cells, str(control), part)) if control else ()


def seconds_of(action: ActionResult) -> dict[str, float]:
    """Return the time of the whole action, unless its end is undated, and those of its parts over all nodes, s."""
    found = {} if action.undated_s else {WHOLE: action.duration_s}
    for one in action.parts:
        name = one.name.rpartition(": ")[2]  # without the node's
        found[name] = found.get(name, 0.0) + one.seconds
    return found


def _of_part(cells: Sequence[CellResult], control: str, part: str) -> Iterator[ActionComparison]:
    def seconds(verdict: Verdict) -> float | None:
        return seconds_of(verdict.action).get(part) if verdict.action else None

    # A part may take no time that a log's clock shows, and then has no ratio.
    found = {key: tuple(filter(None, values)) for key, values in values_by_load(cells, seconds).items()}
    for (variant, load), xs in found.items():
        ys = found.get((control, load), ())
        if variant != control and xs and ys:
            low, high, confidence = typical_interval(xs, ys)
            yield ActionComparison(
                variant=variant,
                control=control,
                load_ops_s=load,
                part=part,
                repeats=(len(xs), len(ys)),
                ratio=typical_ratio([(xs, ys)]),
                low=low,
                high=high,
                confidence=confidence,
            )
