"""Loads that a stage takes from an earlier stage: a share of each variant's maximum, or the lowest maximum.

A closed loop carries whatever it can, so the maximum of a variant there is the rate that came out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from statistics import median_low
from typing import Literal

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import StageLoad, StageStart
from plimsoll.strategies.decision import StrategyOfCampaign
from plimsoll.strategies.matrix import CapacityKind, Observations
from plimsoll.strategies.state import State, observations

Kind = Literal["found", "at-least", "achieved"]


@dataclass(frozen=True)
class Results:
    """The results of a campaign's cells that have a valid attempt: the outcome that counts, and whose it is.

    `rates`: cell id → the rate that it achieved, ops/s; asked of closed loops alone. `known`: what cells tell of a
    threshold. `attempts`: cell id → the number of the attempt; empty where the loads need not name the deciding ones.
    """

    outcomes: Mapping[str, ValidOutcome]
    rates: Mapping[str, float]
    attempts: Mapping[str, int] = field(default_factory=dict)
    known: Observations = field(default_factory=dict)


def find_stage_start(state: State, at: datetime) -> StageStart:
    """Return the loads of the first stage without known loads. All earlier stages must be complete in that state."""
    outcomes = {cell.cell.id: outcome for cell in state.cells if (outcome := cell.outcome)}
    rates = {cell.cell.id: rate for cell in state.cells if cell.verdict and (rate := cell.verdict.achieved_ops_s)}
    attempts = {cell.cell.id: cell.counted.key.attempt for cell in state.cells if cell.counted}
    known = observations(state.campaign, state.cells)
    return stage_start(state.campaign, state.stages_without_loads[0], Results(outcomes, rates, attempts, known), at)


def stage_start(campaign: Campaign, stage: str, results: Results, at: datetime) -> StageStart:
    """Return the loads of a stage without known loads. `results` has every cell that the earlier stages need."""
    parts = campaign.parts
    own = [part for part in parts if part.stage == stage]
    assert own[0].taken is not None, "a stage that is not open takes its load from another"
    source = own[0].taken.source
    carried = StrategyOfCampaign(campaign).capacities(results.outcomes, results.known)
    rising = sorted(grid(campaign), key=lambda cell: (cell.load_ops_s, cell.repeat))
    of_variants = (
        (part, [cell for cell in rising if (cell.part, cell.variant) == (part.id, variant.id)])
        for part in parts
        if part.stage == source
        for variant in part.variants
    )
    maxima = [
        _maximum(cells, carried[cells[0].ladder], results) if "rate" in part.knows else _rate_found(cells, results)
        for part, cells in of_variants
    ]
    by_part = (_loads(part, [load for load in maxima if load.workload == part.workload_id]) for part in own)
    return StageStart(stage=stage, of=source, at=at, loads=tuple(chain.from_iterable(by_part)))


def _maximum(cells: Sequence[Cell], carried: tuple[CapacityKind, int | None], results: Results) -> StageLoad:
    """Return the variant's capacity in a part as its maximum. All cells of a threshold decide it."""
    kind, maximum = carried
    missed = (cell.load_ops_s for cell in cells if results.outcomes.get(cell.id) == "missed")
    firm: Kind = "found" if kind == "found" else "at-least"
    asked = tuple({cell.load_ops_s for cell in cells if cell.id in results.known})
    return _load(cells, results, firm, maximum, asked or (maximum, min(missed, default=None)))


def _rate_found(cells: Sequence[Cell], results: Results) -> StageLoad:
    """Return the median rate that the variant achieved in a closed loop at its highest load, as its maximum."""
    highest = cells[-1].load_ops_s
    rates = [results.rates[cell.id] for cell in cells if cell.load_ops_s == highest and cell.id in results.rates]
    # Of two rates in the middle the lower one, which a cell achieved, and not their mean
    return _load(cells, results, "achieved", int(median_low(rates)) or None if rates else None, (highest,))


def _load(
    cells: Sequence[Cell], results: Results, kind: Kind, maximum: int | None, decisive: Sequence[int | None]
) -> StageLoad:
    """Return a variant's maximum with the attempts at the loads that decided it. The stage's rule replaces its load."""
    attempts = results.attempts
    deciders = [cell.id for cell in cells if cell.id in attempts and cell.load_ops_s in decisive]
    return StageLoad(
        variant=cells[0].variant,
        workload=cells[0].workload,
        load_ops_s=maximum,
        maximum_ops_s=maximum,
        kind="none" if maximum is None else kind,
        decided_by=tuple(f"{cell_id}/{attempts[cell_id]}" for cell_id in deciders),
    )


def _loads(part: Part, maxima: Sequence[StageLoad]) -> Iterator[StageLoad]:
    """Yield the loads of a part: from each variant's own maximum, or from the lowest one if every variant has one."""
    taken = part.taken
    assert taken is not None
    known = [load.maximum_ops_s for load in maxima if load.maximum_ops_s is not None]
    slowest = min(known) if len(known) == len(maxima) else None
    for load in maxima:
        base = load.maximum_ops_s if taken.share is not None else slowest
        yield load.model_copy(update={"load_ops_s": None if base is None else taken.load(base)})
