"""The capacity of each variant, and the outcomes that it rests on.

Capacity is the highest load at which every repeat is valid and met, with all lower loads too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Annotated

from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign import taken_loads
from plimsoll.analysis.campaign.cell_results import (
    CampaignData,
    CellResult,
    cell_results,
    distance,
    missed_by,
    missed_levels,
)
from plimsoll.analysis.campaign.definition_differences import Contradiction, contradictions
from plimsoll.analysis.campaign.statistics import pass_probability_bound
from plimsoll.analysis.campaign.thresholds import (
    Observed,
    ThresholdAnswer,
    ThresholdRatio,
    observed_over,
    threshold_answer,
    threshold_ratio,
)
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.action import Action
from plimsoll.domain.keys.service_level import ServiceLevel, WorstIsFloor
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.strategies.matrix import CapacityKind, LevelOutcome, capacity_level, capacity_of, outcome_of_level


class Rung(Model):
    """One load level of one variant, with the outcomes of its repeats."""

    load_ops_s: int
    repeats: Annotated[int, Field(description="Repeats that the definition asks for")]
    met: int
    missed: int
    missed_by_errors: Annotated[int, Field(description="Of those missed: response times kept, too many errors")]
    missed_by_rate: Annotated[
        int, Field(description="Of those missed, in a ramp: response times kept, the rate not achieved")
    ] = 0
    missed_by_stop_rule: Annotated[
        LeftOutIfEmpty[int], Field(description="Of those missed: response times kept, ended by a rule of `stop_when`")
    ] = 0
    missed_by_level: Annotated[
        LeftOutIfEmpty[dict[str, int]],
        Field(
            description="Of those missed, by service level, where there are several; a repeat may miss more than one"
        ),
    ] = {}
    invalid: int
    not_run: int
    not_needed: Annotated[
        int, Field(description="Repeats that a search or ramp left out: another cell decided them")
    ] = 0
    rate_not_achieved: Annotated[int, Field(description="Valid repeats that fell short of the attempted rate")]
    achieved_ops_s: Annotated[
        LeftOutIfEmpty[float | None],
        Field(description="Lowest rate that a valid repeat achieved, where one fell short of the attempted rate"),
    ] = None
    worst_ratio: Annotated[float | None, Field(description="Worst interval of all valid repeats / bound")]
    worst_is_floor: WorstIsFloor = False
    outcome: Annotated[
        LevelOutcome,
        Field(
            description="missed: any repeat missed; met: every repeat is valid and met; taken for met, not needed: a "
            "search left repeats out, for a higher load was met or a lower one missed; incomplete otherwise"
        ),
    ]


class Capacity(Model):
    """The capacity of one variant.

    `kind` says how firm `capacity_ops_s` is. found: the next load missed; at-least: every load of the campaign was met;
    provisional: nothing missed so far, but repeats of the next load are invalid or were not run; none: the lowest load
    missed; unknown: the lowest load's repeats are incomplete. Where the strategy is a threshold, `threshold` is the
    answer and gives `capacity_ops_s`: found with its interval, at-least and none beyond the loads, provisional while
    more cells are asked for. Where it lies above the loads, though not for sure, it is at least its interval's lower
    end.
    """

    variant: str
    stage: Annotated[LeftOutIfEmpty[str], Field(description="Of a campaign with several stages")] = ""
    workload: Annotated[LeftOutIfEmpty[str], Field(description="Of a campaign with several workloads")] = ""
    action: Annotated[
        LeftOutIfEmpty[Action | None], Field(description="What was done to the cluster meanwhile; none: nothing")
    ] = None
    kind: CapacityKind
    capacity_ops_s: Annotated[int | None, Field(description="ops/s; None where there is none or it is unknown")]
    at_capacity: Annotated[Rung | None, Field(description="The rung that the capacity stands on")]
    next_load: Annotated[Rung | None, Field(description="The next higher load, whatever became of it")]
    pass_probability_bound: Annotated[
        float | None, Field(description="One-sided 95 % lower bound on the chance that a repeat at the capacity is met")
    ]
    threshold: Annotated[
        ThresholdAnswer | None,
        Field(description="The load that a cell is met at with a chance, with its interval; null: no valid cell"),
    ] = None
    ratio_to_control: Annotated[
        float | None,
        Field(
            description="Capacity / the control's, if that was found; a lower bound unless kind is found; of both the "
            "rates that were answered"
        ),
    ] = None
    threshold_to_control: Annotated[
        LeftOutIfEmpty[ThresholdRatio | None], Field(description="The load of `threshold` over the control's")
    ] = None
    lowest_missed_ops_s: Annotated[int | None, Field(description="The lowest load at which a repeat missed")] = None
    met_again_at: Annotated[
        tuple[int, ...], Field(description="Higher loads (ops/s) that were met although a lower one missed")
    ] = ()
    narrowing_ops_s: Annotated[
        tuple[int, ...],
        Field(description="Loads to run next: they would narrow where the boundary lies, the first the most"),
    ] = ()
    contradicted_by: Annotated[
        LeftOutIfEmpty[tuple[Contradiction, ...]],
        Field(description="Misses in other stages at this load or lower ones; what the campaign says is in `answer`"),
    ] = ()
    rungs: Annotated[tuple[Rung, ...], Field(description="Every load, rising")]

    @property
    def falls_by(self) -> tuple[Contradiction, ...]:
        """Return the misses in other stages that count, so that this capacity is that of its stage alone."""
        return tuple(contradiction for contradiction in self.contradicted_by if contradiction.counts)

    @property
    def carried_ops_s(self) -> float | None:
        """Return the rate that was answered at the capacity, ops/s: the lowest of repeats that fell short of theirs."""
        short = self.at_capacity.achieved_ops_s if self.at_capacity else None
        return self.capacity_ops_s if short is None else short

    @property
    def asked(self) -> ThresholdAnswer | None:
        """Return the threshold's answer where the strategy looks for one; None where it only stands beside."""
        return self.threshold if self.threshold and self.threshold.is_asked else None

    @property
    def bracketed_ops_s(self) -> tuple[int, ...]:
        """Return loads to run next with tested ones on both sides, rising. Empty where no load is to be run."""
        ends = [rung.load_ops_s for rung in (self.at_capacity, self.next_load) if rung]
        return tuple(sorted({*ends, *self.narrowing_ops_s})) if self.narrowing_ops_s else ()


