"""`report.json`: the content of the report as one object with documented keys. `ReportDocument` gives its schema."""

import json
from typing import Annotated, Literal, get_args

from pydantic import AwareDatetime, Field

from plimsoll.analysis.attempt.unanswered import begins_with_backlog
from plimsoll.analysis.campaign.by_load import (
    ActionComparison,
    HighestAchieved,
    HighestBelow,
    OperationP99,
    compare_actions,
)
from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.analysis.campaign.causes import VariantCauses
from plimsoll.analysis.campaign.cell_results import (
    PERCENTILES,
    CellOutcome,
    Spread,
    achieved,
    action_times,
    distance,
    maxima,
    worst,
)
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.left_out import LeftOut
from plimsoll.analysis.campaign.noise import Noise
from plimsoll.analysis.campaign.pauses import PauseStatistics, Steadiness
from plimsoll.analysis.campaign.series import Typical
from plimsoll.analysis.campaign.statistics import Comparison, Repeats
from plimsoll.analysis.campaign.taken_loads import AtTakenLoad
from plimsoll.domain.attempt.result import Check, Note, OpeningBacklog
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cost import Spending
from plimsoll.domain.keys.action import ActionResult
from plimsoll.domain.keys.service_level import Percentiles, WorstIsFloor
from plimsoll.domain.keys.trigger import Approvals
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.report.sections.answer import sentences
from plimsoll.report.sections.cells import cost_of_cell
from plimsoll.report.sections.validity import EndedAttempt, InvalidAttempt, validity
from plimsoll.report.words.capacities import loads_line
from plimsoll.report.words.conclusion import conclusion
from plimsoll.report.words.environment_facts import Environment, Origin, origins
from plimsoll.report.words.taken_load import at_loads

Incomplete = Annotated[
    LeftOutIfEmpty[tuple[str, ...]],
    Field(description="Cells (and stages) without a valid attempt, where the report was asked for without them"),
]
Capacities = Annotated[
    tuple[Capacity, ...],
    Field(description="Empty for a closed loop, and a stage that takes its load from an earlier one"),
]


class CellCounts(Model):
    """The number of cells of the definition in each state."""

    cells: int
    met: int
    missed: int
    invalid: int
    not_run: int
    not_needed: Annotated[int, Field(description="Left out by a search or ramp: another cell decided them")] = 0


class CellEntry(Model):
    """One cell with the figures of the attempt that counts; null where there is none."""

    id: str
    stage: Annotated[LeftOutIfEmpty[str], Field(description="Of a campaign with several stages")] = ""
    variant: str
    workload: Annotated[LeftOutIfEmpty[str], Field(description="Of a campaign with several workloads")] = ""
    load_ops_s: int
    repeat: int
    state: CellOutcome
    decided_by: Annotated[str | None, Field(description="Of a cell that is not needed: the cell that decided it")]
    attempts: Annotated[int, Field(description="Attempts that are stored")]
    attempt: Annotated[int | None, Field(description="Number of the attempt that counts")]
    achieved_ops_s: float | None
    rows_s: Annotated[
        LeftOutIfEmpty[float | None], Field(description="Rows read and written, rows/s, of operations with several")
    ] = None
    rate_achieved: Annotated[bool | None, Field(description="At least 99 % of `load_ops_s`; null: not known")]
    opening_backlog: Annotated[
        OpeningBacklog | None,
        Field(description="Operations of warm-up without an answer when the judged time began; null: not known"),
    ] = None
    begins_with_backlog: Annotated[
        bool, Field(description="It is enough to make an interval miss by itself; its answers count as achieved")
    ] = False
    errors: Annotated[dict[str, int], Field(description="Failed operations by kind")]
    worst_to_bound: Annotated[float | None, Field(description="Worst judged interval / bound")]
    worst_is_floor: WorstIsFloor = False
    maxima: Annotated[Percentiles | None, Field(description="Highest judged interval of each percentile, ms")]
    action: Annotated[
        LeftOutIfEmpty[ActionResult | None], Field(description="What was done to its cluster while the load ran")
    ] = None
    usd: Annotated[float | None, Field(description="Cost of the hosts of all its attempts, US dollars; null: nothing")]


class Maxima(Model):
    """The highest interval of each valid repeat, ms, as ranges over repeats; one by variant and load."""

    p50_ms: tuple[Spread, ...]
    p90_ms: tuple[Spread, ...]
    p99_ms: tuple[Spread, ...]
    p99_9_ms: tuple[Spread, ...]
    max_ms: tuple[Spread, ...]


