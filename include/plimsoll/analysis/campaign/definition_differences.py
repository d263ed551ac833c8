"""Compare the definitions of two campaigns, and find differences that forbid comparing their figures. Pure.

Misses in other stages of a campaign that contradict the capacity which one stage found.

Capacity is the highest load at which every repeat is met, with all lower loads too. So a repeat of the same variant and
workload that missed at this load or a lower one, in any other stage, counts against it, whichever stage ran first and
whatever its timing. A stage with other service levels, or with another action, asks another question: the misses of the
former are named and don't count, those of the latter say nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.base import Model

ABSENT = "(none)"
FactsOfPair = tuple[str, Mapping[str, str], Mapping[str, str]]
"""The name of a pair of variants, the facts of A's variant, and the facts of B's."""

_MUST_BE_EQUAL = (
    "service_levels",
    "timing",
    "workload",
    "action",
    "loop",
    "rate",
    "stop_when",
    "load_generator.name",
    "load_generator.hosts",
    "load_generator.threads",
    "load_generator.concurrency",
    "system.nodes",
)
"""Keys of a definition that decide what the database was asked and how it was measured. The products of each pair of
variants must be equal too.
"""

_NAMED = (
    "system",
    "load_generator",
    "provider",
    "loads",
    "repeats",
    "control",
    "cluster_scope",
    "strategy",
    "canary",
    "disturbance",
    "wait_for_calm",
)
"""Further keys that may differ, and are named where they do; the rest (titles, schedules, budgets) measures nothing."""


class Difference(Model):
    """A difference between two campaigns. `what` is a key of the definition; `variants.*` stands for every pair."""

    what: str
    a: str
    b: str


class VariantPair(Model):
    """A variant of campaign A and the variant of B that it is compared with."""

    a: str
    b: str


def incomparable(a: CampaignData, b: CampaignData, pairs: Sequence[VariantPair]) -> tuple[Difference, ...]:
    """Return the differences in what the campaigns asked or measured, and pairs of variants of two products."""
    products = _variants_differ(a, b, pairs, lambda part, name: {"product": part.product_of(part.variant(name))})
    return (*differing(asked_facts(a), asked_facts(b)), *products)


def asked_facts(data: CampaignData) -> dict[str, str]:
    """Return what decides what the database was asked and how it was measured: figures compare where all are equal."""
    return {key: value for key, value in _facts(data.part_definition).items() if _is_below(key, _MUST_BE_EQUAL)}


def named_differences(a: CampaignData, b: CampaignData, pairs: Sequence[VariantPair]) -> Iterator[Difference]:
    """Yield the other differences between the definitions that say something about the measurement."""
    for difference in differing(_facts(a.part_definition), _facts(b.part_definition)):
        if _is_below(difference.what, _NAMED) and not _is_below(difference.what, _MUST_BE_EQUAL):
            yield difference
    yield from _variants_differ(a, b, pairs, _variant_facts)


def defined_facts(data: CampaignData, variant: str) -> dict[str, str]:
    """Return what the definition says of a variant's measurement and campaigns with equal questions may differ in."""
    named = {key: value for key, value in _facts(data.part_definition).items() if _is_below(key, _NAMED)}
    return {**named, **_variant_facts(data.part, variant)}


def _variants_differ(
    a: CampaignData, b: CampaignData, pairs: Sequence[VariantPair], facts_of: Callable[[Part, str], dict[str, str]]
) -> Iterator[Difference]:
    return differing_variants([(pair.a, facts_of(a.part, pair.a), facts_of(b.part, pair.b)) for pair in pairs])


def differing_variants(pairs: Sequence[FactsOfPair]) -> Iterator[Difference]:
    """Yield facts that differ between the variants of pairs. If all pairs differ alike in a fact, it comes once."""
    for (fact, value_a, value_b), variants in unlike_in(pairs).items():
        for name in ["*"] if 1 < len(variants) == len(pairs) else variants:
            yield Difference(what=f"variants.{name}.{fact}", a=value_a, b=value_b)


