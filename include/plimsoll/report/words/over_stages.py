"""The answer of a whole campaign with several stages or workloads, and the stages that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.analysis.campaign.contradictions import Contradiction
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.formatting import ops, plural
from plimsoll.report.tables.table import PlainTable, plain

_STANDS = {True: "the miss counts", False: "both stand: the stages have different service levels"}


def miss_in_words(one: Contradiction) -> str:
    """Return the miss in another stage: `1 of 2 repeats missed at 50 ops/s in stage half`."""
    return f"{one.missed} of {plural(one.repeats, 'repeat')} missed at {ops(one.load_ops_s)} in stage {one.stage}"


def fall(label: str, capacity: Capacity) -> str:
    """Explain why the capacity of a stage is not that of the campaign, as a sentence."""
    misses = " and ".join(map(miss_in_words, capacity.falls_by))
    return f"Over the whole campaign {label} does not carry {ops(capacity.capacity_ops_s)}: {misses}."


def contradictions_table(measured: Sequence[Findings]) -> PlainTable:
    """Return each stage's capacity with each miss at this load or a lower one in another stage, and what follows."""
    rows = (
        (
            _name(found, one),
            f"{ops(one.capacity_ops_s)} in stage {one.stage}",
            miss_in_words(miss),
            _STANDS[miss.counts],
        )
        for found in measured
        for one in found.capacities
        for miss in one.contradicted_by
    )
    return plain("Stages that contradict each other", {"Variant": "", "Found": "", "But": "", "So": ""}, rows)


def _name(found: Findings, one: Capacity) -> str:
    return ", ".join(filter(None, (found.labels[one.variant], one.workload)))
