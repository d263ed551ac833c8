"""A campaign's cells in running order, and as a ladder for each variant and workload."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.domain.campaign import Campaign, Part, Setup
from plimsoll.domain.cell import Cell, grid
from plimsoll.domain.result import ValidOutcome
from plimsoll.domain.strategy import chooses_cells, keeps_data
from plimsoll.strategies.ladder import Ladder, Position


def running_order(campaign: Campaign) -> tuple[Cell, ...]:
    """Return all cells, stage by stage and repeat by repeat.

    Each repeat is a block in a random order that the seed determines.

    Where hosts are kept for a variant, all cells of one variant in a stage come before those of the next variant. Where
    a repeat's loads share their data, they follow one another, from the lowest up.
    """
    cells = grid(campaign)
    stages = dict.fromkeys(cell.stage for cell in cells)
    sharing = stages_that_keep_data(campaign)
    return tuple(
        cell
        for stage in stages
        for cell in _order_within([one for one in cells if one.stage == stage], campaign, share_data=stage in sharing)
    )


def stages_that_keep_data(campaign: Campaign) -> frozenset[str]:
    """Return the ids, as cells have them, of the stages in which a repeat's loads share their data."""
    return frozenset(part.stage for part in campaign.parts if keeps_data(part.strategy))


def goes_by_variant(part: Part) -> bool:
    """Tell whether the strategy comes to the end of a variant before it begins the next one.

    Otherwise variants take turns, and each turn would end the hosts that are kept for the variant before.
    """
    return part.cluster_scope == "variant" and chooses_cells(part.strategy)


def of_one_round(campaign: Campaign, cells: Sequence[Cell]) -> frozenset[str]:
    """Return ids of the cells that may run before the strategy is asked again.

    `cells` are of one stage, in running order. Where loads share their data, only the first may, because the data that
    it leaves decide about the next.
    """
    if not cells:
        return frozenset()
    first = cells[0]
    part = next(part for part in campaign.parts if part.stage == first.stage)
    if keeps_data(part.strategy):
        return frozenset({first.id})
    return frozenset(one.id for one in cells if one.variant == first.variant or not goes_by_variant(part))


def _order_within(cells: Sequence[Cell], setup: Setup, *, share_data: bool) -> Sequence[Cell]:
    ordered: list[Cell] = []
    for repeat in sorted({cell.repeat for cell in cells}):
        block = [cell for cell in cells if cell.repeat == repeat]
        # Seeding with text makes the order the same on every machine and Python process.
        random.Random(f"{setup.seed}/{repeat}").shuffle(block)  # noqa: S311 - not for secrets
        ordered.extend(block)
    if share_data:
        first = {cell.data_key: place for place, cell in reversed(list(enumerate(ordered)))}
        ordered.sort(key=lambda cell: (first[cell.data_key], cell.load_ops_s))
    if setup.cluster_scope == "variant":
        places = [variant.id for variant in setup.variants]
        ordered.sort(key=lambda cell: places.index(cell.variant))
    return ordered


@dataclass(frozen=True)
class Matrix:
    """The ids of all cells: `order` as they run, `ladders` by name (`Cell.ladder`), load (rising) and repeat.

    `loads`: the loads of each ladder, ops/s, rising. `stages`: the stage of each ladder; empty where there is only one.
    """

    order: tuple[str, ...]
    ladders: Mapping[str, tuple[tuple[str, ...], ...]]
    loads: Mapping[str, tuple[int, ...]]
    stages: Mapping[str, str]

    @classmethod
    def of(cls, campaign: Campaign) -> "Matrix":
        """Return all cells of the campaign."""
        found: dict[str, dict[int, list[str]]] = {}
        cells = grid(campaign)
        for cell in sorted(cells, key=lambda cell: cell.repeat):
            found.setdefault(cell.ladder, {}).setdefault(cell.load_ops_s, []).append(cell.id)
        ladders = {name: tuple(tuple(levels[load]) for load in sorted(levels)) for name, levels in found.items()}
        return cls(
            order=tuple(cell.id for cell in running_order(campaign)),
            ladders=ladders,
            loads={name: tuple(sorted(levels)) for name, levels in found.items()},
            stages={cell.ladder: cell.stage for cell in cells},
        )

    def ladder(self, name: str, outcomes: Mapping[str, ValidOutcome]) -> Ladder:
        """Return the ladder with its outcomes so far. `outcomes`: cell id → outcome of its newest valid attempt."""
        return Ladder([[outcomes.get(cell_id) for cell_id in repeats] for repeats in self.ladders[name]])

    def id_at(self, name: str, place: Position) -> str:
        """Return the id of the cell at a place of a ladder."""
        return self.ladders[name][place.level][place.repeat]
