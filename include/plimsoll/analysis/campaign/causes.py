"""Why intervals missed: which causes coincide with misses more often than chance would make them.

A coincidence explains nothing by itself: what happens in every interval happens in missed intervals, too. So the share
of missed intervals that a cause touched is shown beside its base rate, the share of met intervals that it touched. A
cause counts as *linked* to misses only where a circular-shift permutation test says so: the misses of each cell are
shifted in time against its causes. The shift keeps the clusters of both (neighbouring intervals are not independent)
and breaks only the link between them. Holm's correction covers all variants and causes. Missed intervals that no linked
cause touched stay unexplained.

Sources: Edgington and Onghena, Randomization Tests, 4th ed. (2007), on permutation tests; DiCiccio and Romano, Annals
of Statistics 45 (2017), on why dependence must be kept; Abbott, J. Econ. Entomol. 18 (1925), the share beyond chance.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.attempt.coincidence import Cause, causes_in
from plimsoll.analysis.campaign.cell_results import CellResult
from plimsoll.analysis.campaign.statistics import CONFIDENCE, holm
from plimsoll.domain.text.base import Model

Flags = NDArray[np.bool_]
SHIFTS = 19_999
"""Random shifts drawn for a test, a fixed sequence: equal data give equal p values."""

FEWEST_MET = 20
"""A cell's own base rate needs so many met intervals; cells with fewer take the variant's."""

Link = Literal["linked", "no more than chance", "too few intervals", "not collected"]


class CauseShare(Model):
    """One cause in one variant's judged intervals, over all cells that count and for which the cause was collected."""

    cause: str
    label: Annotated[str, Field(description="Its words")]
    unit: str
    least: Annotated[float, Field(description="It touches an interval from so much on, in its unit")]
    link: Link
    missed: Annotated[int, Field(description="Missed intervals in which it could have been seen")]
    missed_with: Annotated[int, Field(description="Of those: with the cause")]
    met: Annotated[int, Field(description="Met intervals in which it could have been seen")]
    met_with: Annotated[int, Field(description="Of those: with the cause; the share is the base rate")]
    beyond_chance: Annotated[
        float | None,
        Field(description="Share of missed intervals that have it beyond what base rates let expect; null: unknown"),
    ]
    p_value: float | None
    p_holm: Annotated[float | None, Field(description="After Holm's correction over all variants and causes")]


class Explained(Model):
    """The numbers of a cell's missed intervals with a linked cause, with only other causes, and with no cause."""

    missed: int
    linked: Annotated[int, Field(description="Touched by a cause that is linked to this variant's misses")]
    coincident: Annotated[int, Field(description="Touched by other causes only: that may be chance")]
    nothing: Annotated[int, Field(description="Nothing of what was collected happened")]
    unknown: Annotated[int, Field(description="Of attempts of which nothing but response times was analysed")]


class VariantCauses(Model):
    """The causes of a variant's missed intervals."""

    variant: str
    explained: Explained
    causes: tuple[CauseShare, ...]
    cells: Annotated[dict[str, Explained], Field(description="Cells that missed, by id")]


@dataclass(frozen=True)
class CellFlags:
    """One cell's judged intervals in order of time: missed, and touched by each cause (None: it was not collected)."""

    cell: str
    missed: Flags
    touched: Mapping[str, Flags | None]


def causes_of_misses(cells: Sequence[CellResult], bound_ms: float) -> tuple[VariantCauses, ...]:
    """Return the causes of every variant of the cells, in their order. Only attempts that count are used."""
    by_variant = grouped((result.cell.variant, result) for result in cells)
    causes = causes_in(result.counted.coincidences for result in cells if result.counted)
    flags = {variant: list(_flags(own, causes, bound_ms)) for variant, own in by_variant.items()}
    shares = [(variant, *_share(cause, own, bound_ms)) for variant, own in flags.items() for cause in causes]
    # Over all causes of all variants that coincided with any miss
    adjusted = holm([share.p_value if share.missed_with else None for _, share, _ in shares])
    tests = len(adjusted) - adjusted.count(None)
    tested = grouped(
        (variant, _linked(share, smallest, p_holm, tests))
        for (variant, share, smallest), p_holm in zip(shares, adjusted, strict=True)
    )
    return tuple(_variant(variant, own, flags[variant], tested.get(variant, ())) for variant, own in by_variant.items())


