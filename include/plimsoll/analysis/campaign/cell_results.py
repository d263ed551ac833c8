"""A campaign's stored results, cell by cell: which attempt of each cell counts, and the tables of each attempt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Literal

from plimsoll.analysis import grouped
from plimsoll.domain.campaign.resolve import OF_A_STAGE, resolve
from plimsoll.domain.keys.process import ProcessOnHost
from plimsoll.domain.keys.trigger import Approval
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import NotFound
from plimsoll.strategies.state import CampaignState, CellAttempts, campaign_state

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from plimsoll.analysis.campaign.series import Series
    from plimsoll.domain.attempt.result import Check, Note, Verdict
    from plimsoll.domain.campaign.campaign import Campaign
    from plimsoll.domain.campaign.cell import AttemptKey
    from plimsoll.domain.campaign.part import Part
    from plimsoll.domain.definition.definition import Definition
    from plimsoll.domain.hosts.cost import Spending
    from plimsoll.domain.hosts.fingerprint import Fingerprint, Provenance
    from plimsoll.domain.keys.service_level import LevelVerdict
    from plimsoll.domain.keys.strategy import StageStarts

CellOutcome = Literal["met", "missed", "invalid", "not run", "not needed"]
PERCENTILES = ("p50_ms", "p90_ms", "p99_ms", "p99_9_ms", "max_ms")


def _no_table() -> pd.DataFrame:
    import pandas as pd  # late: most of this module needs none of it

    return pd.DataFrame()


# By identity: tables that are compared give a table, which is neither true nor false
@dataclass(frozen=True, eq=False)
class AttemptData:
    """One attempt as the store holds it.

    `intervals`: one row per interval and operation, with the columns start_s (from the timed run's start), duration_s,
    phase (`warm-up`, `judged`, `partial`), operation (`all`, `reads`, `writes`), count, rate_ops_s, p50_ms, p90_ms,
    p99_ms, p99_9_ms, max_ms, judged_ms, met. `pauses`: one row per pause, with the columns host, process, start_s (from
    the timed run's start, may be negative), duration_ms, kind, stop_the_world. The other tables are described where
    they are made: `coincidences` (empty where it was not made) by `coincidence_frame`, `jvms` by `jvms_frame`, `hosts`
    by `hosts_frame`, `backlog` by `backlog_frame`, `latencies` by `latencies_frame`, `activity` by `activity_frame`,
    `log_lines` by `log_lines_frame`. `provenance`: the origin of an imported attempt, else None.
    """

    verdict: Verdict
    fingerprint: Fingerprint | None
    intervals: pd.DataFrame
    pauses: pd.DataFrame
    coincidences: pd.DataFrame = field(default_factory=_no_table)
    provenance: Provenance | None = None
    jvms: pd.DataFrame = field(default_factory=_no_table)
    hosts: pd.DataFrame = field(default_factory=_no_table)
    backlog: pd.DataFrame = field(default_factory=_no_table)
    latencies: pd.DataFrame = field(default_factory=_no_table)
    activity: pd.DataFrame = field(default_factory=_no_table)
    log_lines: pd.DataFrame = field(default_factory=_no_table)

    @property
    def key(self) -> AttemptKey:
        return self.verdict.key

    def place(self, host: str, process: str) -> str:
        """Return a process of a host as people read it: the host alone where no node runs several."""
        several = self.fingerprint is not None and self.fingerprint.runs_several
        return ProcessOnHost(host, process).shown(several=several)

    @cached_property
    def series(self) -> Series:
        """Return the judged percentile of the attempt's intervals. It is computed once, as several analyses use it."""
        from plimsoll.analysis.campaign.series import series_of  # late: it takes NumPy

        return series_of(self.intervals)


@dataclass(frozen=True, eq=False)
class CampaignData:
    """All stored data of a campaign.

    `quality` holds the checks over the whole campaign, `definition_yaml` the definition as a person would write it.
    `spending` is None where hosts cost nothing, `note` where nobody has written one. `unjudged` says how attempts
    without a verdict ended; `incomplete` names cells without a valid attempt, and stages without loads, where a
    report was asked for all the same. `stage_starts`: the loads that stages took from earlier stages' results.
    `of_part`, `known_state` and `other_stages` are set by `data_of_parts`: the part that this data belongs to, its
    cells (of the state of the whole campaign), and the data of the parts with the same workload in other stages.
    """

    campaign_id: str
    definition: Definition
    attempts: tuple[AttemptData, ...]
    quality: tuple[Check, ...]
    generated_at: datetime
    definition_yaml: str = ""
    spending: Spending | None = None
    note: Note | None = None
    approvals: tuple[Approval, ...] = ()
    unjudged: Mapping[AttemptKey, str] = field(default_factory=dict)
    incomplete: tuple[str, ...] = ()
    stage_starts: StageStarts = field(default_factory=dict)
    of_part: Part | None = None
    known_state: CampaignState[CellResult] | None = None
    other_stages: tuple[CampaignData, ...] = ()

    @cached_property
    def campaign(self) -> Campaign:
        return resolve(self.definition).with_stage_starts(self.stage_starts)

    @cached_property
    def part(self) -> Part:
        """Return the part that this data belongs to. Data of a whole campaign with several parts has none."""
        if self.of_part is not None:
            return self.of_part
        (only,) = self.campaign.parts
        return only

    @cached_property
    def part_definition(self) -> Definition:
        """Return the definition that asks for this part alone, for documents that show it."""
        if self.of_part is None and not self.definition.stages and not self.definition.workloads:
            return self.definition
        own = {name: getattr(self.part, name) for name in (*OF_A_STAGE, "workload", "variants", "control")}
        return self.definition.model_copy(update={**own, "workloads": (), "stages": ()})

    @cached_property
    def state(self) -> CampaignState[CellResult]:
        """Return every cell, its attempt that counts, and the strategy's decision on it."""
        return self.known_state or campaign_state(self.campaign, self.attempts, CellResult)


@dataclass(frozen=True, eq=False)
class CellResult(CellAttempts[AttemptData]):
    """A cell with its attempts, as the report presents it."""

    @property
    def state(self) -> CellOutcome:
        if self.decided_by:
            return "not needed"
        return self.shown.verdict.outcome if self.shown else "not run"

    @property
    def missed_intervals(self) -> int:
        """Return in how many intervals the valid attempt missed its first service level; 0 where none was judged."""
        return self.verdict.levels[0].missed if self.verdict and self.verdict.levels else 0


class Spread(Model):
    """The lowest, median and highest value over the valid repeats of one variant at one load."""

    variant: str
    load_ops_s: int
    repeats: int
    low: float
    median: float
    high: float


def cell_results(data: CampaignData) -> tuple[CellResult, ...]:
    """Return every cell of the definition in the definition's order: variants, then loads rising, then repeats."""
    require_no_strays(data)
    return data.state.by_variant


def require_no_strays(data: CampaignData) -> None:
    """Raise NotFound for an attempt at a cell that the definition does not have: the report would be without it."""
    for stray in data.state.strays:
        raise NotFound(
            f"the definition has no cell {stray.key.cell_id}, but an attempt at it is stored",
            where=str(stray.key),
            mend="bring the campaign's definition back to what it was when the attempt ran",
        )


def deciding_level(verdict: Verdict) -> LevelVerdict | None:
    """Return that with the highest ratio of its worst interval to its bound; None where none was judged."""
    judged = [level for level in verdict.levels if level.worst_ms is not None]
    return max(judged, key=ratio, default=None)


def worst_level(cells: Iterable[CellResult]) -> LevelVerdict | None:
    """Return the deciding service level of the worst of all valid repeats; None where none was judged."""
    levels = (deciding_level(result.verdict) for result in cells if result.verdict)
    return max(filter(None, levels), key=ratio, default=None)


def ratio(level: LevelVerdict) -> float:
    """Return a service level's worst interval divided by its bound."""
    return (level.worst_ms or 0.0) / level.service_level.bound_ms


def distance(verdict: Verdict) -> float | None:
    """Return the worst interval of the deciding service level over its bound: below 1 is met, 2 is twice the bound."""
    level = deciding_level(verdict)
    return None if level is None else ratio(level)


def missed_by(verdict: Verdict | None) -> Literal["", "errors", "rate", "stop rule"]:
    """Return why a valid attempt missed although its response times kept every service level; empty in other cases.

    `errors`: too many operations failed; `rate`: the cell belongs to a ramp, and its rate was not achieved; `stop
    rule`: a rule ended the load.
    """
    if verdict is None or verdict.outcome != "missed" or any(level.missed for level in verdict.levels):
        return ""
    if verdict.stopped:
        return "stop rule"
    return "rate" if verdict.fell_short else "errors"


def missed_levels(verdict: Verdict | None) -> tuple[str, ...]:
    """Return the service levels that an attempt missed, in words, where judged by several; otherwise empty."""
    if verdict is None or not verdict.valid or len(verdict.levels) < 2:
        return ()
    return tuple(str(level.service_level) for level in verdict.levels if level.missed)


def maxima(cells: Iterable[CellResult], percentile: str) -> tuple[Spread, ...]:
    """Return the highest interval of each valid repeat, ms, as a spread. `percentile` is one of PERCENTILES."""
    return _spreads(cells, lambda verdict: getattr(verdict.maxima, percentile, None))


def achieved(cells: Iterable[CellResult]) -> tuple[Spread, ...]:
    """Return the achieved rate of each valid repeat, ops/s, as a spread over repeats."""
    return _spreads(cells, lambda verdict: verdict.achieved_ops_s)


def worst(cells: Iterable[CellResult]) -> tuple[Spread, ...]:
    """Return the worst interval of each valid repeat as a multiple of the bound, as a spread over repeats."""
    return _spreads(cells, distance)


def action_times(cells: Iterable[CellResult]) -> tuple[Spread, ...]:
    """Return how long the action of each valid repeat took, s, as a spread over repeats."""
    return _spreads(cells, lambda verdict: verdict.action.duration_s if verdict.action else None)


def values_by_load(
    cells: Iterable[CellResult], value: Callable[[Verdict], float | None]
) -> Mapping[tuple[str, int], tuple[float, ...]]:
    """Return a figure of every valid repeat by (variant, load), in repeats' order. Unknown figures are left out."""
    return grouped(
        ((result.cell.variant, result.cell.load_ops_s), figure)
        for result in cells
        if result.verdict and (figure := value(result.verdict)) is not None
    )


def _spreads(cells: Iterable[CellResult], value: Callable[[Verdict], float | None]) -> tuple[Spread, ...]:
    return tuple(
        Spread(variant=variant, load_ops_s=load, repeats=len(own), low=min(own), median=median(own), high=max(own))
        for (variant, load), own in values_by_load(cells, value).items()
    )
