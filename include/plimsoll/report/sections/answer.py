"""The answer: the capacity of each variant, what it rests on, and the comparison with the control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.attempt.few_operations import decided_by_few
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.statistics import Comparison, Conclusion, are_few
from plimsoll.domain.protocols import OWN, protocol_of
from plimsoll.domain.provenance import IMPORTED
from plimsoll.report.answers import capacity_rows, loads_line, sentence, step_sentence
from plimsoll.report.formatting import NOTHING, figure, multiple, p_text, plural
from plimsoll.report.left_out import how_cells_were_chosen, left_out_rows, what_was_run
from plimsoll.report.sections.section import Section
from plimsoll.report.sections.validity import validity
from plimsoll.report.stages import rests_on
from plimsoll.report.taken_load import shows_rates, taken_rows, taken_sentences

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.campaign.capacity import Capacity
    from plimsoll.analysis.campaign.half_load import HalfLoad
    from plimsoll.domain.definition import Definition

_WORDS: Mapping[Conclusion, str] = {
    "higher": "worse: its worst intervals are higher",
    "lower": "better: its worst intervals are lower",
    "no difference shown": "no difference shown",
    "too few repeats": "these repeats cannot show a difference",
}


@dataclass(frozen=True)
class ComparisonRow:
    """The comparison of one variant with the control, as text."""

    variant: str
    loads: str
    ratio: str
    superiority: str
    p_value: str
    p_holm: str
    conclusion: str
    compared: bool


def answer_context(findings: Findings) -> dict[str, Any]:
    """Return the values that the section and the summary show."""
    rows = capacity_rows(findings)
    return {
        "validity": validity(findings),
        "rows": rows,
        "sentences": sentences(findings),
        "at_taken_load": findings.data.is_at_a_load,
        "taken": taken_rows(findings),
        "shows_rates": shows_rates(findings.data),
        "loads_rest_on": _loads_rest_on(findings),
        "step_sentence": step_sentence(findings),
        "loads_line": loads_line(rows),
        "few_operations": tuple(decided_by_few(findings.definition)),
        "shows_nodes": _shows_nodes(findings.definition),
        "left_out_rows": left_out_rows(findings),
        "what_was_run": what_was_run(findings),
        "how_cells_were_chosen": how_cells_were_chosen(findings),
        "comparisons": comparison_rows(findings),
    }


def sentences(findings: Findings) -> tuple[str, ...]:
    """Return the capacity of each variant in a sentence; of a part that takes its load from a stage, the result
    at it.
    """
    return taken_sentences(findings) or tuple(sentence(findings, capacity) for capacity in findings.capacities)


def _shows_nodes(definition: Definition) -> bool:
    """Tell whether numbers of nodes may be extrapolated: from three repeats or more, of more than one node, which
    Plimsoll itself has made of a database that it knows.
    """
    is_deployed = not definition.provider.is_external and definition.provider.name != IMPORTED
    is_known = all(protocol_of(product) != OWN for product in definition.products)
    return not are_few(definition.repeats) and definition.system.nodes > 1 and is_deployed and is_known


def _loads_rest_on(findings: Findings) -> tuple[str, ...]:
    part = findings.data.of_part
    return tuple(rests_on(part, findings.source)) if part else ()


def comparison_rows(findings: Findings) -> tuple[ComparisonRow, ...]:
    """Return a row for every variant but the control, in the definition's order; empty without a control."""
    return tuple(_comparison_row(findings, one) for one in findings.comparisons)


def capacity_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per variant; loads in ops/s. Without rows where the load is taken from a stage."""
    import pandas as pd

    whole = ["capacity_ops_s", "repeats_met", "next_load_ops_s", "next_load_missed"]
    real = ["half_load_ops_s", "half_load_low_ops_s", "half_load_high_ops_s"]
    columns = ["variant", "kind", *whole, "pass_probability_bound", *real, "ratio_to_control", "narrowing_ops_s"]
    table = pd.DataFrame(map(_capacity_record, findings.capacities), columns=columns)
    return table.astype(dict.fromkeys(whole, "Int64") | dict.fromkeys(real, "float64"))


def comparisons_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per variant that was compared with the control."""
    import pandas as pd

    return pd.DataFrame([{**one.model_dump(), "loads": " ".join(map(str, one.loads))} for one in findings.comparisons])


def _comparison_row(findings: Findings, one: Comparison) -> ComparisonRow:
    return ComparisonRow(
        variant=findings.labels[one.variant],
        loads=plural(len(one.loads), "load"),
        ratio=multiple(one.ratio),
        superiority=NOTHING if one.superiority is None else figure(round(one.superiority, 3)),
        p_value=p_text(one.p_value),
        p_holm=p_text(one.p_holm),
        conclusion=_WORDS[one.conclusion],
        compared=bool(one.loads),
    )


def _capacity_record(one: Capacity) -> dict[str, object]:
    return {
        "variant": one.variant,
        "kind": one.kind,
        "capacity_ops_s": one.capacity_ops_s,
        "repeats_met": one.at_capacity.met if one.at_capacity else None,
        "next_load_ops_s": one.next_load.load_ops_s if one.next_load else None,
        "next_load_missed": one.next_load.missed if one.next_load else None,
        "pass_probability_bound": one.pass_probability_bound,
        **_half_load(one.half_load),
        "ratio_to_control": one.ratio_to_control,
        "narrowing_ops_s": " ".join(map(str, one.narrowing_ops_s)),
    }


def _half_load(one: HalfLoad | None) -> dict[str, float | None]:
    return {
        "half_load_ops_s": one.ops_s if one else None,
        "half_load_low_ops_s": one.low_ops_s if one else None,
        "half_load_high_ops_s": one.high_ops_s if one else None,
    }


ANSWER = Section(
    "answer",
    "Answer",
    context=answer_context,
    tables={"capacity": capacity_frame, "comparisons": comparisons_frame},
)
