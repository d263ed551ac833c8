"""The state of a campaign in figures, for pages and the JSON API, and its progress, for people who watch it."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field

from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.keys.service_level import WorstIsFloor
from plimsoll.domain.keys.trigger import Approvals, Begun, GivenValues
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import show_usd
from plimsoll.domain.text.wording import figure, plural

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
Spent = Annotated[
    float | None,
    Field(
        description="What the hosts of all attempts have cost so far; 0 where they are free; null where a price of "
        "theirs is not known"
    ),
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
        last = "no answer" if self.last_ms is None else f"{figure(self.last_ms)} ms"
        fares = f"{self.missed} of {plural(self.judged, 'interval')} missed" if self.missed else "met so far"
        return f"p{self.level}: {fares}, last {last}, highest {figure(self.worst_ms)} ms"


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


Asked = Annotated[
    tuple[str, ...] | None, Field(description="Cells that the newest run was asked for; none: not recorded, so all")
]
Thresholds = Annotated[
    LeftOutIfEmpty[tuple[ThresholdStatus, ...]], Field(description="Where a strategy looks for a threshold")
]


class CampaignProgress(Model):
    """All cells in running order, and the estimated end of what the newest run was asked for."""

    campaign_id: str
    title: str
    cells: tuple[CellProgress, ...]
    started_at: AwareDatetime | None
    seconds_left: TimeLeft
    in_rounds: InRounds = False
    asked: Asked = None
    usd: Spent = 0.0
    budget_usd: float | None = None
    finish_by: Annotated[
        LeftOutIfEmpty[AwareDatetime | None], Field(description="When it has to end; absent: the definition says none")
    ] = None
    approvals: Approvals = ()
    parameters: GivenValues = {}
    begun_by: Begun = None
    thresholds: Thresholds = ()
    seconds_per_cell: Annotated[
        float, Field(description="Estimate for a further cell, s; of cells at the same time a share", exclude=True)
    ] = 0.0

    @property
    def spent(self) -> str:
        """Return the cost so far in words; empty where there is none."""
        if self.usd is None:
            return "an unknown amount"
        return show_usd(self.usd) if self.usd else ""

    def further_cells(self, now: datetime) -> int:
        """Return how many further cells, about, could be over by `finish_by`; 0 without one."""
        if self.finish_by is None or not self.seconds_per_cell:
            return 0
        return max(0, int((self.finish_by - now).total_seconds() / self.seconds_per_cell))

    def expected_end(self, now: datetime) -> datetime | None:
        """Return when the last cell that the newest run was asked for is judged; None where nobody knows, or none is
        left.
        """
        return now + timedelta(seconds=self.seconds_left) if self.seconds_left else None

    @property
    def seconds_over(self) -> float:
        """Return by how much the slowest phase under way takes longer than expected, s; 0 where none does."""
        return max((cell.seconds_over for cell in self.cells), default=0.0)

    def count(self, *states: CellStateName) -> int:
        return sum(cell.state in states for cell in self.cells)

    def of_run(self) -> "CampaignProgress":
        """Return the progress of only the cells that the newest run was asked for, and of cells that are running."""
        asked = self.asked
        if asked is None:
            return self
        cells = tuple(cell for cell in self.cells if cell.cell.id in asked or cell.state == "running")
        return self.model_copy(update={"cells": cells})


CampaignStateName = Literal["waiting", "running", "complete", "incomplete"]


class CellStatus(Model):
    """One cell: its state, and the figures of the attempt that counts, or else of the newest attempt."""

    id: str
    stage: Annotated[LeftOutIfEmpty[str], Field(description="Of a campaign with several")] = ""
    variant: str
    workload: Annotated[LeftOutIfEmpty[str], Field(description="Of a campaign with several")] = ""
    load_ops_s: int
    level: Annotated[
        LeftOutIfEmpty[str], Field(description="Of a load that an earlier stage's results gave: its name, `70pct`")
    ] = ""
    repeat: int
    state: CellStateName
    attempts: Annotated[int, Field(description="Attempts begun so far")]
    attempt: Annotated[int | None, Field(description="Number of the attempt that the figures are of")]
    runs: Annotated[bool, Field(description="Somebody works at its newest attempt, whatever an older one says")]
    phase: Annotated[Phase | None, Field(description="Of the newest attempt, while it runs")] = None
    phase_share: Annotated[float | None, Field(description="How much of the attempt is over, 0 to 1; estimate")] = None
    note: Annotated[str, Field(description="What the newest attempt waits for, if so")] = ""
    seconds_left: Annotated[float | None, Field(description="Until the load ends, s")] = None
    seconds_over: SecondsOver = 0.0
    achieved_ops_s: float | None = None
    worst_ms: Annotated[float | None, Field(description="Worst interval of the deciding service level, ms")] = None
    worst_to_bound: Annotated[float | None, Field(description="The same as a multiple of the bound")] = None
    worst_is_floor: WorstIsFloor = False
    intervals_missed: int | None = None
    intervals_judged: int | None = None
    missed_levels: Annotated[
        LeftOutIfEmpty[tuple[str, ...]], Field(description="The service levels that it missed, where there are several")
    ] = ()
    stopped: Annotated[
        LeftOutIfEmpty[str], Field(description="When and how a rule of `stop_when` ended its load, which is a miss")
    ] = ""
    errors: Annotated[int | None, Field(description="Failed operations, judged time only")] = None
    reason: Annotated[str, Field(description="Why it is invalid, failed or not needed")] = ""
    decided_by: Annotated[
        str | None, Field(description="Of a cell that a search need not run: the cell whose outcome says so")
    ] = None
    newest: Annotated[
        CellStateName | None, Field(description="How the newest attempt stands, where it is not the one that counts")
    ] = None
    newest_reason: Annotated[str, Field(description="Why that one is invalid or failed")] = ""


class VariantName(Model):
    """A variant's id and the name that people see."""

    id: str
    label: str