def capacities(data: CampaignData, cells: Sequence[CellResult] | None = None) -> tuple[Capacity, ...]:
    """Return the capacity of each variant, in the definition's order, for a campaign or data of one part."""
    part = data.part
    results = cell_results(data) if cells is None else cells
    of_variants = grouped((result.cell.variant, result) for result in results)
    observed = observed_over([(part, results)])
    own = [_of_part(part, _capacity(name, of_variant), observed) for name, of_variant in of_variants.items()]
    control = next((capacity for capacity in own if capacity.variant == part.control), None)
    names: dict[str, object] = {"action": part.action, "stage": part.stage, "workload": part.workload_id}
    if part.asks == "at a load":
        names["narrowing_ops_s"] = ()
    is_asked = part.asks == "capacity"
    ratios = {name: {"threshold_to_control": threshold_ratio(part, observed, name)} for name in of_variants if is_asked}
    return tuple(
        _beside(_relative(capacity, control).model_copy(update=names | ratios.get(capacity.variant, {})), data)
        for capacity in own
    )


def reported_capacities(data: CampaignData, cells: Sequence[CellResult] | None = None) -> tuple[Capacity, ...]:
    """Return the capacities that a report shows: none for a part that asks what happens at a load.

    That is one in a closed loop, one whose load an earlier stage gave, or one without a load.
    """
    return capacities(data, cells) if data.part.asks == "capacity" else ()


