"""A definition's cells: in the order in which they run, and as a ladder for each variant."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.domain.cell import Cell, grid
from plimsoll.domain.definition import Definition
from plimsoll.domain.result import ValidOutcome
from plimsoll.strategies.ladder import Ladder, Place


def running_order(definition: Definition) -> tuple[Cell, ...]:
    """All cells, repeat by repeat: each repeat is a block with an order of its own, shuffled by the seed.

    Where hosts are kept for a variant, all cells of a variant come before those of the next.
    """
    cells = grid(definition)
    ordered: list[Cell] = []
    for repeat in range(1, definition.repeats + 1):
        block = [cell for cell in cells if cell.repeat == repeat]
        # Seeding with text makes the order the same on every machine and Python process.
        random.Random(f"{definition.seed}/{repeat}").shuffle(block)  # noqa: S311 - not for secrets
        ordered.extend(block)
    if definition.cluster_scope == "variant":
        places = [variant.id for variant in definition.variants]
        ordered.sort(key=lambda cell: places.index(cell.variant))
    return tuple(ordered)


@dataclass(frozen=True)
class Matrix:
    """Ids of all cells: `order` as they run, `ladders` by variant, load (rising) and repeat."""

    order: tuple[str, ...]
    ladders: Mapping[str, tuple[tuple[str, ...], ...]]

    @classmethod
    def of(cls, definition: Definition) -> "Matrix":
        """All cells of the definition."""
        ids = {(cell.variant, cell.load_ops_s, cell.repeat): cell.id for cell in grid(definition)}
        repeats = range(1, definition.repeats + 1)
        ladders = {
            variant.id: tuple(
                tuple(ids[variant.id, load, repeat] for repeat in repeats) for load in sorted(definition.loads)
            )
            for variant in definition.variants
        }
        return cls(tuple(cell.id for cell in running_order(definition)), ladders)

    def ladder(self, variant: str, outcomes: Mapping[str, ValidOutcome]) -> Ladder:
        """What is known of a variant. `outcomes`: cell id → outcome of its newest valid attempt."""
        return Ladder([[outcomes.get(cell_id) for cell_id in repeats] for repeats in self.ladders[variant]])

    def id_at(self, variant: str, place: Place) -> str:
        """The id of a cell of a variant's ladder."""
        return self.ladders[variant][place.level][place.repeat]
