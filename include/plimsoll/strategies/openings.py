"""Loads that a stage takes from an earlier stage: a share of each variant's maximum, or the lowest maximum."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from plimsoll.domain.parts import Part, parts
from plimsoll.domain.stage import OpenedLoad, StageOpening
from plimsoll.strategies.decision import StrategyOfCampaign
from plimsoll.strategies.ladder import CapacityKind
from plimsoll.strategies.state import AttemptRecord, CampaignState, CellAttempts

Carried = tuple[CapacityKind, int | None]
State = CampaignState[CellAttempts[AttemptRecord]]


def open_stage(state: State, at: datetime) -> StageOpening:
    """The loads of the first stage without known loads. All earlier stages must be complete in that state."""
    found = parts(state.definition)
    own = [part for part in found if part.stage == state.unopened[0]]
    assert own[0].taken is not None, "a stage that is not open takes its load from another"
    source = own[0].taken.source
    outcomes = {one.cell.id: outcome for one in state.cells if (outcome := one.outcome)}
    carried = StrategyOfCampaign(state.definition).capacities(outcomes)
    maxima = [
        _maximum(state, part, variant.id, carried)
        for part in found
        if part.stage == source
        for variant in part.definition.variants
    ]
    loads = [load for part in own for load in _loads(part, [one for one in maxima if one.workload == part.workload])]
    return StageOpening(stage=own[0].stage, of=source, at=at, loads=tuple(loads))


def _maximum(state: State, part: Part, variant: str, carried: Mapping[str, Carried]) -> OpenedLoad:
    """The variant's capacity in that part. The result's load is this maximum, to be replaced by the stage's rule."""
    own = [one for one in state.by_variant if (one.cell.part, one.cell.variant) == (part.name, variant)]
    kind, maximum = carried[own[0].cell.ladder]
    above = min((one.cell.load_ops_s for one in own if one.outcome == "missed"), default=None)
    return OpenedLoad(
        variant=variant,
        workload=part.workload,
        load_ops_s=maximum,
        maximum_ops_s=maximum,
        kind="none" if maximum is None else "found" if kind == "found" else "at-least",
        decided_by=tuple(_deciders(own, (maximum, above))),
    )


def _deciders(own: Sequence[CellAttempts[AttemptRecord]], loads: Sequence[int | None]) -> Iterator[str]:
    for one in own:
        if one.counted and one.cell.load_ops_s in loads:
            yield f"{one.cell.id}/{one.counted.key.attempt}"


def _loads(part: Part, maxima: Sequence[OpenedLoad]) -> Iterator[OpenedLoad]:
    """The loads of a part: from each variant's own maximum, or from the lowest maximum if every variant has one."""
    taken = part.taken
    assert taken is not None
    known = [one.maximum_ops_s for one in maxima if one.maximum_ops_s is not None]
    slowest = min(known) if len(known) == len(maxima) else None
    for one in maxima:
        base = one.maximum_ops_s if taken.share is not None else slowest
        yield one.model_copy(update={"load_ops_s": None if base is None else taken.load(base)})
