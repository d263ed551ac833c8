"""The comparison of two campaigns as a document: differences first, then capacities, maxima and test results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.analysis.campaign.cell_results import CampaignData, cell_results
from plimsoll.analysis.campaign.definition_differences import ABSENT, Difference, VariantPair
from plimsoll.analysis.campaign.findings import CampaignCells
from plimsoll.analysis.campaign.host_facts import noise_facts
from plimsoll.analysis.campaign.side_by_side import (
    CapacityPair,
    EnvironmentDifference,
    LoadPair,
    LoadSide,
    SideBySide,
    environment_differences,
    side_by_side,
)
from plimsoll.analysis.campaign.statistics import CONFIDENCE, Comparison, smallest_corrected_p
from plimsoll.domain.campaign.part import Setup
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.report.formatting import multiple, p_text, percent, plural
from plimsoll.report.words.answers import headline
from plimsoll.report.words.environment_facts import environment, stated_facts
from plimsoll.report.words.taken_load import outcome_at_taken_load


class CampaignSide(Model):
    """One of the two campaigns. `labels`: its variants' names by id."""

    campaign_id: str
    title: str
    service_levels: tuple[str, ...]
    repeats: int
    labels: dict[str, str]
    cells_without_fingerprint: Annotated[
        tuple[str, ...], Field(description="Cells of whose environment nothing is known")
    ] = ()


class CampaignComparison(Model):
    """The comparison of campaigns A and B. Ratios are B / A.

    Keys end with their units: `_ops_s`, `_ms`; ratios have none.
    """

    format: Annotated[Literal[1], Field(description="Raised when a key changes its meaning or goes")] = 1
    workload: Annotated[LeftOutIfEmpty[str], Field(description="Of a campaign with several workloads")] = ""
    a: CampaignSide
    b: CampaignSide
    incomparable: Annotated[
        tuple[Difference, ...],
        Field(description="What was asked, or how it was measured, differs: only `force` compares the figures then"),
    ]
    environment: tuple[EnvironmentDifference, ...]
    differences: Annotated[tuple[Difference, ...], Field(description="Further differences of the definitions")]
    only_a: Annotated[tuple[str, ...], Field(description="Variants of A that B has no counterpart of")]
    only_b: tuple[str, ...]
    answers: Annotated[
        tuple[str, ...],
        Field(description="Per variant what it carries and what stands; once what several share"),
    ]
    pairs: Annotated[tuple[VariantPair, ...], Field(description="The variants that are compared with each other")]
    capacity: Annotated[
        tuple[CapacityPair, ...],
        Field(description="By pair; empty where both campaigns take their loads from an earlier stage"),
    ]
    loads: tuple[LoadPair, ...]
    confidence: Annotated[float, Field(description="Of the tests, two-sided")] = CONFIDENCE
    tests: Annotated[
        tuple[Comparison, ...],
        Field(description="`variant` is B's, `control` A's; ranked within loads, Holm-corrected"),
    ]


def compare_campaigns(
    a: CampaignData, b: CampaignData, *, pairing: Mapping[str, str] | None = None, force: bool = False
) -> CampaignComparison:
    """Compare campaign B with campaign A. `pairing` maps ids of A's variants to ids of B's, where they differ.

    Raises Refused, with every difference named, where the campaigns did not ask or measure the same, unless `force` is
    set. Also raises Refused where they have no variant in common.
    """
    compared = side_by_side(a, b, pairing)
    _require_comparable(a, b, compared, pairing or {}, force=force)
    cells_a, cells_b = (CampaignCells(data, cell_results(data)) for data in (a, b))
    # Sampled figures stand apart from the facts, since noise is known even where no facts are.
    noise = (fact for fact in _differences(compared, cells_a, cells_b, _noise) if ABSENT not in (fact.a, fact.b))
    return CampaignComparison(
        a=_side(cells_a),
        b=_side(cells_b),
        incomparable=compared.incomparable,
        environment=(*_differences(compared, cells_a, cells_b, measured_facts), *noise),
        differences=compared.differences,
        only_a=compared.only_a,
        only_b=compared.only_b,
        answers=tuple(_answers(cells_a, cells_b, compared)),
        pairs=compared.pairs,
        capacity=compared.capacities,
        loads=compared.loads,
        tests=compared.tests,
    )


def stands(test: Comparison, comparisons: int) -> str:
    """Return the result of a test of the worst intervals, in words that claim no more than it shows.

    `comparisons` is the number of tests that were corrected together.
    """
    if not test.loads:
        return "no load has two valid repeats of both, so nothing can be said of a difference"
    if test.conclusion == "too few repeats":
        corrected = f", {p_text(smallest_corrected_p(test, comparisons))} after correction"
        smallest = f"{p_text(test.smallest_p)}{corrected if comparisons > 1 else ''}"
        return f"these repeats cannot show a difference: the smallest p value that they could have given is {smallest}"
    size = "of unknown size, as operations failed" if test.ratio is None else f"typically {multiple(test.ratio)}"
    figures = (
        f"p {p_text(test.p_holm)} over {plural(len(test.loads), 'load')}, {size}, "
        f"superiority {percent(test.superiority, 0)}"
    )
    if test.conclusion == "no difference shown":
        return f"no difference of the worst intervals is shown ({figures}), which does not show that they are alike"
    return f"B's worst intervals are {test.conclusion}, and the difference stands ({figures})"


