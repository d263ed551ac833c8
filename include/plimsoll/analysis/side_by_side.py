"""Compare two campaigns: whether they can be compared, and the results of both by variant and load. Pure.

Campaign A has the role of the control: ratios are B / A, and `higher` means that B's figures are higher.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from pydantic import Field

from plimsoll.analysis.campaign import PERCENTILES, CampaignData, CellResult, Spread, achieved, cell_results, maxima
from plimsoll.analysis.capacity import Capacity, Rung, rungs_of, told_capacities
from plimsoll.analysis.facts import unlike
from plimsoll.analysis.statistics import Comparison, compare, conclude, strata, worst_by_load
from plimsoll.domain.base import Model
from plimsoll.domain.definition import Definition

ABSENT = "(none)"

_MUST_BE_EQUAL = (
    "service_levels",
    "timing",
    "workload",
    "load_generator.name",
    "load_generator.hosts",
    "load_generator.threads",
    "load_generator.concurrency",
    "system.nodes",
)
"""Keys of a definition that say what was asked of the database and how it was measured. The products of each pair of
variants must be equal too."""

_NAMED = ("system", "load_generator", "provider", "loads", "repeats", "control", "cluster_scope", "strategy", "canary")
"""Further keys that may differ, and are named where they do; the rest (titles, schedules, budgets) measures nothing."""


class Difference(Model):
    """A difference between two campaigns. `what` is a key of the definition; `variants.*` stands for every pair."""

    what: str
    a: str
    b: str


class EnvironmentDifference(Model):
    """A fact that differs between the campaigns' hosts or JVMs, or that was stated differently for imports.

    `variants`: ids of A; empty for all variants.
    """

    fact: str
    variants: tuple[str, ...]
    a: str
    b: str


class VariantPair(Model):
    """A variant of campaign A and the variant of B that it is compared with."""

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
    other differences between the definitions. `capacities`: of the pairs that have any, which a stage with loads from
    an earlier one has not. `tests`: the worst interval of each repeat of B's variant, ranked within
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
    pairs = variant_pairs(a.definition, b.definition, pairing or {})
    cells_a, cells_b = cell_results(a), cell_results(b)
    found_a = {one.variant: one for one in told_capacities(a, cells_a)}
    found_b = {one.variant: one for one in told_capacities(b, cells_b)}
    return SideBySide(
        pairs=pairs,
        incomparable=incomparable(a.definition, b.definition, pairs),
        differences=tuple(_named_differences(a.definition, b.definition, pairs)),
        only_a=_others(a.definition, [pair.a for pair in pairs]),
        only_b=_others(b.definition, [pair.b for pair in pairs]),
        capacities=tuple(
            _capacities(pair, found_a.get(pair.a), found_b.get(pair.b)) for pair in pairs if found_a or found_b
        ),
        loads=tuple(_loads(pairs, cells_a, cells_b)),
        tests=_tests(pairs, cells_a, cells_b),
    )


def environment_differences(
    pairs: Sequence[VariantPair], a: Mapping[str, Mapping[str, str]], b: Mapping[str, Mapping[str, str]]
) -> tuple[EnvironmentDifference, ...]:
    """Facts that differ between the variants of pairs; `a` and `b` hold each variant's facts, by its id.

    Facts that differ alike for all pairs are named once. A pair is left out where nothing is known of one of them.
    """
    known = [(pair.a, a[pair.a], b[pair.b]) for pair in pairs if a[pair.a] and b[pair.b]]
    return tuple(
        EnvironmentDifference(
            fact=fact, variants=() if len(variants) == len(pairs) else tuple(variants), a=value_a, b=value_b
        )
        for (fact, value_a, value_b), variants in _unlike_in(known).items()
    )


def variant_pairs(a: Definition, b: Definition, pairing: Mapping[str, str]) -> tuple[VariantPair, ...]:
    """The pairs of variants in A's order: those that `pairing` names, else those with the same id."""
    ids_b = {variant.id for variant in b.variants}
    wanted = {**{one.id: one.id for one in a.variants if one.id not in pairing.values()}, **pairing}
    return tuple(
        VariantPair(a=one.id, b=wanted[one.id]) for one in a.variants if one.id in wanted and wanted[one.id] in ids_b
    )


def incomparable(a: Definition, b: Definition, pairs: Sequence[VariantPair]) -> tuple[Difference, ...]:
    """The differences in what the campaigns asked or measured, and pairs of variants of two products."""
    asked = (one for one in _differ(_facts(a), _facts(b)) if _is_below(one.what, _MUST_BE_EQUAL))
    return (*asked, *_variants_differ(a, b, pairs, _product))


