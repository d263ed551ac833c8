"""Upper bounds: of definitions, and of what Plimsoll reads from files that others made."""

LARGEST_BYTES = 4 << 30
"""The greatest size of anything that is unpacked or read whole: a bundle without its raw files, the files of one run.
In a bundle 275 cells of noise take a thirtieth of it; the logs of the largest cell of the published campaign take a
fortieth.
"""

MOST_MEMORY_OF_A_BUNDLE = 2 * LARGEST_BYTES
"""The memory that making a report from a bundle may take, bytes: the bundle, its unpacked content, and the report."""

MOST_CELLS_OF_A_TABLE = 50_000_000
"""Rows × columns of a table of one attempt. One of the published campaign has some thousand rows."""

MOST_TEXT_OF_A_TABLE = 1 << 29
"""Bytes of one of its columns of texts, with every text as long as the longest."""

LARGEST_GRID = 500_000
"""No definition may allow more cells."""

LONGEST_CELL_ID = 80
"""They stand in ids of Airflow's runs, in names of files and in tags of a cloud, which have limits of their own."""


def raise_limit(cells: int) -> str:
    """Return the advice to raise the limit of cells, where the number of cells is within what a limit may allow."""
    return f", or `max_cells: {cells}` if that is meant" if cells <= LARGEST_GRID else ""
