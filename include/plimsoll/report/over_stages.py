"""The answer of a whole campaign with several stages or workloads, and the stages that contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.report.formatting import ops, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.analysis.campaign.capacity import Capacity
    from plimsoll.analysis.campaign.contradictions import Contradiction
    from plimsoll.analysis.campaign.findings import Findings


@dataclass(frozen=True)
class ContradictionRow:
    """A stage's capacity beside a miss in another stage, and what follows."""

    variant: str
    found: str
    missed: str
    follows: str


def miss_in_words(one: Contradiction) -> str:
    """Return the miss in another stage: `1 of 2 repeats missed at 50 ops/s in stage half`."""
    return f"{one.missed} of {plural(one.repeats, 'repeat')} missed at {ops(one.load_ops_s)} in stage {one.stage}"


def fall(label: str, capacity: Capacity) -> str:
    """Explain why the capacity of a stage is not that of the campaign, as a sentence."""
    misses = " and ".join(map(miss_in_words, capacity.falls_by))
    return f"Over the whole campaign {label} does not carry {ops(capacity.capacity_ops_s)}: {misses}."


def contradiction_rows(measured: Sequence[Findings]) -> tuple[ContradictionRow, ...]:
    """Return a row for each stage's capacity and each miss at this load or a lower one in another stage."""
    return tuple(row for findings in measured for one in findings.capacities for row in _rows(findings, one))


def _rows(findings: Findings, capacity: Capacity) -> Iterator[ContradictionRow]:
    label = findings.labels[capacity.variant]
    for one in capacity.contradicted_by:
        yield ContradictionRow(
            variant=f"{label}, {capacity.workload}" if capacity.workload else label,
            found=f"{ops(capacity.capacity_ops_s)} in stage {capacity.stage}",
            missed=miss_in_words(one),
            follows="the miss counts" if one.counts else "both stand: the stages have different service levels",
        )