def shift_test(pairs: Iterable[tuple[Flags, Flags]], shifts: int = SHIFTS) -> tuple[float, float]:
    """Return the one-sided p value of the coincidence of `missed` and `touched`, and the smallest possible p value.

    The arguments hold one pair of series per cell; each pair is shifted by itself.
    """
    observed, smallest = 0, 1.0
    sums: NDArray[np.int64] = np.zeros(shifts, dtype=np.int64)
    random = np.random.default_rng(20_221_019)
    for missed, touched in pairs:
        # By the correlation theorem all circular shifts, the first of them none, take one product of spectra, where one
        # by one takes n² steps
        spectrum = np.conj(np.fft.rfft(missed)) * np.fft.rfft(touched)
        counts = np.rint(np.fft.irfft(spectrum, len(missed))).astype(np.int64)
        observed += int(counts[0])
        sums += counts[random.integers(0, len(counts), shifts)]
        smallest *= float(np.mean(counts == counts.max()))
    # The order that was observed is one of the shifts, so that no p value is 0
    p_value = (1 + int((sums >= observed).sum())) / (shifts + 1)
    return p_value, max(smallest, 1 / (shifts + 1))


def _flags(cells: Sequence[CellResult], causes: Sequence[Cause], bound_ms: float) -> Iterable[CellFlags]:
    for result in cells:
        table = result.counted.coincidences if result.counted else None
        if table is not None and not table.empty:
            touched = {
                cause.id: None
                if cause.id not in table or np.isnan(amounts := table[cause.id].to_numpy(dtype=np.float64)).all()
                else amounts >= cause.least(bound_ms)
                for cause in causes
            }
            yield CellFlags(result.cell.id, table["missed"].to_numpy(dtype=bool), touched)


def _share(cause: Cause, cells: Sequence[CellFlags], bound_ms: float) -> tuple[CauseShare, float]:
    """Return the cause's share with its uncorrected p value, and the smallest p value that they could give."""
    known = [(cell.missed, touched) for cell in cells if (touched := cell.touched[cause.id]) is not None]
    missed = sum(int(misses.sum()) for misses, _ in known)
    missed_with = sum(int((misses & touched).sum()) for misses, touched in known)
    met = sum(int((~misses).sum()) for misses, _ in known)
    met_with = sum(int((~misses & touched).sum()) for misses, touched in known)
    telling = [pair for pair in known if 0 < pair[0].sum() < len(pair[0])]
    p_value, smallest = shift_test(telling) if telling and missed_with else (1.0 if telling else None, 1.0)
    beyond = _beyond_chance(known, missed, missed_with, met_with / met) if missed and met >= FEWEST_MET else None
    share = CauseShare(
        cause=cause.id,
        label=cause.label,
        unit=cause.unit,
        least=cause.least(bound_ms),
        link="no more than chance" if known else "not collected",
        missed=missed,
        missed_with=missed_with,
        met=met,
        met_with=met_with,
        beyond_chance=beyond,
        p_value=p_value,
        p_holm=None,
    )
    return share, smallest


def _beyond_chance(known: Sequence[tuple[Flags, Flags]], missed: int, missed_with: int, pooled: float) -> float:
    """Apply Abbott's formula, with a cell's own base rate if it has enough met intervals, else with the variant's."""
    expected = 0.0
    for misses, touched in known:
        met = int((~misses).sum())
        expected += misses.sum() * (float((~misses & touched).sum() / met) if met >= FEWEST_MET else pooled)
    return max(0.0, float((missed_with - expected) / (missed - expected))) if expected < missed else 0.0


def _linked(share: CauseShare, smallest: float, p_holm: float | None, tests: int) -> CauseShare:
    level = 1 - CONFIDENCE
    if share.link == "not collected":
        return share
    link: Link = "no more than chance"
    if p_holm is not None and p_holm <= level:
        link = "linked"
    elif share.missed_with and (p_holm is None or smallest * tests > level):
        link = "too few intervals"
    return share.model_copy(update={"p_holm": p_holm, "link": link})


def _variant(
    variant: str, results: Sequence[CellResult], cells: Sequence[CellFlags], causes: tuple[CauseShare, ...]
) -> VariantCauses:
    linked = {share.cause for share in causes if share.link == "linked"}
    analysed = {cell.cell: _explained(cell, linked) for cell in cells}
    missed = {
        result.cell.id: analysed.get(result.cell.id)
        or Explained(missed=count, linked=0, coincident=0, nothing=0, unknown=count)
        for result in results
        if (count := result.missed_intervals)
    }
    sums = {name: sum(getattr(cell, name) for cell in missed.values()) for name in Explained.model_fields}
    return VariantCauses(variant=variant, explained=Explained(**sums), causes=causes, cells=missed)


def _explained(cell: CellFlags, linked: set[str]) -> Explained:
    by_linked, by_any = np.zeros((2, len(cell.missed)), dtype=bool)
    for cause, touched in cell.touched.items():
        if touched is not None:
            by_any |= touched
            by_linked |= touched & (cause in linked)
    missed, linked_to, touched_by = (int((cell.missed & by).sum()) for by in (cell.missed, by_linked, by_any))
    return Explained(
        missed=missed, linked=linked_to, coincident=touched_by - linked_to, nothing=missed - touched_by, unknown=0
    )
