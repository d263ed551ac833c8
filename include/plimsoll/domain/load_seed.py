"""The seed of what a load generator draws at random."""

from hashlib import sha256

from plimsoll.domain.cell import Cell

_MOST = 2**31 - 1
"""Every program takes a positive number of 31 bits. To some, 0 means the time of day."""


def load_seed(seed: int, cell: Cell, attempt: int) -> int:
    """Return the seed of an attempt's load, from 1 to 2³¹ - 1. `seed`: the definition's.

    Every repeat draws anew, and so does every further attempt: a schedule drawn at random that came out too short
    would else be too short for ever. Variants do not: at the same load, repeat and attempt they are asked the same at
    the same times, so that chance makes no difference between them.
    """
    of_every_variant = cell.model_copy(update={"variant": ""}).id
    digest = sha256(f"{seed}/{of_every_variant}/{attempt}".encode()).digest()
    return 1 + int.from_bytes(digest[:8], "big") % _MOST
