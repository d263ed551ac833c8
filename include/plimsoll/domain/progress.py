"""The progress of a campaign, for people who watch it run."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.cell import Cell
from plimsoll.domain.wording import plural

LoadPhase = Literal["populate", "warm-up", "load"]
"""A phase that a load generator reports of itself."""
Phase = Literal["waiting", "provision", "deploy", LoadPhase, "collect", "judge", "done"]
"""A phase of a cell's progress, in the order of the steps (`services.steps.steps`)."""
CellStateName = Literal["met", "missed", "invalid", "failed", "running", "waiting", "not-needed"]


TimeLeft = Annotated[
    float | None,
    Field(
        description="Estimate until the last cell that the newest run was asked for is judged, s. Of a campaign "
        "`in_rounds` the cells of later rounds are not in it, because the present round's results choose them. Null: "
        "a cell is further beyond the estimate than what is left of it, so nobody knows"
    ),
]
SecondsOver = Annotated[
    LeftOutIfEmpty[float],
    Field(description="By how much the phase under way takes longer than expected, s; of several cells the longest"),
]
InRounds = Annotated[
    LeftOutIfEmpty[bool],
    Field(description="It runs in rounds, a search for example, and `seconds_left` is of the present one; else absent"),
]


class LevelProgress(Model):
    """How a service level fares in the intervals that are over. The verdict alone decides."""

    level: Annotated[str, Field(description="Percentile, interval and bound: `99.9/10s/100ms`, and operation, if any")]
    judged: Annotated[int, Field(description="Intervals that are over")]
    missed: Annotated[int, Field(description="Those that missed")]
    last_ms: Annotated[float | None, Field(description="Percentile of the last interval, ms; null: nothing answered")]
    worst_ms: Annotated[float, Field(description="Highest percentile of any interval, ms")]

    def __str__(self) -> str:
        last = "no answer" if self.last_ms is None else f"{self.last_ms:.3g} ms"
        fares = f"{self.missed} of {plural(self.judged, 'interval')} missed" if self.missed else "met so far"
        return f"p{self.level}: {fares}, last {last}, highest {self.worst_ms:.3g} ms"


class AttemptProgress(Model):
    """The newest report of a running attempt."""

    phase: Phase
    at: AwareDatetime
    phases: Annotated[dict[str, AwareDatetime], Field(description="When each phase began")] = {}
    achieved_ops_s: float | None = None
    attempted_ops_s: float | None = None
    seconds_left: Annotated[float | None, Field(description="Until the load ends, s")] = None
    note: str = ""
    levels: Annotated[
        LeftOutIfEmpty[tuple[LevelProgress, ...]], Field(description="Service levels as far as they are watched")
    ] = ()


class CellProgress(Model):
    """One cell: its state, its newest attempt and that attempt's progress."""

    cell: Cell
    state: CellStateName
    attempt: int | None = None
    runs: Annotated[
        LeftOutIfEmpty[bool], Field(description="Somebody works at its newest attempt, whatever an older one says")
    ] = False
    progress: AttemptProgress | None = None
    seconds_over: SecondsOver = 0.0
    reason: str = ""


class ThresholdStatus(Model):
    """What is known so far of the load that is met with the chance that a strategy asks for."""

    of: Annotated[str, Field(description="The variant, with the ids of its stage and workload where there are several")]
    ops_s: Annotated[float | None, Field(description="The load (ops/s); null: it may lie beyond the range of loads")]
    low_ops_s: Annotated[float | None, Field(description="Lower end of its interval; null: the cells do not bound it")]
    high_ops_s: Annotated[float | None, Field(description="Upper end of its interval; null: the cells do not bound it")]
    decided_by: Annotated[str, Field(description="margins, outcomes, or nothing")]
    stopped: Annotated[str, Field(description="narrow, all met, all missed, most cells; goes on: none of these yet")]
    cells: Annotated[int, Field(description="Valid cells that it is known from")]
    within: Annotated[int, Field(description="How far either end is to lie from the middle at most, per cent")]
    next_cells: Annotated[tuple[str, ...], Field(description="Ids of the cells that it asks for now")]

    @property
    def sentence(self) -> str:
        """Return what is known, and what the next cells are for."""
        ends = [f"{end:,.0f}" for end in (self.low_ops_s, self.high_ops_s) if end is not None]
        one_sided = f"at {'least' if self.low_ops_s else 'most'} {''.join(ends)}"
        interval = " to ".join(ends) if len(ends) == 2 else one_sided
        basis = f"after {plural(self.cells, 'cell')}, by {self.decided_by}"
        known = f"{interval} ops/s {basis}" if ends else "not known yet"
        if not self.next_cells:
            return f"{self.of}: {known}; {self.stopped}"
        aim = f"to come within {self.within} %" if self.cells else "in the middle of what may be"
        return f"{self.of}: {known}; next {', '.join(self.next_cells)}, {aim}"


class CampaignProgress(Model):
    """All cells in running order, and the estimated end of what the newest run was asked for."""

    campaign_id: str
    title: str
    cells: tuple[CellProgress, ...]
    started_at: AwareDatetime | None
    seconds_left: TimeLeft
    in_rounds: InRounds = False
    asked: Annotated[
        tuple[str, ...] | None, Field(description="Cells that the newest run was asked for; none: not recorded, so all")
    ] = None
    usd: Annotated[float, Field(description="What the hosts of all attempts have cost so far")] = 0.0
    budget_usd: float | None = None
    thresholds: Annotated[
        LeftOutIfEmpty[tuple[ThresholdStatus, ...]], Field(description="Where a strategy looks for a threshold")
    ] = ()

    @property
    def seconds_over(self) -> float:
        """Return by how much the slowest phase under way takes longer than expected, s; 0 where none does."""
        return max((cell.seconds_over for cell in self.cells), default=0.0)

    def count(self, *states: CellStateName) -> int:
        """Return the number of cells in any of these states."""
        return sum(cell.state in states for cell in self.cells)

    def of_run(self) -> "CampaignProgress":
        """Return the progress of only the cells that the newest run was asked for, and of cells that are running."""
        asked = self.asked
        if asked is None:
            return self
        cells = tuple(cell for cell in self.cells if cell.cell.id in asked or cell.state == "running")
        return self.model_copy(update={"cells": cells})