def _named_differences(a: Definition, b: Definition, pairs: Sequence[VariantPair]) -> Iterator[Difference]:
    for one in _differ(_facts(a), _facts(b)):
        if _is_below(one.what, _NAMED) and not _is_below(one.what, _MUST_BE_EQUAL):
            yield one
    yield from _variants_differ(a, b, pairs, _variant_facts)


def _variants_differ(
    a: Definition, b: Definition, pairs: Sequence[VariantPair], facts_of: Callable[[Definition, str], dict[str, str]]
) -> Iterator[Difference]:
    """Facts that differ between the variants of pairs. If all pairs differ alike in a fact, it is told once."""
    facts = [(pair.a, facts_of(a, pair.a), facts_of(b, pair.b)) for pair in pairs]
    for (fact, value_a, value_b), variants in _unlike_in(facts).items():
        for name in ["*"] if 1 < len(variants) == len(pairs) else variants:
            yield Difference(what=f"variants.{name}.{fact}", a=value_a, b=value_b)


def _unlike_in(
    pairs: Iterable[tuple[str, Mapping[str, str], Mapping[str, str]]],
) -> Mapping[tuple[str, str, str], Sequence[str]]:
    """Each fact that differs, with both its values, and the names of the pairs that differ so.

    A pair is its name, the facts of A's variant, and the facts of B's.
    """
    seen: dict[tuple[str, str, str], list[str]] = {}
    for name, facts_a, facts_b in pairs:
        for difference in unlike(facts_a, facts_b, ABSENT):
            seen.setdefault(difference, []).append(name)
    return seen


def _facts(definition: Definition) -> dict[str, str]:
    """What a definition says of all variants. What it says of databases belongs to the facts of each variant."""
    content = definition.model_dump(mode="json", exclude={"variants", "system", "service_levels", "loads"})
    content["strategy"] = _strategy(content["strategy"])
    system = definition.system.model_dump(mode="json", exclude={"database", "version", "settings"})
    listed = {
        "service_levels": "; ".join(map(str, definition.service_levels)),
        "loads": ", ".join(f"{load}/s" for load in definition.loads),
    }
    return {**dict(_flat({"system": system, **content})), **listed}


def _product(definition: Definition, variant_id: str) -> dict[str, str]:
    return {"product": definition.product_of(definition.variant(variant_id))}


def _strategy(content: str | Mapping[str, Any]) -> str:
    """A strategy in one line, because each has keys of its own: `search, mode: fast, guard: 1`."""
    if isinstance(content, str):
        return content
    return ", ".join([content["name"], *(f"{key}: {value}" for key, value in content.items() if key != "name")])


def _variant_facts(definition: Definition, variant_id: str) -> dict[str, str]:
    """What the variant runs, wherever the definition says it: the variant itself, or the system."""
    variant = definition.variant(variant_id)
    own = variant.model_dump(mode="json", exclude={"id", "title", "product", "version", "settings"})
    release = {"version": definition.version_of(variant), "settings": definition.settings_of(variant)}
    return dict(_flat({**release, **own}))


def _flat(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield f"{prefix}{key}", ", ".join(map(str, value)) or ABSENT
        else:
            yield f"{prefix}{key}", ABSENT if value is None else str(value)


def _differ(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    for key, value_a, value_b in unlike(a, b, ABSENT):
        yield Difference(what=key, a=value_a, b=value_b)


def _is_below(key: str, roots: Sequence[str]) -> bool:
    return any(key == root or key.startswith(f"{root}.") for root in roots)


def _others(definition: Definition, paired: Sequence[str]) -> tuple[str, ...]:
    return tuple(variant.id for variant in definition.variants if variant.id not in paired)


def _capacities(pair: VariantPair, a: Capacity | None, b: Capacity | None) -> CapacityPair:
    firm_a, firm_b = (one.capacity_ops_s if one and one.kind == "found" else None for one in (a, b))
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
    rates = {(one.variant, one.load_ops_s): one for one in achieved(cells)}
    highest = {name: {(one.variant, one.load_ops_s): one for one in maxima(cells, name)} for name in PERCENTILES}
    sides = {}
    for variant, own in groupby(cells, key=lambda result: result.cell.variant):
        for rung in rungs_of(own):
            place = (variant, rung.load_ops_s)
            found = {name: spreads[place] for name, spreads in highest.items() if place in spreads}
            sides[place] = LoadSide(rung=rung, achieved_ops_s=rates.get(place), maxima=found)
    return sides


def _tests(pairs: Sequence[VariantPair], a: Sequence[CellResult], b: Sequence[CellResult]) -> tuple[Comparison, ...]:
    worst_a, worst_b = worst_by_load(a), worst_by_load(b)
    return conclude([compare(pair.b, pair.a, strata(worst_b, pair.b, worst_a, pair.a)) for pair in pairs])