class Statistics(Model):
    """The conclusions that the repeats allow, and the comparison of variants with the control."""

    confidence: Annotated[float, Field(description="Of bounds and tests, one-sided for bounds")] = 0.95
    repeats: Repeats
    comparisons: tuple[Comparison, ...]
    typical: Annotated[tuple[Typical, ...], Field(description="With bootstrap intervals, by variant and load")]
    steadiness: Annotated[tuple[Steadiness, ...], Field(description="Trend and change point of each cell")]
    noise: Noise


class CostSummary(Model):
    """The cost of the campaign's hosts, US dollars."""

    usd: float
    is_least: Annotated[bool, Field(description="Whether a host has no known price, so that they cost more")] = False
    estimated_usd: Annotated[float | None, Field(description="All cells once, as planned; null: no price known")]
    budget_usd: float | None
    idle_usd: Annotated[float, Field(description="Of `usd`, what kept hosts cost while no attempt used them")] = 0.0
    node_usd_per_hour: Annotated[float | None, Field(description="A database node; null where no price was known")]
    prices: Annotated[tuple[str, ...], Field(description="Where the prices come from, with their dates")]


class CampaignDocument(Model):
    """What begins both kinds of `report.json`."""

    format: Annotated[Literal[2], Field(description="Raised when a key changes its meaning or goes")] = 2
    campaign_id: str
    title: str
    generated_at: AwareDatetime
    note: Annotated[Note | None, Field(description="What somebody wrote about the campaign")] = None
    approvals: Approvals = ()


class ReportDocument(CampaignDocument):
    """A campaign's report. Keys end with their units: `_ops_s`, `_ms`, `_s`; ratios have none."""

    code_versions: Annotated[tuple[str, ...], Field(description="Of the code that judged the attempts")]
    service_levels: Annotated[tuple[str, ...], Field(description="Each as a sentence; the first decides charts")]
    counts: CellCounts
    incomplete: Incomplete = ()
    conclusion: Annotated[str, Field(description="The whole answer in one or two sentences")] = ""
    answers: Annotated[
        tuple[str, ...], Field(description="The capacity of each variant, or its result at a taken load, as a sentence")
    ]
    capacity: Capacities
    at_loads: Annotated[
        tuple[AtTakenLoad, ...],
        Field(
            description="Each variant at its load, in a closed loop or where an earlier stage gave the load; else empty"
        ),
    ] = ()
    left_out: Annotated[
        tuple[LeftOut, ...],
        Field(description="What a search or ramp ran and left out, by variant; empty of a full grid"),
    ] = ()
    next_loads: Annotated[
        str, Field(description="The definition's line that would narrow where boundaries lie; empty: none would")
    ] = ""
    achieved_ops_s: Annotated[tuple[Spread, ...], Field(description="Achieved rate per variant and load, over repeats")]
    highest_achieved: Annotated[
        tuple[HighestAchieved, ...],
        Field(description="Highest mean achieved rate over the loads, by variant, whatever the service levels say"),
    ] = ()
    p99_by_operation: Annotated[tuple[OperationP99, ...], Field(description="Means over judged intervals")] = ()
    worst_to_bound: Annotated[
        tuple[Spread, ...],
        Field(description="Worst interval / bound, over repeats; of those with `worst_is_floor` the least it can be"),
    ]
    actions_s: Annotated[
        LeftOutIfEmpty[tuple[Spread, ...]],
        Field(description="How long the action of a cell took, by variant and load, over repeats"),
    ] = ()
    actions_compared: Annotated[
        LeftOutIfEmpty[tuple[ActionComparison, ...]],
        Field(description="These times, and those of the actions' parts, beside the control's"),
    ] = ()
    maxima: Maxima
    rates_below: Annotated[
        LeftOutIfEmpty[tuple[HighestBelow, ...]], Field(description="By each of the definition's `rates_below`")
    ] = ()
    statistics: Statistics
    pauses: Annotated[tuple[PauseStatistics, ...], Field(description="Stop-the-world times, by variant and load")]
    causes: Annotated[tuple[VariantCauses, ...], Field(description="Why intervals missed, by variant")]
    cells: tuple[CellEntry, ...]
    invalid: tuple[InvalidAttempt, ...]
    unjudged: Annotated[
        LeftOutIfEmpty[tuple[EndedAttempt, ...]], Field(description="Attempts without a verdict, and how they ended")
    ] = ()
    superseded: Annotated[tuple[str, ...], Field(description="Valid attempts that a newer valid one replaced")]
    warnings: Annotated[dict[str, tuple[str, ...]], Field(description="Text → cells that it holds for")]
    quality: Annotated[tuple[Check, ...], Field(description="Checks over the whole campaign")]
    environment: Environment
    cost: Annotated[CostSummary | None, Field(description="Null where hosts cost nothing")]
    definition: Definition
    imported: Annotated[
        tuple[Origin, ...], Field(description="Sources of imported cells, with what is known and unknown of them")
    ] = ()


