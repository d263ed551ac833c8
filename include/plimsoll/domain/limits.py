"""Upper bounds of what Plimsoll reads from files that others made."""

LARGEST_BYTES = 4 << 30
"""Of one thing that is unpacked or read whole: a bundle without its raw files, the files of one run. 275 cells of noise
take a thirtieth of it in a bundle, the largest cell of the published campaign a fortieth as logs."""

MOST_CELLS_OF_A_TABLE = 50_000_000
"""Rows × columns of a table of one attempt. One of the published campaign has some thousand rows."""