def _require_comparable(
    a: CampaignData, b: CampaignData, compared: SideBySide, pairing: Mapping[str, str], *, force: bool
) -> None:
    problems = list(wrong_pairs(a.part, b.part, pairing))
    if not compared.pairs and not problems:
        ids_a, ids_b = (", ".join(variant.id for variant in data.part.variants) for data in (a, b))
        mend = "name which belong together: `--pair ID_IN_A=ID_IN_B`, or `pair=ID_IN_A=ID_IN_B` by REST"
        problems.append(Problem("variants", f"A has {ids_a}, B has {ids_b}: none in common", mend))
    if not force:
        mend = "compare them by force, which names it: `--force`, or `force=true` by REST"
        unlike = compared.incomparable
        problems += [Problem(fact.what, f"{fact.a} in A, {fact.b} in B", mend) for fact in unlike]
    if problems:
        raise Refused(problems, where=place_of_both(a, b))


def place_of_both(a: CampaignData, b: CampaignData) -> str:
    return f"campaigns {a.campaign_id!r} (A) and {b.campaign_id!r} (B)"


def pairing_of(pairs: Iterable[str]) -> dict[str, str]:
    """Return ids of A's variants to ids of B's from `a=b`. Raises Refused where one of A is named with several."""
    different = [(a, b) for a, _, b in (pair.partition("=") for pair in dict.fromkeys(pairs))]
    named = [a for a, _ in different]
    problems = [
        Problem(f"pair {name!r}", "names the same variant of A twice", "pair each variant once")
        for name in dict.fromkeys(named)
        if named.count(name) > 1
    ]
    if problems:
        raise Refused(problems, where="pairs of variants")
    return dict(different)


def wrong_pairs(a: Setup, b: Setup, pairing: Mapping[str, str]) -> Iterator[Problem]:
    """Yield ids in the pairing that are no variant of their campaign, or that occur twice."""
    for side, setup, ids in (("A", a, list(pairing)), ("B", b, list(pairing.values()))):
        there = [variant.id for variant in setup.variants]
        for name in dict.fromkeys(ids):
            if name not in there:
                yield Problem(f"pair {name!r}", f"{side} has no variant of that id", f"there is: {', '.join(there)}")
            if ids.count(name) > 1:
                yield Problem(f"pair {name!r}", f"names the same variant of {side} twice", "pair each variant once")


def _side(cells: CampaignCells) -> CampaignSide:
    return CampaignSide(
        campaign_id=cells.data.campaign_id,
        title=cells.part.title,
        service_levels=tuple(map(str, cells.part.service_levels)),
        repeats=cells.part.repeats,
        labels=cells.labels,
        cells_without_fingerprint=environment(cells).without_fingerprint,
    )


def _answers(a: CampaignCells, b: CampaignCells, compared: SideBySide) -> Iterator[str]:
    """Yield what each pair of variants carries and what stands of its difference; what several share is said once."""
    tested = sum(bool(test.loads) for test in compared.tests)
    remarks = [stands(test, tested) for test in compared.tests]
    sharing: dict[str, list[str]] = {}
    capacities = {capacity.variants: capacity for capacity in compared.capacities}
    for pair, remark in zip(compared.pairs, remarks, strict=True):
        label = a.labels[pair.a]
        if pair.a != pair.b or label != b.labels[pair.b]:
            label = f"{label} in A, {b.labels[pair.b]} in B"
        is_shared = remarks.count(remark) > 1
        if is_shared:
            sharing.setdefault(remark, []).append(label)
        outcomes = _outcomes(a, b, compared, pair, capacities.get(pair))
        yield f"{label}: {outcomes}{'' if is_shared else f'; {remark}'}."
    for remark, labels in sharing.items():
        yield f"{'Every variant' if len(labels) == len(compared.pairs) else '; '.join(labels)}: {remark}."


def _outcomes(
    a: CampaignCells, b: CampaignCells, compared: SideBySide, pair: VariantPair, capacity: CapacityPair | None
) -> str:
    """Say what both variants of a pair carry; where a load comes from an earlier stage, the outcome at that load."""
    loads = [load for load in compared.loads if load.variants == pair]
    of_a = _outcome("A", a, capacity.a if capacity else None, [load.a for load in loads])
    of_b = _outcome("B", b, capacity.b if capacity else None, [load.b for load in loads])
    ratio = capacity.ratio if capacity else None
    return f"{of_a}, {of_b}{f' ({multiple(ratio)} of A)' if ratio is not None else ''}"


def _outcome(side: str, cells: CampaignCells, capacity: Capacity | None, loads: Sequence[LoadSide | None]) -> str:
    if cells.part.asks == "at a load":
        return f"in {side} {outcome_at_taken_load(cells.data, [load.rung for load in loads if load])}"
    if capacity is None or capacity.kind == "unknown":
        return f"what {side} carries is unknown"
    return f"{side} carries {'not even the lowest load' if capacity.kind == 'none' else headline(capacity)}"


def measured_facts(cells: CampaignCells, variant: str) -> dict[str, str]:
    """Return the facts of a variant's environment: what its hosts reported, or what people stated of an import."""
    ran = environment(replace(cells, cells=cells.of_variant(variant)))
    # Facts with several values within the variant get all of them in one text
    several = {fact: " or ".join(sorted(places)) for fact, places in ran.by_host.items()}
    several |= {odd.fact: " or ".join(sorted({*odd.usual.values(), *odd.others})) for odd in ran.deviations}
    return {**stated_facts(cells, variant), **ran.equal, **several}


def _differences(
    compared: SideBySide, a: CampaignCells, b: CampaignCells, facts: Callable[[CampaignCells, str], dict[str, str]]
) -> tuple[EnvironmentDifference, ...]:
    of_a = {pair.a: facts(a, pair.a) for pair in compared.pairs}
    return environment_differences(compared.pairs, of_a, {pair.b: facts(b, pair.b) for pair in compared.pairs})


def _noise(cells: CampaignCells, variant: str) -> dict[str, str]:
    return noise_facts(cells.of_variant(variant), cells.part.disturbance)