@dataclass(frozen=True)
class AnswerOverStages:
    """The capacity of each variant with one workload, by repeats in all stages of equal service levels and action.

    `of_stages`: those whose cells tell which load is carried: not a closed loop's, and not those without a load.
    """

    part: Part
    """The part that asks for it, a threshold before others, with the loads of all stages that it rests on."""
    capacities: tuple[Capacity, ...]
    of_stages: tuple[CampaignData, ...]

    @property
    def workload(self) -> str:
        return self.part.workload_id

    @property
    def service_levels(self) -> tuple[ServiceLevel, ...]:
        return self.part.service_levels

    @property
    def action(self) -> Action | None:
        return self.part.action

    @property
    def question(self) -> tuple[str, tuple[ServiceLevel, ...]]:
        """Return the workload, and the service levels whenever they are judged: what the cluster is asked to carry."""
        return self.workload, tuple(level.model_copy(update={"during": None}) for level in self.service_levels)


def capacities_over_stages(of_parts: Sequence[CampaignData]) -> tuple[AnswerOverStages, ...]:
    """Return the answers of a campaign, from the data of all its parts, in the definition's order.

    Where no stage with certain service levels and action has loads of its own, none of them looked for a capacity:
    these stages have no answer. So have stages that act at one load alone, to see what that costs.
    """
    telling = (data for data in of_parts if data.part.tells_capacity)
    groups = grouped(((data.part.workload_id, data.part.service_levels, data.part.action), data) for data in telling)
    asked = ((_asking([data.part for data in own]), own) for own in groups.values())
    return tuple(AnswerOverStages(part, tuple(_over(part, own)), own) for part, own in asked if part)


def _asking(parts: Sequence[Part]) -> Part | None:
    """Return the part that looks for a capacity, with the loads of all; None where none does."""
    looking = [part for part in parts if part.asks == "capacity" and (part.action is None or len(part.loads) > 1)]
    if not looking:
        return None
    first = next((part for part in looking if isinstance(part.strategy, Threshold)), looking[0])
    return replace(first, loads=tuple(sorted({load for part in parts for load in part.loads})))


def _over(part: Part, of_stages: Sequence[CampaignData]) -> Iterator[Capacity]:
    of_variants = grouped((cell.cell.variant, cell) for stage in of_stages for cell in stage.state.by_variant)
    observed = observed_over((stage.part, stage.state.by_variant) for stage in of_stages)
    for variant, own in of_variants.items():
        capacity = _of_part(part, _capacity(variant, own), observed)
        yield capacity.model_copy(update={"workload": part.workload_id, "action": part.action})


def rungs_of(cells: Iterable[CellResult]) -> tuple[Rung, ...]:
    """Make one rung for each load, rising, from one variant's cells."""
    of_loads = grouped((result.cell.load_ops_s, result) for result in cells)
    return tuple(_rung(load, of_loads[load]) for load in sorted(of_loads))


def nodes_for(load_ops_s: float, capacity_ops_s: float, nodes: int) -> int:
    """Return the number of nodes that would carry a load (ops/s), if capacity grows in proportion to that number.

    `capacity_ops_s` (> 0) is what that many `nodes` carry, ops/s. The result is never smaller than `nodes`, because
    what fewer nodes carry was not measured.
    """
    # Exact: with floats twice the load would need a node more than twice the nodes
    return max(nodes, ceil(nodes * Fraction(load_ops_s) / Fraction(capacity_ops_s)))