class StageStatus(Model):
    """The state of one stage, in a campaign that has several."""

    id: str
    title: str
    strategy: str
    loads: Annotated[tuple[str, ...], Field(description="Rates; of one that an earlier stage gives, how")]
    level: Annotated[str, Field(description="How ids of its cells name a load that an earlier stage gives")] = ""
    repeats: int
    service_levels: tuple[str, ...]
    cells: Annotated[int, Field(description="Of its grid, whether their loads are known or not")]
    opened_at: Annotated[
        AwareDatetime | None, Field(description="When its load was taken from an earlier stage's results")
    ] = None
    notes: Annotated[
        tuple[str, ...], Field(description="What its loads were taken from, and what could not be, in sentences")
    ] = ()


class CampaignSummary(Model):
    """One line of the list of campaigns."""

    campaign_id: str
    title: str
    definition: Annotated[str, Field(description="Name of its definition")]
    dag_id: Annotated[str, Field(description="The DAG that runs it")]
    state: Annotated[
        CampaignStateName,
        Field(
            description="waiting: no cell was tried yet, or a run lives and none of its cells is under way; "
            "running: some are under way; complete: every cell that is needed has a valid attempt; incomplete: nothing "
            "runs, and cells lack a valid attempt"
        ),
    ]
    waits_for: Annotated[
        LeftOutIfEmpty[str], Field(description="What its living runs wait for: a cluster, another run")
    ] = ""
    cells: Annotated[int, Field(description="Cells of the definition")]
    counts: Annotated[dict[CellStateName, int], Field(description="Cells by state; those of 0 left out")]
    started_at: Annotated[AwareDatetime | None, Field(description="Start of its first attempt")]
    changed_at: Annotated[AwareDatetime | None, Field(description="Last sign of life of any attempt")]
    seconds_left: TimeLeft
    seconds_over: SecondsOver = 0.0
    in_rounds: InRounds = False
    finish_by: Annotated[
        LeftOutIfEmpty[AwareDatetime | None], Field(description="When it has to end, of one that has begun")
    ] = None
    seconds_late: Annotated[
        LeftOutIfEmpty[float], Field(description="By how much it is expected to end after that, s; 0: it does not")
    ] = 0.0
    usd: Spent
    budget_usd: float | None = None
    note: Annotated[str, Field(description="What somebody wrote about it; empty: nothing")] = ""
    published: Annotated[bool, Field(description="Whether its report is there")] = False
    published_incomplete: Annotated[
        LeftOutIfEmpty[bool], Field(description="Whether that report was made without cells that have no valid attempt")
    ] = False

    @property
    def valid(self) -> int:
        """Return the number of cells with a valid attempt."""
        return self.count("met", "missed")

    def waiting_for(self, what: str) -> Self:
        """Return the summary for the time while its living runs wait for `what`; unchanged where `what` is empty."""
        if not what:
            return self
        state = self.state if self.state in ("running", "complete") else "waiting"
        return self.model_copy(update={"state": state, "waits_for": what})

    def count(self, *states: CellStateName) -> int:
        return sum(self.counts.get(state, 0) for state in states)


class CampaignStatus(CampaignSummary):
    """The state of every cell of a campaign, in running order."""

    asked: Asked = None
    approvals: Approvals = ()
    parameters: GivenValues = {}
    begun_by: Begun = None
    variants: tuple[VariantName, ...]
    workloads: Annotated[LeftOutIfEmpty[tuple[str, ...]], Field(description="Ids, where there are several")] = ()
    stages: Annotated[LeftOutIfEmpty[tuple[StageStatus, ...]], Field(description="Where there are several")] = ()
    loads: Annotated[tuple[int, ...], Field(description="Of all stages")]
    repeats: Annotated[int, Field(description="Of the stage that has the most")]
    service_levels: Annotated[tuple[str, ...], Field(description="Each as a sentence; the first decides colours")]
    thresholds: Thresholds = ()
    matrix: Annotated[tuple[CellStatus, ...], Field(description="Every cell, in running order")]
