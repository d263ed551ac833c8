"""What a campaign contributes to a trend: small, complete, and computed once, when the campaign is published.

There is a figure for each measure, variant and load, over valid repeats.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from statistics import median
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CampaignData, CellResult, cell_results
from plimsoll.analysis.campaign.definition_differences import Difference, differing, differing_variants
from plimsoll.analysis.campaign.pauses import pause_statistics
from plimsoll.analysis.campaign.thresholds import observed_over, threshold_answer
from plimsoll.domain.text.base import LeftOutIfEmpty, Model

Measure = Literal[
    "worst_interval_ms", "achieved_ops_s", "capacity_ops_s", "action_s", "longest_pause_ms", "paused_share"
]
MORE_IS_BETTER: frozenset[Measure] = frozenset({"achieved_ops_s", "capacity_ops_s"})
Place = tuple[str, str, str]
"""Stage, workload and variant."""


@dataclass(frozen=True)
class SeriesKey:
    """Which series a figure belongs to.

    `level` names a load that comes from an earlier stage's results; `load_ops_s` is then None, as it is of a capacity.
    `of`: the service level of a worst interval, where there are several; the process of pauses.
    """

    measure: Measure
    stage: str
    workload: str
    variant: str
    load_ops_s: int | None = None
    level: str = ""
    of: str = ""


@dataclass(frozen=True)
class Figure:
    """The median over valid repeats, with the lowest and highest; of a capacity its interval.

    `to_bound`: the same over the service level's bound, of a worst interval.
    """

    value: float
    low: float | None
    high: float | None
    to_bound: float | None = None


class VariantFacts(Model):
    """What is known of a variant beside its figures, each fact as text."""

    product: str
    measure: Annotated[str, Field(description="Which times its verdicts are about; empty: nothing was judged")]
    version: Annotated[str, Field(description="The release that was measured; empty where not known")]
    environment: Annotated[dict[str, str], Field(description="As its hosts reported it, or people stated it")]
    declared: Annotated[dict[str, str], Field(description="Of the definition, and of Plimsoll's code")]


@dataclass(frozen=True)
class MeasuredCampaign:
    """A campaign as series have it: its figures, and what is known beside them, by place."""

    campaign_id: str
    began_at: datetime
    label: str
    figures: Mapping[SeriesKey, Figure]
    facts: Mapping[Place, VariantFacts] = field(default_factory=dict)

    def sorted_by(self, order: Literal["version", "label"], place: Place) -> str:
        """Return the text that says where it stands in an order other than the date; empty: nowhere."""
        known = self.facts.get(place)
        return self.label if order == "label" else known.version if known else ""


class PartFigures(Model):
    """The figures of one workload in one stage. `asked`: comparable parts have all of these facts in common."""

    stage: str
    workload: str
    id: str
    asked: dict[str, str]
    variants: Annotated[dict[str, VariantFacts], Field(description="By id")]
    figures: tuple[tuple[SeriesKey, Figure], ...]

    def unlike(self, other: "PartFigures") -> tuple[Difference, ...]:
        """Return the differences in what was asked and measured that forbid comparing figures; `other` is A of each."""
        pairs = [(name, facts, self.variants[name]) for name, facts in other.variants.items() if name in self.variants]
        of_variants = differing_variants([(name, *_kinds(a, b)) for name, a, b in pairs])
        return (*differing(other.asked, self.asked), *of_variants)


class CampaignFigures(Model):
    """A campaign of a trend."""

    campaign_id: str
    definition: str
    began_at: Annotated[AwareDatetime, Field(description="Start of its first load; of an import as its files say")]
    label: str
    incomplete: LeftOutIfEmpty[tuple[str, ...]] = ()
    parts: tuple[PartFigures, ...]

    def measured(self, parts: Sequence[PartFigures]) -> MeasuredCampaign:
        """Return the campaign as series have it, with these of its parts."""
        return MeasuredCampaign(
            campaign_id=self.campaign_id,
            began_at=self.began_at,
            label=self.label,
            figures=dict(pair for part in parts for pair in part.figures),
            facts={(part.stage, part.workload, name): known for part in parts for name, known in part.variants.items()},
        )


def figures_of(data: CampaignData) -> dict[SeriesKey, Figure]:
    """Return the figures of a part of a campaign. What is not known has none."""
    cells = cell_results(data)
    return dict([*_capacities(data, cells), *_by_load(data, cells), *_pauses(data, cells)])


def _capacities(data: CampaignData, cells: Sequence[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    """Yield the load that is met with a chance. A capacity on the grid of loads moves by whole steps or not at all."""
    if data.part.asks == "capacity":
        observed = observed_over([(data.part, cells)])
        for variant in dict.fromkeys(result.cell.variant for result in cells):
            answer = threshold_answer(data.part, observed, variant)
            if answer and answer.ops_s:
                key = SeriesKey("capacity_ops_s", data.part.stage, data.part.workload_id, variant)
                yield key, Figure(answer.ops_s, answer.low_ops_s, answer.high_ops_s)


def _by_load(data: CampaignData, cells: Iterable[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    for (variant, load), own in grouped(((result.cell.variant, _load(result)), result) for result in cells).items():
        verdicts = [result.verdict for result in own if result.verdict]
        place = data.part.stage, data.part.workload_id, variant, *load
        for number, level in enumerate(data.part.service_levels):
            judged = [verdict.levels[number] for verdict in verdicts if number < len(verdict.levels)]
            worst = _known(verdict.ranked_ms for verdict in judged)
            if worst and median(worst) < inf:
                of = str(level) if len(data.part.service_levels) > 1 else ""
                yield SeriesKey("worst_interval_ms", *place, of), _over_repeats(worst, level.bound_ms)
        if rates := _known(verdict.achieved_ops_s for verdict in verdicts):
            yield SeriesKey("achieved_ops_s", *place), _over_repeats(rates)
        if times := _known(verdict.action.duration_s if verdict.action else None for verdict in verdicts):
            yield SeriesKey("action_s", *place), _over_repeats(times)


def _pauses(data: CampaignData, cells: Iterable[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    loads = {(result.cell.variant, result.cell.load_ops_s): _load(result) for result in cells}
    timing = data.part.timing
    for pauses in pause_statistics(cells, timing.warmup.total_seconds(), timing.duration.total_seconds()):
        load = loads[pauses.variant, pauses.load_ops_s]
        place = data.part.stage, data.part.workload_id, pauses.variant, *load
        if longest := pauses.longest_ms:
            key = SeriesKey("longest_pause_ms", *place, pauses.process)
            yield key, Figure(longest.median, longest.low, longest.high)
        yield SeriesKey("paused_share", *place, pauses.process), Figure(pauses.stopped_share, None, None)


def _load(result: CellResult) -> tuple[int | None, str]:
    return (None, result.cell.level) if result.cell.level else (result.cell.load_ops_s, "")


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _over_repeats(values: list[float], bound: float | None = None) -> Figure:
    """Return the figure of repeats. The highest may be infinite: it is not known then."""
    middle, highest = median(values), max(values)
    return Figure(middle, min(values), highest if highest < inf else None, middle / bound if bound else None)


def _kinds(a: VariantFacts, b: VariantFacts) -> tuple[dict[str, str], dict[str, str]]:
    """Return what two variants must have in common. A variant without a verdict has times of any kind."""
    of_a, of_b = ({"product": facts.product, "measure": facts.measure} for facts in (a, b))
    if not (a.measure and b.measure):
        del of_a["measure"], of_b["measure"]
    return of_a, of_b
