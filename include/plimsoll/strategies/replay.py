"""A strategy played through over outcomes that are given: what it would have run, and what it would have found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.result import Outcome, ValidOutcome
from plimsoll.strategies.decision import StrategyOfCampaign
from plimsoll.strategies.ladder import CapacityKind


@dataclass(frozen=True)
class Replay:
    """What became of the campaign.

    `ran`: ids of the cells that ran, in order, each once; `attempts`: how many attempts they took; `not_needed`: cell →
    the cell that decided it; `capacities`: variant (`variant-workload` of several) → how firm, and ops/s.
    """

    capacities: Mapping[str, tuple[CapacityKind, int | None]]
    ran: tuple[str, ...]
    attempts: int
    not_needed: Mapping[str, str]


def replay(definition: Definition, attempts: Mapping[str, Sequence[Outcome]]) -> Replay:
    """Play the definition's strategy. `attempts`: cell id → the outcomes of its attempts, in order.

    An invalid attempt is followed by the cell's next one; a cell whose attempts are used up has no outcome. Refused
    unless there is a list for every cell of the definition and for no other.
    """
    require_one_stage(definition)
    strategy = StrategyOfCampaign(definition)
    _require_all_cells(strategy, attempts)
    ran: dict[str, int] = {}
    outcomes: dict[str, ValidOutcome] = {}
    while run := [one for one in strategy.next(outcomes).run if ran.get(one, 0) < len(attempts[one])]:
        for cell_id in run:
            outcome = attempts[cell_id][ran.get(cell_id, 0)]
            ran[cell_id] = ran.get(cell_id, 0) + 1
            if outcome != "invalid":
                outcomes[cell_id] = outcome
    return Replay(strategy.capacities(outcomes), tuple(ran), sum(ran.values()), strategy.next(outcomes).not_needed)


def require_one_stage(definition: Definition) -> None:
    """Refused for several stages: loads that are taken from results are not simulated."""
    if len(definition.stages) > 1:
        what = f"has {len(definition.stages)} stages, and a simulation plays one alone"
        mend = "write a definition without `stages`, with the strategy and loads of the one to be simulated"
        raise Refused([Problem("stages", what, mend)], where=f"definition {definition.name!r}")


def _require_all_cells(strategy: StrategyOfCampaign, attempts: Mapping[str, object]) -> None:
    cells = strategy.matrix.order
    mend = 'give the list of its attempts\' outcomes, such as ["met"]'
    problems = [
        *(Problem(one, "is none of the definition's cells", "leave it out") for one in attempts.keys() - set(cells)),
        *(Problem(one, "has no outcomes", mend) for one in cells if one not in attempts),
    ]
    if problems:
        raise Refused(problems, where="outcomes")
