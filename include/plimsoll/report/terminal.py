"""The capacity table for a terminal."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from plimsoll.report.answers import CapacityRow, loads_line


def capacity_view(rows: Sequence[CapacityRow], title: str = "Capacity") -> Table:
    """The rows of `capacity_table` as a rich table, with notes below each capacity and loads to run next at the end."""
    line = loads_line(rows)
    caption = Text(f"To narrow where the boundaries lie, write into the definition: {line}") if line else None
    table = Table(title=Text(title), title_justify="left", show_lines=True, caption=caption, caption_justify="left")
    for heading in ("Variant", "Capacity", "Rests on", "Next load", "Pass probability", "To control"):
        table.add_column(heading)
    for row in rows:
        table.add_row(*(Text(text) for text in _cells(row)))
    return table


def _cells(row: CapacityRow) -> tuple[str, ...]:
    notes = [*row.notes, *([row.narrowing] if row.narrowing else [])]
    capacity = "\n".join([row.capacity, *(f"({note})" for note in notes)])
    return row.variant, capacity, row.rests_on, row.next_load, row.pass_probability, row.to_control