def unlike_in(pairs: Iterable[FactsOfPair]) -> Mapping[tuple[str, str, str], Sequence[str]]:
    """Return each fact that differs, with both its values, and the names of the pairs that differ so."""
    return grouped(
        ((difference.what, difference.a, difference.b), name)
        for name, facts_a, facts_b in pairs
        for difference in differing(facts_a, facts_b)
    )


def _facts(definition: Definition) -> dict[str, str]:
    """Return the facts of a definition that hold for all variants. Facts about databases belong to each variant."""
    if action := definition.action:
        same = action.without_defaults(definition.timing, definition.system.nodes)
        definition = definition.model_copy(update={"action": same})
    content = definition.model_dump(mode="json", exclude={"variants", "system", "service_levels", "loads"})
    content |= {key: _in_one_line(content[key]) for key in ("strategy", "action") if content.get(key)}
    system = definition.system.model_dump(mode="json", exclude={"database", "version", "settings"})
    listed = {
        "service_levels": "; ".join(map(str, definition.service_levels)),
        "loads": ", ".join(f"{load}/s" for load in definition.loads),
        "loop": definition.loop,
        "stop_when": "; ".join(map(str, definition.stop_when)) or ABSENT,
    }
    return {**dict(_flat({"system": system, **content})), **listed}


def _in_one_line(content: str | Mapping[str, Any]) -> str:
    """Return a strategy or an action in one line, as each has keys of its own: `search, mode: fast, guard: 1`."""
    if isinstance(content, str):
        return content
    return ", ".join([content["name"], *(f"{key}: {value}" for key, value in content.items() if key != "name")])


def _variant_facts(part: Part, variant_id: str) -> dict[str, str]:
    """Return the facts of the system that a variant runs, as the variant or the definition's `system` declares."""
    variant = part.variant(variant_id)
    own = variant.model_dump(mode="json", exclude={"id", "title", "product", "version", "settings"})
    release = {"version": part.version_of(variant), "settings": part.settings_of(variant)}
    return dict(_flat({**release, **own}))


def _flat(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield f"{prefix}{key}", ", ".join(map(str, value)) or ABSENT
        else:
            yield f"{prefix}{key}", ABSENT if value is None else str(value)


def differing(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    """Yield the facts that are not equal: those of A in order, then further ones of B."""
    for fact in dict.fromkeys([*a, *b]):
        value_a, value_b = a.get(fact, ABSENT), b.get(fact, ABSENT)
        if value_a != value_b:
            yield Difference(what=fact, a=value_a, b=value_b)


def _is_below(key: str, roots: Sequence[str]) -> bool:
    return any(key == root or key.startswith(f"{root}.") for root in roots)


class Contradiction(Model):
    """The lowest load at which a variant missed in another stage, though one stage found that it carries more."""

    stage: Annotated[str, Field(description="Id of the other stage")]
    load_ops_s: Annotated[int, Field(description="No higher than the capacity that it contradicts, ops/s")]
    missed: Annotated[int, Field(description="Repeats that missed there")]
    repeats: Annotated[int, Field(description="Repeats that the other stage asks for")]
    counts: Annotated[
        bool, Field(description="Whether the capacity falls by it: false where the stage has other service levels")
    ]


def contradictions(
    variant: str, capacity_ops_s: int | None, data: CampaignData, others: Iterable[CampaignData]
) -> tuple[Contradiction, ...]:
    """Return a variant's misses in `others`, data of other stages, that contradict a capacity: the lowest of each."""
    if not capacity_ops_s:
        return ()
    asked = (other for other in others if other.part.tells_capacity)
    alike = (other for other in asked if other.part.action == data.part.action)
    return tuple(miss for other in alike for miss in _lowest_miss(variant, capacity_ops_s, data, other))


def _lowest_miss(variant: str, capacity: int, data: CampaignData, other: CampaignData) -> Iterator[Contradiction]:
    cells = [result for result in other.state.cells if result.cell.variant == variant]
    missed = [result.cell.load_ops_s for result in cells if result.outcome == "missed"]
    lowest = min(missed, default=capacity + 1)
    if lowest <= capacity:
        yield Contradiction(
            stage=other.part.stage,
            load_ops_s=lowest,
            missed=missed.count(lowest),
            repeats=sum(result.cell.load_ops_s == lowest for result in cells),
            counts=other.part.service_levels == data.part.service_levels,
        )
