"""Compare two campaigns: whether they can be compared, and the results of both by variant and load. Pure.

Campaign A has the role of the control: ratios are B / A, and `higher` means that B's figures are higher.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.by_load import by_place
from plimsoll.analysis.campaign.capacity import Capacity, Rung, reported_capacities, rungs_of
from plimsoll.analysis.campaign.cell_results import (
    PERCENTILES,
    CampaignData,
    CellResult,
    Spread,
    achieved,
    cell_results,
    maxima,
)
from plimsoll.analysis.campaign.definition_differences import (
    Difference,
    VariantPair,
    incomparable,
    named_differences,
    unlike_in,
)
from plimsoll.analysis.campaign.statistics import Comparison, compare, conclude, strata, worst_by_load
from plimsoll.domain.campaign.part import Setup
from plimsoll.domain.text.base import Model


class EnvironmentDifference(Model):
    """A fact that differs between the campaigns' hosts or JVMs, or that was stated differently for imports.

    `variants`: ids of A; empty for all variants.
    """

    fact: str
    variants: tuple[str, ...]
    a: str
    b: str


class CapacityPair(Model):
    """The capacities of both variants of a pair.

    A side is None where its campaign takes the load from an earlier stage, and so does not ask for the highest.
    """

    variants: VariantPair
    a: Capacity | None
    b: Capacity | None
    ratio: Annotated[float | None, Field(description="B's capacity / A's; none unless both were found")]


class LoadSide(Model):
    """One variant at one load in one campaign: ranges over its valid repeats."""

    rung: Rung
    achieved_ops_s: Spread | None
    maxima: Annotated[dict[str, Spread], Field(description="Highest interval by percentile, ms")]


class LoadPair(Model):
    """One load of a pair of variants; a side is None where its campaign does not have the load."""

    variants: VariantPair
    load_ops_s: int
    a: LoadSide | None
    b: LoadSide | None


@dataclass(frozen=True, eq=False)
class SideBySide:
    """The results of two campaigns by pairs of variants.

    `incomparable`: differences in what was asked and measured, which forbid comparing any figure. `differences`: the
    other differences between the definitions. `capacities`: of the pairs that have one; none in a stage whose
    loads come from an earlier stage. `tests`: the worst interval of each repeat of B's variant, ranked within
    loads against A's as the control, with Holm's correction over the pairs.
    """

    pairs: tuple[VariantPair, ...]
    incomparable: tuple[Difference, ...]
    differences: tuple[Difference, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    capacities: tuple[CapacityPair, ...]
    loads: tuple[LoadPair, ...]
    tests: tuple[Comparison, ...]


def side_by_side(a: CampaignData, b: CampaignData, pairing: Mapping[str, str] | None = None) -> SideBySide:
    """Compare two campaigns. Variants with the same id belong together; `pairing` maps further ids of A to ids of B."""
    pairs = variant_pairs(a.part, b.part, pairing or {})
    cells_a, cells_b = cell_results(a), cell_results(b)
    worst_a, worst_b = worst_by_load(cells_a), worst_by_load(cells_b)
    found_a = {capacity.variant: capacity for capacity in reported_capacities(a, cells_a)}
    found_b = {capacity.variant: capacity for capacity in reported_capacities(b, cells_b)}
    return SideBySide(
        pairs=pairs,
        incomparable=(*incomparable(a, b, pairs), *unlike_measures(pairs, cells_a, cells_b)),
        differences=tuple(named_differences(a, b, pairs)),
        only_a=_others(a.part, [pair.a for pair in pairs]),
        only_b=_others(b.part, [pair.b for pair in pairs]),
        capacities=tuple(
            _capacities(pair, found_a.get(pair.a), found_b.get(pair.b)) for pair in pairs if found_a or found_b
        ),
        loads=tuple(_loads(pairs, cells_a, cells_b)),
        tests=conclude([compare(pair.b, pair.a, strata(worst_b, pair.b, worst_a, pair.a)) for pair in pairs]),
    )


def environment_differences(
    pairs: Sequence[VariantPair], a: Mapping[str, Mapping[str, str]], b: Mapping[str, Mapping[str, str]]
) -> tuple[EnvironmentDifference, ...]:
    """Return facts that differ between the variants of pairs; `a` and `b` hold each variant's facts, by its id.

    Facts that differ alike for all pairs are named once. A pair is left out where nothing is known of one of them.
    """
    known = [(pair.a, a[pair.a], b[pair.b]) for pair in pairs if a[pair.a] and b[pair.b]]
    return tuple(
        EnvironmentDifference(
            fact=fact, variants=() if len(variants) == len(pairs) else tuple(variants), a=value_a, b=value_b
        )
        for (fact, value_a, value_b), variants in unlike_in(known).items()
    )


def variant_pairs(a: Setup, b: Setup, pairing: Mapping[str, str]) -> tuple[VariantPair, ...]:
    """Return the pairs of variants in A's order: those that `pairing` names, else those with the same id."""
    ids_b = {variant.id for variant in b.variants}
    wanted = {**{variant.id: variant.id for variant in a.variants if variant.id not in pairing.values()}, **pairing}
    return tuple(
        VariantPair(a=variant.id, b=wanted[variant.id]) for variant in a.variants if wanted.get(variant.id) in ids_b
    )


def unlike_measures(
    pairs: Sequence[VariantPair], a: Sequence[CellResult], b: Sequence[CellResult]
) -> Iterator[Difference]:
    """Yield the pairs of which one side has response times and the other less: their times are not alike."""
    for pair in pairs:
        known_a, known_b = (
            {result.verdict.measure for result in cells if result.cell.variant == variant and result.verdict}
            for cells, variant in ((a, pair.a), (b, pair.b))
        )
        if known_a and known_b and known_a != known_b:
            words_a, words_b = (" and ".join(sorted(known)) for known in (known_a, known_b))
            yield Difference(what=f"variants.{pair.a}.measure", a=words_a, b=words_b)


def _others(part: Setup, paired: Sequence[str]) -> tuple[str, ...]:
    return tuple(variant.id for variant in part.variants if variant.id not in paired)


def _capacities(pair: VariantPair, a: Capacity | None, b: Capacity | None) -> CapacityPair:
    firm_a, firm_b = (capacity.carried_ops_s if capacity and capacity.kind == "found" else None for capacity in (a, b))
    return CapacityPair(variants=pair, a=a, b=b, ratio=firm_b / firm_a if firm_a and firm_b else None)


def _loads(pairs: Sequence[VariantPair], a: Sequence[CellResult], b: Sequence[CellResult]) -> Iterator[LoadPair]:
    sides_a, sides_b = _sides(a), _sides(b)
    for pair in pairs:
        loads = {load for variant, load in sides_a if variant == pair.a}
        loads |= {load for variant, load in sides_b if variant == pair.b}
        for load in sorted(loads):
            own_a, own_b = sides_a.get((pair.a, load)), sides_b.get((pair.b, load))
            yield LoadPair(variants=pair, load_ops_s=load, a=own_a, b=own_b)


def _sides(cells: Sequence[CellResult]) -> dict[tuple[str, int], LoadSide]:
    rates = by_place(achieved(cells))
    highest = {name: by_place(maxima(cells, name)) for name in PERCENTILES}
    sides = {}
    for variant, own in grouped((result.cell.variant, result) for result in cells).items():
        for rung in rungs_of(own):
            key = (variant, rung.load_ops_s)
            maxima_ms = {name: spreads[key] for name, spreads in highest.items() if key in spreads}
            sides[key] = LoadSide(rung=rung, achieved_ops_s=rates.get(key), maxima=maxima_ms)
    return sides
