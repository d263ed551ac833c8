"""Compare two campaigns part by part, where one of them has several parts.

A part is a workload in a stage. It is judged and reported like a campaign of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import data_of_parts
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.report.compare.campaigns import CampaignComparison, compare_campaigns, place_of_both, wrong_pairs


class ComparedCampaign(Model):
    """One of the two campaigns. `only`: its parts without a counterpart in the other, which are not compared."""

    campaign_id: str
    title: str
    only: Annotated[tuple[str, ...], Field(description="Parts that the other campaign has no counterpart of")] = ()


class PartsComparison(Model):
    """The comparison of campaigns A and B, part by part. Tests are corrected within each part."""

    format: Annotated[Literal[1], Field(description="Raised when a key changes its meaning or goes")] = 1
    a: ComparedCampaign
    b: ComparedCampaign
    parts: Annotated[tuple[CampaignComparison, ...], Field(description="Of each part that both have, in A's order")]


Comparisons = CampaignComparison | PartsComparison
"""Of campaigns with one workload each, and of others."""


@dataclass(frozen=True)
class _Pair:
    """The same part in A and in B. `name`: its id; empty where neither campaign gives it one."""

    name: str
    a: CampaignData
    b: CampaignData

    def variants(self, pairing: Mapping[str, str]) -> Mapping[str, str]:
        """Return the pairs of variants that have cells in this part on both sides.

        A variant that carried nothing in an earlier stage has no cells here.
        """
        return {a: b for a, b in pairing.items() if a in _variants(self.a) and b in _variants(self.b)}


def _variants(data: CampaignData) -> set[str]:
    return {variant.id for variant in data.part.variants}


def compare_parts(
    a: CampaignData, b: CampaignData, *, pairing: Mapping[str, str] | None = None, force: bool = False
) -> Comparisons:
    """Compare campaign B with campaign A, each part with the same part of the other campaign.

    Workloads with the same id belong together, in stages with the same id. A campaign's only workload, which has no id
    in cell ids, belongs to the workload with the same content. Parts without a variant in common are not compared.
    Raises Refused as `compare_campaigns` does, each problem with the parts that have it, and where the campaigns have
    no part in common.
    """
    parts_a, parts_b = data_of_parts(a), data_of_parts(b)
    if len(parts_a) == len(parts_b) == 1:
        return compare_campaigns(parts_a[0], parts_b[0], pairing=pairing, force=force)
    where, paired = place_of_both(a, b), pairing or {}
    if wrong := list(wrong_pairs(a.campaign, b.campaign, paired)):
        raise Refused(wrong, where=where)
    same = tuple(_pairs(parts_a, parts_b))
    if not same:
        raise Refused([_nothing_in_common(parts_a, parts_b)], where=where)
    # Where no part at all has variants in common, each of them says so.
    common = (pair for pair in same if _variants(pair.a) & _variants(pair.b) or pair.variants(paired))
    pairs = tuple(common) or same
    return PartsComparison(
        a=_campaign(a, parts_a, [pair.a for pair in pairs]),
        b=_campaign(b, parts_b, [pair.b for pair in pairs]),
        parts=_compared(pairs, paired, force=force, where=where),
    )


def comparisons_of(comparisons: Comparisons) -> tuple[CampaignComparison, ...]:
    return comparisons.parts if isinstance(comparisons, PartsComparison) else (comparisons,)


def only_in_one(comparisons: Comparisons) -> Iterator[str]:
    if isinstance(comparisons, PartsComparison):
        for name, side in (("A", comparisons.a), ("B", comparisons.b)):
            if side.only:
                yield f"Only in {name}, not compared: {', '.join(side.only)}"


def _pairs(parts_a: Sequence[CampaignData], parts_b: Sequence[CampaignData]) -> Iterator[_Pair]:
    for a, b in product(parts_a, parts_b):
        key = "workload_id" if a.part.workload_id and b.part.workload_id else "workload"
        if a.part.stage == b.part.stage and getattr(a.part, key) == getattr(b.part, key):
            yield _Pair(a.part.id or b.part.id, a, b)


def _nothing_in_common(parts_a: Sequence[CampaignData], parts_b: Sequence[CampaignData]) -> Problem:
    named = (", ".join(map(_name, parts)) for parts in (parts_a, parts_b))
    what = "A has {}, B has {}: none in common".format(*named)
    mend = (
        "compare campaigns that have a workload of one `id` in a stage of one `id`, or one that asks for the same as "
        "the other's only one"
    )
    return Problem("workloads and stages", what, mend)


def _name(data: CampaignData) -> str:
    return data.part.id or f"one {data.part.workload.name} without an id"


def _compared(
    pairs: Sequence[_Pair], pairing: Mapping[str, str], *, force: bool, where: str
) -> tuple[CampaignComparison, ...]:
    """Return the comparison of each pair. Raises Refused with the problems of all pairs."""
    compared, problems = [], dict[Problem, list[str]]()
    for pair in pairs:
        try:
            comparison = compare_campaigns(pair.a, pair.b, pairing=pair.variants(pairing), force=force)
            compared.append(comparison.model_copy(update={"workload": pair.name}))
        except Refused as refusal:
            for problem in refusal.problems:
                problems.setdefault(problem, []).append(pair.name)
    if problems:
        raise Refused([_of_parts(problem, names, len(pairs)) for problem, names in problems.items()], where=where)
    return tuple(compared)


def _of_parts(problem: Problem, names: Sequence[str], pairs: int) -> Problem:
    if len(names) == pairs:
        return problem
    return Problem(f"{problem.where} of {', '.join(names)}", problem.what, problem.mend)


def _campaign(data: CampaignData, parts: Sequence[CampaignData], compared: Sequence[CampaignData]) -> ComparedCampaign:
    only = tuple(_name(part) for part in parts if part not in compared)
    return ComparedCampaign(campaign_id=data.campaign_id, title=data.definition.title, only=only)
