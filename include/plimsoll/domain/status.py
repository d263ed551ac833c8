"""The state of a campaign in figures, as pages show it and the JSON API returns it."""

from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.progress import CellStateName, InRounds, Phase, SecondsOver, ThresholdStatus, TimeLeft

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
        LeftOutIfEmpty[str],
        Field(description="What its living runs wait for: a cluster, another run"),
    ] = ""
    cells: Annotated[int, Field(description="Cells of the definition")]
    counts: Annotated[dict[CellStateName, int], Field(description="Cells by state; those of 0 left out")]
    started_at: Annotated[AwareDatetime | None, Field(description="Start of its first attempt")]
    changed_at: Annotated[AwareDatetime | None, Field(description="Last sign of life of any attempt")]
    seconds_left: TimeLeft
    seconds_over: SecondsOver = 0.0
    in_rounds: InRounds = False
    usd: Annotated[float, Field(description="What the hosts of all attempts have cost so far; 0 where they are free")]
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
        """Return the number of cells in any of these states."""
        return sum(self.counts.get(state, 0) for state in states)


class CampaignStatus(CampaignSummary):
    """The state of every cell of a campaign, in running order."""

    asked: Annotated[
        tuple[str, ...] | None, Field(description="Cells that the newest run was asked for; none: not recorded, so all")
    ] = None
    variants: tuple[VariantName, ...]
    workloads: Annotated[LeftOutIfEmpty[tuple[str, ...]], Field(description="Ids, where there are several")] = ()
    stages: Annotated[LeftOutIfEmpty[tuple[StageStatus, ...]], Field(description="Where there are several")] = ()
    loads: Annotated[tuple[int, ...], Field(description="Of all stages")]
    repeats: Annotated[int, Field(description="Of the stage that has the most")]
    service_levels: Annotated[tuple[str, ...], Field(description="Each as a sentence; the first decides colours")]
    thresholds: Annotated[
        LeftOutIfEmpty[tuple[ThresholdStatus, ...]], Field(description="Where a strategy looks for a threshold")
    ] = ()
    matrix: Annotated[tuple[CellStatus, ...], Field(description="Every cell, in running order")]
