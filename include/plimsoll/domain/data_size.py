"""How many rows make a size on disk: counted once, for all cells of a campaign."""

from math import ceil
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model

TOLERANCE = 0.05
"""Data on a node may be this share larger or smaller than asked for; beyond it, that is remarked."""
FIRST_SAMPLE = 20_000
"""Rows of which it is measured first what they take."""
_SAMPLE_SHARE, _SAMPLE_BYTES = 0.1, 1 << 30
"""A sample is to have this share of what is asked for, or so many bytes on each node."""


class CountedRows(Model):
    """The rows that all cells of a campaign populate with one workload, and what of them was measured."""

    rows: Annotated[int, Field(description="Rows to populate in every cell", ge=1)]
    asked_bytes: Annotated[int, Field(description="Size on each node's disk that the definition asks for")]
    sample_rows: Annotated[int, Field(description="Rows of the sample that was measured", ge=1)]
    sample_bytes: Annotated[int, Field(description="What the sample took on each node's disk, the nodes' mean", ge=1)]
    cell: Annotated[str, Field(description="The cell that measured it, before its own load")]
    attempt: int
    measured_at: AwareDatetime


def rows_of(asked_bytes: int, sample_rows: int, sample_bytes: int) -> int:
    """As many rows as make the size, by what those of a sample take; at least one."""
    return max(1, round(asked_bytes * sample_rows / sample_bytes))


def larger_sample(asked_bytes: int, sample_rows: int, sample_bytes: int) -> int | None:
    """Rows of a larger sample where this one is too small to tell by; None where it will do.

    A few rows mislead: files have heads, and the keys of few rows are shorter than those of many.
    """
    wanted = min(asked_bytes * _SAMPLE_SHARE, _SAMPLE_BYTES)
    return None if sample_bytes >= wanted else ceil(1.1 * rows_of(round(wanted), sample_rows, sample_bytes))


def is_within_tolerance(asked_bytes: int, found_bytes: int) -> bool:
    """Whether data of that size will do for what was asked."""
    return abs(found_bytes - asked_bytes) <= TOLERANCE * asked_bytes
