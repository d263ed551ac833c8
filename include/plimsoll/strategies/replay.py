"""Replay a strategy with given outcomes, to see which cells it would run and which capacities it would find."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.domain.cell import cells_by_id
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.result import Outcome, ValidOutcome
from plimsoll.strategies.decision import StrategyOfCampaign
from plimsoll.strategies.ladder import CapacityKind
from plimsoll.strategies.matrix import of_one_round

_SHOWN = 10
"""So many cells of each kind of mistake are named."""


@dataclass(frozen=True)
class Replay:
    """The result of a replayed campaign.

    `ran`: ids of the cells that ran, in order, each once; `attempts`: the number of their attempts; `not_needed`: cell
    → the cell that made it unnecessary; `capacities`: variant (with several workloads `variant-workload`) → how firm
    the capacity is, and the capacity in ops/s.
    """

    capacities: Mapping[str, tuple[CapacityKind, int | None]]
    ran: tuple[str, ...]
    attempts: int
    not_needed: Mapping[str, str]
    waiting: tuple[str, ...] = ()
    """Cells that the strategy asks for, but whose outcomes were all invalid."""


def replay(definition: Definition, attempts: Mapping[str, Sequence[Outcome]], *, where: str = "the outcomes") -> Replay:
    """Replay the definition's strategy. `attempts`: cell id → the outcomes of its attempts, in order.

    After an invalid attempt the cell's next attempt follows. A cell without further attempts has no outcome. Raises
    Refused unless `attempts` has exactly the cells of the definition; `where` says where they come from.
    """
    require_one_stage(definition)
    strategy = StrategyOfCampaign(definition)
    _require_all_cells(strategy, attempts, where)
    ran: dict[str, int] = {}
    outcomes: dict[str, ValidOutcome] = {}
    cells = cells_by_id(definition)
    while run := [one for one in strategy.next(outcomes).run if ran.get(one, 0) < len(attempts[one])]:
        chosen = of_one_round(definition, [cells[one] for one in run])
        for cell_id in (one for one in run if one in chosen):
            outcome = attempts[cell_id][ran.get(cell_id, 0)]
            ran[cell_id] = ran.get(cell_id, 0) + 1
            if outcome != "invalid":
                outcomes[cell_id] = outcome
    last = strategy.next(outcomes)
    return Replay(strategy.capacities(outcomes), tuple(ran), sum(ran.values()), last.not_needed, tuple(last.run))


def require_one_stage(definition: Definition) -> None:
    """Raise Refused for several stages, because loads that are taken from results can't be simulated."""
    if len(definition.stages) > 1:
        what = f"has {len(definition.stages)} stages, and a simulation plays one alone"
        mend = "write a definition without `stages`, with the strategy and loads of the one to be simulated"
        raise Refused([Problem("stages", what, mend)], where=f"definition {definition.name!r}")


def _require_all_cells(strategy: StrategyOfCampaign, attempts: Mapping[str, object], where: str) -> None:
    cells = strategy.matrix.order
    unknown, missing = sorted(attempts.keys() - set(cells)), [one for one in cells if one not in attempts]
    mend = 'give the list of its attempts\' outcomes, such as ["met"]: every cell of the grid needs one'
    problems = [
        *(Problem(one, "is none of the definition's cells", "leave it out") for one in unknown[:_SHOWN]),
        *(Problem(one, "has no outcomes", mend) for one in missing[:_SHOWN]),
    ]
    if problems:
        more = max(0, len(unknown) - _SHOWN) + max(0, len(missing) - _SHOWN)
        raise Refused(problems, where=f"{where}{f'; {more} more cells are wrong or missing' if more else ''}")