def report_document(findings: Findings, ran: Environment) -> ReportDocument:
    """Return the document of a campaign with `ran` as the environment of its cells."""
    sound, data = validity(findings), findings.data
    return ReportDocument(
        campaign_id=data.campaign_id,
        title=findings.part.title,
        generated_at=data.generated_at,
        note=data.note,
        approvals=data.approvals,
        code_versions=code_versions(findings),
        service_levels=tuple(map(str, findings.part.service_levels)),
        counts=counts_of(findings),
        incomplete=data.incomplete,
        conclusion=conclusion(findings),
        answers=sentences(findings),
        capacity=findings.capacities,
        at_loads=at_loads(findings),
        left_out=findings.left_out,
        next_loads=loads_line(findings.capacities),
        achieved_ops_s=achieved(findings.cells),
        highest_achieved=findings.highest_achieved,
        p99_by_operation=findings.p99_by_operation,
        worst_to_bound=worst(findings.cells),
        actions_s=action_times(findings.cells),
        actions_compared=compare_actions(findings.cells, findings.part.control),
        maxima=Maxima(**{percentile: maxima(findings.cells, percentile) for percentile in PERCENTILES}),
        rates_below=findings.rates_below,
        statistics=Statistics.model_validate(findings, from_attributes=True),
        pauses=findings.pauses,
        causes=findings.causes,
        cells=entries_of(findings),
        invalid=sound.invalid,
        unjudged=sound.unjudged,
        superseded=tuple(attempt for attempt, _ in sound.superseded),
        warnings=dict(sound.warnings),
        quality=sound.campaign_checks,
        environment=ran,
        cost=cost_summary(data.spending),
        definition=findings.data.part_definition,
        imported=origins(findings),
    )


def schema_of(document: type[Model]) -> str:
    """Return the JSON schema (2020-12) of a kind of `report.json`."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(schema | document.model_json_schema(mode="serialization"), indent=1)


def code_versions(findings: Findings) -> tuple[str, ...]:
    """Return versions of the code that judged the attempts, in order of first use."""
    return tuple(dict.fromkeys(attempt.verdict.code_version for attempt in findings.data.attempts))


def cost_summary(spending: Spending | None) -> CostSummary | None:
    """Return the total cost of the hosts; None where they cost nothing."""
    return None if spending is None else CostSummary.model_validate(spending, from_attributes=True)


def counts_of(findings: Findings) -> CellCounts:
    return CellCounts(
        cells=len(findings.cells),
        **{state.replace(" ", "_"): findings.count(state) for state in get_args(CellOutcome)},
    )


_OF_WHAT_COUNTS = ("achieved_ops_s", "rows_s", "rate_achieved", "opening_backlog", "maxima", "action")


def entries_of(findings: Findings) -> tuple[CellEntry, ...]:
    """Return an entry for every cell, in the definition's order."""
    return tuple(
        CellEntry(
            id=result.cell.id,
            **result.cell.model_dump(include={"stage", "variant", "workload", "load_ops_s", "repeat"}),
            state=result.state,
            decided_by=result.decided_by.cell_id if result.decided_by else None,
            attempts=len(result.attempts),
            attempt=result.verdict.key.attempt if result.verdict else None,
            **{name: getattr(result.verdict, name, None) for name in _OF_WHAT_COUNTS},
            begins_with_backlog=bool(
                result.verdict and begins_with_backlog(result.verdict.opening_backlog, findings.level)
            ),
            errors=result.verdict.errors if result.verdict else {},
            worst_to_bound=distance(result.verdict) if result.verdict else None,
            worst_is_floor=bool(result.verdict and result.verdict.worst_is_floor),
            usd=cost_of_cell(findings, result),
        )
        for result in findings.cells
    )
