"""All results of the analysis of a campaign, computed once for all parts of a report; and its data by part: each
workload in each stage, as if it were a campaign of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.by_load import (
    HighestAchieved,
    HighestBelow,
    OperationP99,
    RepeatsAtLoad,
    highest_achieved,
    p99_by_operation,
    rates_below,
    repeats_by_load,
)
from plimsoll.analysis.campaign.capacity import Capacity, Rung, capacities
from plimsoll.analysis.campaign.causes import VariantCauses, causes_of_misses
from plimsoll.analysis.campaign.cell_results import CampaignData, CellResult, cell_results, require_no_strays
from plimsoll.analysis.campaign.left_out import LeftOut, left_out
from plimsoll.analysis.campaign.misses import Miss, decisive_cell, worst_misses
from plimsoll.analysis.campaign.noise import UNKNOWN, Noise, noise
from plimsoll.analysis.campaign.pauses import PauseStatistics, Steadiness, pause_statistics, steadiness
from plimsoll.analysis.campaign.series import Typical, typical_by_load
from plimsoll.analysis.campaign.statistics import Comparison, Repeats, compare_with_control, power_of
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.hosts.cost import Spending
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.strategies.state import CampaignState


@dataclass(frozen=True, eq=False)
class CampaignCells:
    """A campaign's data with the result of each cell; variants and cells in the definition's order."""

    data: CampaignData
    cells: tuple[CellResult, ...]

    @property
    def part(self) -> Part:
        return self.data.part

    @property
    def loads(self) -> tuple[int, ...]:
        """Return the loads of its cells, ops/s, rising: those of the definition, or what a threshold asked for."""
        return tuple(sorted({result.cell.load_ops_s for result in self.cells}))

    @property
    def level(self) -> ServiceLevel:
        return self.part.service_levels[0]

    @property
    def labels(self) -> dict[str, str]:
        """Return the variants' labels by id. Where two variants share a title, the label includes the id."""
        variants = self.part.variants
        shared = {variant.label for variant in variants if sum(variant.label == other.label for other in variants) > 1}
        return {
            variant.id: f"{variant.label} [{variant.id}]" if variant.label in shared else variant.label
            for variant in variants
        }

    def of_variant(self, variant: str) -> tuple[CellResult, ...]:
        return tuple(result for result in self.cells if result.cell.variant == variant)

    def count(self, *states: str) -> int:
        return sum(result.state in states for result in self.cells)


@dataclass(frozen=True, eq=False)
class Findings(CampaignCells):
    """A campaign's cells with the results of its analysis.

    What is left out was not analysed: the page of a single attempt needs nothing but its cell.
    """

    repeats: Repeats
    noise: Noise = UNKNOWN
    capacities: tuple[Capacity, ...] = ()
    """Capacity of each variant; empty for a part that takes its load from an earlier stage."""
    rungs: Mapping[str, tuple[Rung, ...]] = field(default_factory=dict)
    """Variant → its loads, rising, with the outcomes of their repeats."""
    source: "Findings | None" = None
    """The findings of the part from which this part takes its load; None where its loads are its own."""
    left_out: tuple[LeftOut, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    causes: tuple[VariantCauses, ...] = ()
    pauses: tuple[PauseStatistics, ...] = ()
    steadiness: tuple[Steadiness, ...] = ()
    typical: tuple[Typical, ...] = ()
    repeats_by_load: tuple[RepeatsAtLoad, ...] = ()
    highest_achieved: tuple[HighestAchieved, ...] = ()
    p99_by_operation: tuple[OperationP99, ...] = ()
    rates_below: tuple[HighestBelow, ...] = ()
    """By each of the definition's `rates_below`."""
    decisive: Mapping[str, CellResult] = field(default_factory=dict)
    """Variant → the cell that decided its capacity, where there is one."""
    misses: tuple[Miss, ...] = ()
    """The worst missed intervals, the worst first."""


def analyse(data: CampaignData) -> Findings:
    part = data.part
    timing, level = part.timing, part.service_levels[0]
    cells = cell_results(data)
    found_capacities = capacities(data, cells)
    deciding = {capacity.variant: decisive_cell(cells, capacity) for capacity in found_capacities}
    decisive = {variant: cell for variant, cell in deciding.items() if cell}
    return Findings(
        data=data,
        cells=cells,
        capacities=found_capacities if part.asks == "capacity" else (),
        rungs={capacity.variant: capacity.rungs for capacity in found_capacities},
        left_out=left_out(part.strategy, cells),
        comparisons=compare_with_control(cells, part.control),
        repeats=power_of(part.repeats),
        causes=causes_of_misses(cells, level.bound_ms),
        pauses=pause_statistics(cells, timing.warmup.total_seconds(), timing.duration.total_seconds()),
        noise=noise(cells),
        steadiness=steadiness(cells),
        typical=typical_by_load(cells),
        repeats_by_load=repeats_by_load(cells, level),
        highest_achieved=highest_achieved(cells),
        p99_by_operation=p99_by_operation(cells),
        rates_below=rates_below(cells, part.rates_below),
        decisive=decisive,
        misses=worst_misses(cells, level.bound_ms, {cell.cell.id for cell in decisive.values()}),
    )


def data_of_parts(data: CampaignData) -> tuple[CampaignData, ...]:
    """Return the data of each part that has cells, in the definition's order; of the only part unchanged.

    Raises NotFound for an attempt at a cell that the definition does not have.
    """
    parts = data.campaign.parts
    if len(parts) == 1:
        return (data,)
    require_no_strays(data)
    with_cells = (part for part in parts if any(part.loads_of(variant.id) for variant in part.variants))
    divided = tuple(_part_of(data, part) for part in with_cells)
    alike = grouped((own.part.workload_id, own) for own in divided)
    return tuple(
        replace(own, other_stages=tuple(other for other in alike[own.part.workload_id] if other is not own))
        for own in divided
    )


def _part_of(data: CampaignData, part: Part) -> CampaignData:
    cells = tuple(result for result in data.state.cells if result.cell.part == part.id)
    return replace(
        data,
        attempts=tuple(attempt for cell in cells for attempt in cell.attempts),
        spending=_spending_of(data.spending, cells),
        incomplete=tuple(result.cell.id for result in cells if result.cell.id in data.incomplete),
        of_part=_without_idle(part),
        known_state=CampaignState(data.campaign, cells),
    )


def _without_idle(part: Part) -> Part:
    """Return the part with only the variants that have loads. Without a capacity there is no share to take."""
    kept = tuple(variant for variant in part.variants if part.loads_of(variant.id))
    if len(kept) == len(part.variants):
        return part
    control = part.control if part.control in {variant.id for variant in kept} else None
    return replace(part, variants=kept, control=control)


def _spending_of(spending: Spending | None, cells: tuple[CellResult, ...]) -> Spending | None:
    """Return the cost of the attempts at these cells; estimate, budget and idle hosts are the whole campaign's."""
    if spending is None:
        return None
    ids = {result.cell.id for result in cells}
    entries = tuple(entry for entry in spending.entries if entry.key.cell_id in ids)
    return spending.model_copy(update={"entries": entries, "idle": (), "estimated_usd": None, "budget_usd": None})
