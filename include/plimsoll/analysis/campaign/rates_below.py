"""The highest load of each variant at which a percentile stayed below a bound that decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from plimsoll.analysis.campaign.cell_results import maxima
from plimsoll.domain.base import Model

if TYPE_CHECKING:
    from plimsoll.analysis.campaign.cell_results import CellResult
    from plimsoll.domain.rate_below import RateBelow


class HighestBelow(Model):
    """The highest load of a variant with a percentile below a bound in every judged interval of every valid repeat."""

    bound: Annotated[str, Field(description="Such as `p99 below 10ms`")]
    variant: str
    load_ops_s: Annotated[
        int | None, Field(description="All lower loads that were run are below it, too; null: not even the lowest")
    ]


def rates_below(cells: Iterable[CellResult], bounds: Sequence[RateBelow]) -> tuple[HighestBelow, ...]:
    """Return the highest load by bound and variant, in the order of bounds and cells."""
    results = list(cells)
    return tuple(found for bound in bounds for found in _of_bound(results, bound))


def _of_bound(cells: Sequence[CellResult], bound: RateBelow) -> Iterator[HighestBelow]:
    for variant, own in groupby(maxima(cells, bound.column), key=lambda spread: spread.variant):
        rising = sorted(own, key=lambda spread: spread.load_ops_s)
        loads = [spread.load_ops_s for spread in takewhile(lambda spread: spread.high < bound.bound_ms, rising)]
        yield HighestBelow(bound=str(bound), variant=variant, load_ops_s=max(loads, default=None))
