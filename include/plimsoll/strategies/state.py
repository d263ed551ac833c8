"""The state of a campaign: which cells there are, which attempt of each counts, and what the strategy says of each.

Decided here alone, as a pure function of the definition and of records of attempts. Plans, pages, gate, report, REST,
command line and DAGs all ask it; they differ in what their records of attempts hold beside the verdict.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from plimsoll.domain.cell import AttemptKey, Cell
from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import parts
from plimsoll.domain.result import ValidOutcome, Verdict
from plimsoll.strategies.decision import StrategyOfCampaign
from plimsoll.strategies.matrix import running_order


class AttemptRecord(Protocol):
    """What must be known of an attempt. The verdict is None until the attempt is judged."""

    @property
    def key(self) -> AttemptKey:
        """Campaign, cell and number."""

    @property
    def verdict(self) -> Verdict | None:
        """What it came to."""


A = TypeVar("A", bound=AttemptRecord)
C = TypeVar("C", bound="CellAttempts[AttemptRecord]")
A_co = TypeVar("A_co", bound=AttemptRecord, covariant=True)
C_co = TypeVar("C_co", bound="CellAttempts[AttemptRecord]", covariant=True)


@dataclass(frozen=True)
class JudgedAttempt:
    """The least record of an attempt."""

    key: AttemptKey
    verdict: Verdict | None


@dataclass(frozen=True)
class Decider:
    """A cell whose outcome made others needless."""

    cell_id: str
    outcome: ValidOutcome


@dataclass(frozen=True)
class CellAttempts(Generic[A_co]):
    """A cell with its attempts, oldest first, and what the campaign's strategy says of it."""

    cell: Cell
    attempts: tuple[A_co, ...] = ()
    decided_by: Decider | None = None
    """Of a cell without a valid attempt that a search need not run: the cell whose outcome says so."""
    is_next: bool = True
    """Whether the strategy asks for the cell now."""

    @property
    def newest(self) -> A_co | None:
        """The attempt that was started last."""
        return self.attempts[-1] if self.attempts else None

    @property
    def counted(self) -> A_co | None:
        """The attempt whose result is the cell's."""
        return newest_valid(reversed(self.attempts))

    @property
    def shown(self) -> A_co | None:
        """The attempt that counts, or else the newest one: better a marked picture than none."""
        return self.counted or self.newest

    @property
    def superseded(self) -> tuple[A_co, ...]:
        """Valid attempts that a newer valid one replaced."""
        valid = (one for one in self.attempts if one.verdict and one.verdict.valid)
        return tuple(one for one in valid if one is not self.counted)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that counts; None while there is no valid attempt."""
        return self.counted.verdict if self.counted else None

    @property
    def outcome(self) -> ValidOutcome | None:
        """The outcome that counts."""
        return self.verdict.valid_outcome if self.verdict else None

    @property
    def is_settled(self) -> bool:
        """Whether the campaign needs nothing more of it: it has a valid attempt, or need not run."""
        return self.counted is not None or self.decided_by is not None

    @property
    def was_unsound(self) -> bool:
        """Whether its newest attempt came to no valid result: it runs again when a person asks for it."""
        return self.newest is not None and (self.newest.verdict is None or not self.newest.verdict.valid)


def newest_valid(newest_first: Iterable[A]) -> A | None:
    """The attempt that counts, of one cell's attempts: the newest valid one."""
    return next((one for one in newest_first if one.verdict and one.verdict.valid), None)


@dataclass(frozen=True)
class CampaignState(Generic[C_co]):
    """Every cell of the definition, in running order; `strays` are attempts at cells that the definition has not."""

    definition: Definition
    cells: tuple[C_co, ...]
    strays: tuple[AttemptRecord, ...] = ()

    @property
    def unopened(self) -> tuple[str, ...]:
        """Ids of the stages whose loads are not known yet: an earlier stage's results are to give them."""
        return tuple(dict.fromkeys(part.stage for part in parts(self.definition) if not part.is_open))

    @property
    def is_complete(self) -> bool:
        """Whether the campaign needs no further cell, of a stage that has not been opened neither."""
        return not self.missing and not self.unopened

    @property
    def is_to_be_opened(self) -> bool:
        """Whether the stages before the first unopened one are complete, so that its loads can be found."""
        order = [part.stage for part in parts(self.definition)]
        unopened = self.unopened
        if not unopened:
            return False
        earlier = set(order[: order.index(unopened[0])])
        return not any(one.cell.stage in earlier for one in self.missing)

    @cached_property
    def by_id(self) -> Mapping[str, C_co]:
        """The cells by their ids."""
        return {one.cell.id: one for one in self.cells}

    @cached_property
    def by_variant(self) -> tuple[C_co, ...]:
        """The cells in the order of reports: parts and variants as defined, then loads rising, then repeats."""
        order = {variant.id: place for place, variant in enumerate(self.definition.variants)}
        places = {part.name: place for place, part in enumerate(parts(self.definition))}

        def place(one: CellAttempts[AttemptRecord]) -> tuple[int, int, int, int]:
            return places.get(one.cell.part, 0), order[one.cell.variant], one.cell.load_ops_s, one.cell.repeat

        return tuple(sorted(self.cells, key=place))

    @property
    def missing(self) -> tuple[C_co, ...]:
        """Cells without a valid attempt that the strategy asks for, now or later; none ends the open stages."""
        return tuple(one for one in self.cells if not one.is_settled)

    @property
    def to_run_now(self) -> tuple[C_co, ...]:
        """Of the missing cells those that the strategy asks for now; the full grid asks for all."""
        return tuple(one for one in self.missing if one.is_next)

    @property
    def not_needed(self) -> tuple[C_co, ...]:
        """Cells without a valid attempt that the strategy will never ask for."""
        return tuple(one for one in self.cells if one.decided_by)


def campaign_state(
    definition: Definition, attempts: Iterable[A], kind: Callable[[Cell, tuple[A, ...]], C]
) -> CampaignState[C]:
    """The state that these attempts, in any order, make. `kind` makes a cell of its attempts."""
    tried: defaultdict[str, list[A]] = defaultdict(list)
    for attempt in sorted(attempts, key=lambda one: one.key.attempt):
        tried[attempt.key.cell_id].append(attempt)
    cells = [kind(cell, tuple(tried.pop(cell.id, ()))) for cell in running_order(definition)]
    strays = tuple(one for others in tried.values() for one in others)
    return CampaignState(definition, _decided(definition, cells), strays)


def _decided(definition: Definition, cells: Iterable[C]) -> tuple[C, ...]:
    """The same with what the strategy says of each."""
    known = tuple(cells)
    outcomes = {one.cell.id: outcome for one in known if (outcome := one.outcome)}
    decision = StrategyOfCampaign(definition).next(outcomes)
    run = frozenset(decision.run)
    deciders = {cell_id: Decider(by, outcomes[by]) for cell_id, by in decision.not_needed.items()}
    return tuple(replace(one, decided_by=deciders.get(one.cell.id), is_next=one.cell.id in run) for one in known)
