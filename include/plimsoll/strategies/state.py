"""The state of a campaign: its cells, the attempt of each cell that counts, and the strategy's decisions.

The state is a pure function of the campaign and of records of attempts. Plans, pages, gate, report, REST API, command
line and DAGs all use this module. Their records of attempts differ in what they hold besides the verdict.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Generic, Protocol, TypeVar

from plimsoll.domain.attempt.result import ValidOutcome, Verdict
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import Threshold, tries_of_a_cell
from plimsoll.strategies.decision import StrategyOfCampaign, stage_to_start
from plimsoll.strategies.matrix import Observations, of_one_round, running_order
from plimsoll.strategies.threshold.question import Answer, observation_of


class AttemptRecord(Protocol):
    """The least data on an attempt. The verdict is None until the attempt is judged."""

    @property
    def key(self) -> AttemptKey: ...

    @property
    def verdict(self) -> Verdict | None: ...


A = TypeVar("A", bound=AttemptRecord)
C = TypeVar("C", bound="CellAttempts[AttemptRecord]")
A_co = TypeVar("A_co", bound=AttemptRecord, covariant=True)
C_co = TypeVar("C_co", bound="CellAttempts[AttemptRecord]", covariant=True)


@dataclass(frozen=True)
class JudgedAttempt:
    """A record of an attempt with only its key and verdict."""

    key: AttemptKey
    verdict: Verdict | None


@dataclass(frozen=True)
class Decider:
    """A cell whose outcome made other cells unnecessary."""

    cell_id: str
    outcome: ValidOutcome


@dataclass(frozen=True)
class CellAttempts(Generic[A_co]):
    """A cell with its attempts, oldest first, and the strategy's decision on it."""

    cell: Cell
    attempts: tuple[A_co, ...] = ()
    decided_by: Decider | None = None
    """The cell whose outcome makes this one unnecessary; only of a cell without a valid attempt that a search need not
    run.
    """
    is_next: bool = True
    """Whether the strategy asks for the cell now."""

    @property
    def newest(self) -> A_co | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def counted(self) -> A_co | None:
        """Return the attempt whose result counts for the cell; None where no attempt is valid."""
        return newest_valid(reversed(self.attempts))

    @property
    def shown(self) -> A_co | None:
        """Return the attempt that counts, else the newest one: pages show a marked result rather than none."""
        return self.counted or self.newest

    @property
    def superseded(self) -> tuple[A_co, ...]:
        """Return valid attempts that a newer valid attempt replaced."""
        valid = (attempt for attempt in self.attempts if attempt.verdict and attempt.verdict.valid)
        return tuple(attempt for attempt in valid if attempt is not self.counted)

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict that counts; None while there is no valid attempt."""
        return self.counted.verdict if self.counted else None

    @property
    def outcome(self) -> ValidOutcome | None:
        return self.verdict.valid_outcome if self.verdict else None

    @property
    def is_settled(self) -> bool:
        """Tell whether the campaign needs no further attempt at the cell: it has a valid one, or need not run."""
        return self.counted is not None or self.decided_by is not None

    @property
    def was_unsound(self) -> bool:
        """Tell whether the newest attempt has no valid result."""
        return self.newest is not None and (self.newest.verdict is None or not self.newest.verdict.valid)


def newest_valid(newest_first: Iterable[A]) -> A | None:
    """Return the attempt that counts among one cell's attempts: the newest valid one."""
    return next((attempt for attempt in newest_first if attempt.verdict and attempt.verdict.valid), None)


def runs_again(newest_first: Iterable[Verdict | None], tries: int) -> bool:
    """Tell whether a cell's newest attempt was disturbed, and the cell runs again by itself.

    Disturbed attempts in a row are counted in groups of `tries` (`disturbance.tries`), so that a person who asks for
    the cell again gets as many tries again. Verdicts are None where there is none.
    """
    in_a_row = sum(1 for _ in takewhile(lambda verdict: verdict is not None and verdict.is_disturbed, newest_first))
    return in_a_row % tries != 0


