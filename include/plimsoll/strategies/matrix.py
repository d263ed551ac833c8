"""A definition's cells: in the order in which they run, and as a ladder for each variant and workload."""

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
    """Ids of all cells: `order` as they run, `ladders` by name (`Cell.ladder`), load (rising) and repeat."""

    order: tuple[str, ...]
    ladders: Mapping[str, tuple[tuple[str, ...], ...]]

    @classmethod
    def of(cls, definition: Definition) -> "Matrix":
        """All cells of the definition."""
        found: dict[str, dict[int, list[str]]] = {}
        for cell in sorted(grid(definition), key=lambda cell: cell.repeat):
            found.setdefault(cell.ladder, {}).setdefault(cell.load_ops_s, []).append(cell.id)
        ladders = {name: tuple(tuple(levels[load]) for load in sorted(levels)) for name, levels in found.items()}
        return cls(tuple(cell.id for cell in running_order(definition)), ladders)

    def ladder(self, name: str, outcomes: Mapping[str, ValidOutcome]) -> Ladder:
        """What is known of a ladder. `outcomes`: cell id → outcome of its newest valid attempt."""
        return Ladder([[outcomes.get(cell_id) for cell_id in repeats] for repeats in self.ladders[name]])

    def id_at(self, name: str, place: Place) -> str:
        """The id of a cell of a ladder."""
        return self.ladders[name][place.level][place.repeat]
