"""Replay a strategy with given outcomes, to see which cells it would run and which capacities it would find."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import log

from plimsoll.domain.attempt.result import Outcome, ValidOutcome
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import awaited_cells, cell_ids, cells_by_id
from plimsoll.domain.keys.strategy import StageStart, Threshold, most_cells
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.wording import plural
from plimsoll.strategies.decision import Decision, StrategyOfCampaign, stage_to_start
from plimsoll.strategies.matrix import CapacityKind, of_one_round
from plimsoll.strategies.stage_starts import Results, stage_start
from plimsoll.strategies.threshold.question import Answer, CellObservation

Attempts = Mapping[str, Sequence[Outcome | float]]
"""Cell id → the outcomes of its attempts, in order; empty for a cell without an attempt.

An outcome may be a number: the worst interval's percentile over its bound, which is met below 1.
"""
_SHOWN = 10
"""The number of cells of each kind of mistake that are named."""
_AT = datetime(1970, 1, 1, tzinfo=UTC)
"""The start of each stage: no time passes in a replay."""


@dataclass(frozen=True)
class Replay:
    """The result of a replayed campaign.

    `cells`: the number of its cells, of a threshold of all that it chooses from. `ran`: ids of the cells that ran, in
    order, each once; `attempts`: the number of their attempts; `invalid`: those of them without a valid attempt;
    `waiting`: cells that the strategy asks for, and which have no further attempt. `not_needed`: cell that never ran →
    the cell that made it unnecessary. `may_run`: the number of cells that have not run, and that may still be needed;
    of a threshold no more than it may run. `capacities`: variant (with several stages and workloads
    `stage-variant-workload`) → how firm the capacity is, and the capacity in ops/s. `taken_loads`: the same names → the
    load that was taken from an earlier stage, ops/s; None where the variant carried nothing. `answers`: the same names,
    where a threshold is looked for → its answer.
    """

    cells: int
    capacities: Mapping[str, tuple[CapacityKind, int | None]]
    ran: tuple[str, ...]
    attempts: int
    not_needed: Mapping[str, str]
    invalid: tuple[str, ...]
    waiting: tuple[str, ...]
    may_run: int
    taken_loads: Mapping[str, int | None]
    answers: Mapping[str, Answer] = field(default_factory=dict)


def replay(campaign: Campaign, attempts: Attempts, *, where: str = "the outcomes") -> Replay:
    """Replay the campaign's strategies, stage by stage.

    After an invalid attempt the cell's next attempt follows, when the strategy asks for the cell again. The attempts
    after a valid one are those that a person asked for: as in a campaign, the newest valid one counts. Raises Refused
    unless `attempts` has exactly the cells of the campaign; `where` says where they come from.
    """
    _require_all_cells(campaign, attempts, where)
    return _Playing(campaign, attempts).play()


class _Playing:
    """A campaign that is played: its stages started so far, and what its cells have found."""

    def __init__(self, campaign: Campaign, attempts: Attempts) -> None:
        self._attempts = attempts
        self._stage_starts: dict[str, StageStart] = {}
        self._tried: Counter[str] = Counter()  # in the order of the first attempts
        self._outcomes: dict[str, ValidOutcome] = {}
        self._known: dict[str, CellObservation] = {}
        self._use(campaign)

    def play(self) -> Replay:
        """Run rounds and start stages until the strategies ask for nothing that can run."""
        while True:
            decision = self._strategy.next(self._outcomes, self._known)
            settled = self._outcomes.keys() | decision.not_needed.keys()
            missing = (cell for cell_id, cell in self._cells.items() if cell_id not in settled)
            if stage := stage_to_start(self._campaign, missing):
                # Outcomes tell no rates: a closed loop's load stands for the rate
                rates = {cell_id: float(self._cells[cell_id].load_ops_s) for cell_id in self._outcomes}
                results = Results(self._outcomes, rates, known=self._known)
                self._stage_starts[stage] = stage_start(self._campaign, stage, results, _AT)
                self._use(self._campaign.with_stage_starts(self._stage_starts))
            elif cells := self._round(decision):
                for cell in cells:
                    self._run(cell)
            else:
                return self._result(decision)

    def _use(self, campaign: Campaign) -> None:
        self._campaign, self._strategy = campaign, StrategyOfCampaign(campaign)
        self._cells = cells_by_id(campaign)

    def _round(self, decision: Decision) -> Sequence[str]:
        """Return the cells that run now: those that the strategy asks for and that have further attempts."""
        run = [cell_id for cell_id in decision.run if self._tried[cell_id] < len(self._attempts[cell_id])]
        chosen = of_one_round(self._campaign, [self._cells[cell_id] for cell_id in run])
        return [cell_id for cell_id in run if cell_id in chosen]

    def _run(self, cell_id: str) -> None:
        """Make the cell's next attempt. If it is valid, all that follow are made too, and the newest valid one counts.

        The strategy would not ask for those that follow, so a person did.
        """
        left = self._attempts[cell_id][self._tried[cell_id] :]
        self._tried[cell_id] += 1 if left[0] == "invalid" else len(left)
        if left[0] != "invalid":
            newest = [attempt for attempt in left if attempt != "invalid"][-1]
            outcome: ValidOutcome = newest if isinstance(newest, str) else "met" if newest < 1 else "missed"
            self._outcomes[cell_id] = outcome
            cell = self._cells[cell_id]
            if isinstance(self._strategy.parts[cell.ladder].strategy, Threshold):
                margin = log(newest) if isinstance(newest, float) else None
                self._known[cell_id] = CellObservation(cell.load_ops_s, outcome, margin)

    def _result(self, decision: Decision) -> Replay:
        ran = tuple(self._tried)
        not_needed = {cell: decider for cell, decider in decision.not_needed.items() if cell not in self._tried}
        parts, capacities = self._strategy.parts, self._strategy.capacities(self._outcomes, self._known)
        return Replay(
            cells=len(cell_ids(self._campaign)),
            capacities={name: capacity for name, capacity in capacities.items() if parts[name].asks == "capacity"},
            ran=ran,
            attempts=self._tried.total(),
            not_needed=not_needed,
            invalid=tuple(cell_id for cell_id in ran if cell_id not in self._outcomes),
            waiting=decision.run,
            may_run=len(awaited_cells(self._campaign)) + sum(self._open_cells(not_needed)),
            taken_loads=dict(self._taken_loads()),
            answers=self._strategy.answers(self._known),
        )

    def _open_cells(self, not_needed: Mapping[str, str]) -> Iterator[int]:
        """Yield for each ladder how many of its cells may still run."""
        for name, levels in self._strategy.ladders.items():
            cells = [cell_id for level in levels for cell_id in level]
            tried = sum(cell_id in self._tried for cell_id in cells)
            free = sum(cell_id not in not_needed for cell_id in cells) - tried
            yield max(0, min(free, most_cells(self._strategy.parts[name].strategy, len(cells)) - tried))

    def _taken_loads(self) -> Iterator[tuple[str, int | None]]:
        for stage, start in self._stage_starts.items():
            for load in start.loads:
                # The name of a ladder has neither load nor repeat in it, so any will do
                cell = Cell(stage=stage, variant=load.variant, workload=load.workload, load_ops_s=1, repeat=1)
                yield cell.ladder, load.load_ops_s


def _require_all_cells(campaign: Campaign, attempts: Attempts, where: str) -> None:
    cells = cell_ids(campaign)
    unknown, missing = sorted(attempts.keys() - set(cells)), [cell for cell in cells if cell not in attempts]
    mend = 'give the list of its attempts\' outcomes, such as ["met"], or [] if it has none: every cell needs a list'
    problems = [
        *(Problem(cell_id, "is none of the definition's cells", "leave it out") for cell_id in unknown[:_SHOWN]),
        *(Problem(cell_id, "has no outcomes", mend) for cell_id in missing[:_SHOWN]),
    ]
    more = max(0, len(unknown) - _SHOWN) + max(0, len(missing) - _SHOWN)
    if more:
        problems.append(Problem(plural(more, "more cell"), "wrong or missing in the same way"))
    if problems:
        raise Refused(problems, where=where)