@dataclass(frozen=True)
class CampaignState(Generic[C_co]):
    """Every cell of the campaign, in running order.

    `strays` are attempts at cells that the campaign does not have. `unasked` are cells that a threshold has not asked
    for: it may run any of hundreds, and asks for some ten.
    """

    campaign: Campaign
    cells: tuple[C_co, ...]
    strays: tuple[AttemptRecord, ...] = ()
    unasked: tuple[C_co, ...] = ()

    @property
    def stages_without_loads(self) -> tuple[str, ...]:
        """Return the ids of stages whose loads are not known yet, because they depend on an earlier stage's results."""
        return tuple(dict.fromkeys(part.stage for part in self.campaign.parts if not part.has_loads))

    @property
    def is_complete(self) -> bool:
        """Tell whether the campaign needs no further cell, including cells of stages whose loads are not known yet."""
        return not self.missing and not self.stages_without_loads

    @property
    def can_start_stage(self) -> bool:
        """Tell whether the loads of the first stage with unknown ones can be found: all earlier stages are complete."""
        return bool(stage_to_start(self.campaign, (cell.cell for cell in self.missing)))

    @cached_property
    def by_id(self) -> Mapping[str, C_co]:
        return {cell.cell.id: cell for cell in self.cells}

    @cached_property
    def by_variant(self) -> tuple[C_co, ...]:
        """Return the cells in the order of reports: parts and variants as defined, then loads rising, then repeats."""
        order = {variant.id: index for index, variant in enumerate(self.campaign.variants)}
        places = {part.id: index for index, part in enumerate(self.campaign.parts)}

        def rank(cell: CellAttempts[AttemptRecord]) -> tuple[int, int, int, int]:
            return places.get(cell.cell.part, 0), order[cell.cell.variant], cell.cell.load_ops_s, cell.cell.repeat

        return tuple(sorted(self.cells, key=rank))

    @property
    def missing(self) -> tuple[C_co, ...]:
        """Return cells without a valid attempt that the strategy asks for, now or later."""
        return tuple(cell for cell in self.cells if not cell.is_settled)

    @property
    def asked_for(self) -> tuple[C_co, ...]:
        """Return the missing cells that the strategy asks for now; a full grid asks for all of them."""
        return tuple(cell for cell in self.missing if cell.is_next)

    @property
    def to_run_now(self) -> tuple[C_co, ...]:
        """Return those of the cells that the strategy asks for now that may run in one round."""
        return self.at_once(self.asked_for)

    @property
    def to_go_on_with(self) -> tuple[C_co, ...]:
        """Return the same, without the cells that a person must look at."""
        return self.at_once([cell for cell in self.asked_for if not self._waits_for_a_person(cell)])

    @property
    def left_to_a_person(self) -> tuple[C_co, ...]:
        """Return those of the cells that the strategy asks for now that run again only when a person asks for them."""
        return tuple(cell for cell in self.asked_for if self._waits_for_a_person(cell))

    def _waits_for_a_person(self, cell: CellAttempts[AttemptRecord]) -> bool:
        """Tell whether the newest attempt was unsound, and the campaign does not run the cell again by itself.

        It does so for a search or a ramp after the first attempt that was judged and found invalid, and after a
        disturbed one that `runs_again` tells of, but not for a reason that no run mends. An attempt without a verdict
        still runs, was cancelled, or was killed.
        """
        if not cell.was_unsound:
            return False
        newest_first = [attempt.verdict for attempt in reversed(cell.attempts)]
        newest = newest_first[0]
        if newest is None or newest.lasts:
            return True
        if newest.is_disturbed:
            return not runs_again(newest_first, self.campaign.disturbance.tries)
        tries = tries_of_a_cell(self.campaign.part(cell.cell.part).strategy)
        return sum(verdict is not None for verdict in newest_first) >= tries

    def at_once(self, cells: Sequence[C_co]) -> tuple[C_co, ...]:
        """Choose from these cells of one stage, in running order, those that may run in one round."""
        chosen = of_one_round(self.campaign, [cell.cell for cell in cells])
        return tuple(cell for cell in cells if cell.cell.id in chosen)

    @cached_property
    def answers(self) -> Mapping[str, Answer]:
        """Return the thresholds that are looked for, as known so far, by the beginning of the ids of their cells."""
        if not any(_thresholds(self.campaign)):  # pages ask again and again, and a large grid takes time
            return {}
        return StrategyOfCampaign(self.campaign).answers(observations(self.campaign, self.cells))

    @property
    def not_needed(self) -> tuple[C_co, ...]:
        """Return cells without a valid attempt that the strategy will never ask for."""
        return tuple(cell for cell in self.cells if cell.decided_by)


State = CampaignState[CellAttempts[AttemptRecord]]
"""The state by any records of attempts."""


def campaign_state(
    campaign: Campaign, attempts: Iterable[A], kind: Callable[[Cell, tuple[A, ...]], C]
) -> CampaignState[C]:
    """Return the state that follows from these attempts, in any order. `kind` makes a cell from its attempts."""
    by_cell: defaultdict[str, list[A]] = defaultdict(list)
    for attempt in sorted(attempts, key=lambda attempt: attempt.key.attempt):
        by_cell[attempt.key.cell_id].append(attempt)
    cells = [kind(cell, tuple(by_cell.pop(cell.id, ()))) for cell in running_order(campaign)]
    strays = tuple(attempt for own in by_cell.values() for attempt in own)
    outcomes = {cell.cell.id: outcome for cell in cells if (outcome := cell.outcome)}
    decision = StrategyOfCampaign(campaign).next(outcomes, observations(campaign, cells))
    run, sparse = frozenset(decision.run), {part.id for part in _thresholds(campaign)}
    deciders = {cell_id: Decider(by, outcomes[by]) for cell_id, by in decision.not_needed.items()}
    decided = [replace(cell, decided_by=deciders.get(cell.cell.id), is_next=cell.cell.id in run) for cell in cells]
    unasked = tuple(tried for tried in decided if tried.cell.part in sparse and not (tried.attempts or tried.is_next))
    left = {tried.cell.id for tried in unasked}
    return CampaignState(campaign, tuple(tried for tried in decided if tried.cell.id not in left), strays, unasked)


def observations(campaign: Campaign, cells: Iterable[CellAttempts[AttemptRecord]]) -> Observations:
    """Return what valid cells tell of a threshold, in parts that look for one."""
    parts = {part.id: part for part in _thresholds(campaign)}
    return {
        cell.cell.id: observation
        for cell in cells
        if (part := parts.get(cell.cell.part)) and cell.verdict and (observation := observation_of(cell.verdict, part))
    }


def _thresholds(campaign: Campaign) -> Iterator[Part]:
    return (part for part in campaign.parts if isinstance(part.strategy, Threshold))