def _rung(load: int, cells: Sequence[CellResult]) -> Rung:
    states = [result.state for result in cells]
    outcomes = [result.verdict.valid_outcome if result.verdict else None for result in cells]
    unknown = [result.decided_by for result in cells if result.verdict is None]
    verdicts = [result.verdict for result in cells if result.verdict]
    reasons = [missed_by(verdict) for verdict in verdicts]
    ratios = [ratio for ratio in map(distance, verdicts) if ratio is not None]
    short_ops_s = [verdict.achieved_ops_s or 0.0 for verdict in verdicts if verdict.rate_achieved is False]
    return Rung(
        load_ops_s=load,
        repeats=len(cells),
        met=states.count("met"),
        missed=states.count("missed"),
        missed_by_errors=reasons.count("errors"),
        missed_by_rate=reasons.count("rate"),
        missed_by_stop_rule=reasons.count("stop rule"),
        missed_by_level=Counter(level for verdict in verdicts for level in missed_levels(verdict)),
        invalid=states.count("invalid"),
        not_run=states.count("not run"),
        not_needed=states.count("not needed"),
        rate_not_achieved=len(short_ops_s),
        achieved_ops_s=min(short_ops_s, default=None),
        worst_ratio=max(ratios, default=None),
        worst_is_floor=any(verdict.worst_is_floor for verdict in verdicts),
        outcome=outcome_of_level(outcomes, [decider.outcome if decider else None for decider in unknown]),
    )


def _capacity(variant: str, cells: Sequence[CellResult]) -> Capacity:
    rungs = rungs_of(cells)
    lowest = next((rung.load_ops_s for rung in rungs if rung.outcome == "missed"), None)
    met_again = (rung.load_ops_s for rung in rungs if lowest and rung.outcome == "met" and rung.load_ops_s > lowest)
    kind, level = capacity_level([rung.outcome for rung in rungs])
    highest = None if level is None else rungs[level]
    following = next(iter(rungs[0 if level is None else level + 1 :]), None)
    return Capacity(
        variant=variant,
        kind=kind,
        capacity_ops_s=highest.load_ops_s if highest else None,
        at_capacity=highest,
        next_load=following,
        pass_probability_bound=pass_probability_bound(highest.met, highest.repeats) if highest else None,
        lowest_missed_ops_s=lowest,
        met_again_at=tuple(met_again),
        narrowing_ops_s=_narrowing(highest, following),
        rungs=rungs,
    )


def _of_part(part: Part, capacity: Capacity, observed: Observed) -> Capacity:
    """Return the capacity with what the margins of the variant's cells say; of a threshold that alone is the answer."""
    answer = threshold_answer(part, observed, capacity.variant)
    if not isinstance(part.strategy, Threshold):
        return capacity.model_copy(update={"threshold": answer})
    kind, load = ("unknown", None)
    if answer is not None:
        kind, load = capacity_of(answer.stopped, answer.ops_s, answer.low_ops_s, max(part.loads))
    own = {"threshold": answer, "kind": kind, "capacity_ops_s": load, "narrowing_ops_s": (), "met_again_at": ()}
    return capacity.model_copy(update={**own, "at_capacity": None, "next_load": None, "pass_probability_bound": None})


def _narrowing(highest: Rung | None, following: Rung | None) -> tuple[int, ...]:
    """Return the loads to run next. None while repeats of the next load are missing, since those must run first."""
    if following is None:
        return (taken_loads.above(highest.load_ops_s),) if highest else ()
    if following.outcome != "missed":
        return ()
    if highest is None:
        return taken_loads.below(following.load_ops_s)
    return taken_loads.between(highest.load_ops_s, following.load_ops_s)


def _beside(capacity: Capacity, data: CampaignData) -> Capacity:
    """Return the capacity with the misses in other stages that contradict it, which then has no loads to run next.

    Of a threshold a cell may miss at a lower load: misses by the same service levels are in the campaign's answer.
    """
    misses = contradictions(capacity.variant, capacity.capacity_ops_s, data, data.other_stages)
    against = tuple(miss for miss in misses if not (capacity.asked and miss.counts))
    capacity = capacity.model_copy(update={"contradicted_by": against})
    return capacity.model_copy(update={"narrowing_ops_s": ()}) if capacity.falls_by else capacity


def _relative(capacity: Capacity, control: Capacity | None) -> Capacity:
    if control is None or capacity is control or control.kind != "found":
        return capacity
    if not capacity.carried_ops_s or not control.carried_ops_s:
        return capacity
    return capacity.model_copy(update={"ratio_to_control": capacity.carried_ops_s / control.carried_ops_s})
