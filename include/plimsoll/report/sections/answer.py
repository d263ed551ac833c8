"""The answer: the capacity of each variant, what it rests on, and the comparison with the control."""

from collections.abc import Mapping
from typing import Any

from plimsoll.analysis.attempt.few_operations import decided_by_few
from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.left_out import LeftOut
from plimsoll.analysis.campaign.statistics import Comparison, Conclusion, are_few
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.keys.system import IMPORTED
from plimsoll.domain.keys.workload import OWN, protocol_of
from plimsoll.report.formatting import NOTHING, figure, multiple, p_text, plural
from plimsoll.report.sections import Section
from plimsoll.report.sections.validity import validity
from plimsoll.report.tables import Column, Sheet, Table, number
from plimsoll.report.words.answers import sentence, step_sentence
from plimsoll.report.words.capacities import capacities_table, capacity_rows, loads_line
from plimsoll.report.words.stages import how_cells_were_chosen, rests_on, what_was_run
from plimsoll.report.words.taken_load import taken_sentences, taken_tables

_WORDS: Mapping[Conclusion, str] = {
    "higher": "worse: its worst intervals are higher",
    "lower": "better: its worst intervals are lower",
    "no difference shown": "no difference shown",
    "too few repeats": "these repeats cannot show a difference",
}


def answer_context(findings: Findings, *, brief: bool = False) -> dict[str, Any]:
    """Return the values that the section and the summary show. `brief`: the tables as the summary has them."""
    rows, shows_nodes = capacity_rows(findings), _shows_nodes(findings.part)
    return {
        "validity": validity(findings),
        "rows": rows,
        "capacities": capacities_table(rows, nodes_for=findings.loads[-1] if shows_nodes and not brief else None),
        "sentences": sentences(findings),
        "at_taken_load": findings.part.asks == "at a load",
        "taken": taken_tables(findings),
        "loads_rest_on": tuple(rests_on(findings.part, findings.source)),
        "step_sentence": step_sentence(findings),
        "asks_threshold": isinstance(findings.part.strategy, Threshold),
        "loads_line": loads_line(rows),
        "few_operations": tuple(decided_by_few([findings.part])),
        "shows_nodes": shows_nodes,
        "left_out": left_out_table(findings),
        "what_was_run": what_was_run(findings),
        "how_cells_were_chosen": how_cells_were_chosen(findings),
        "comparisons": comparisons_table(findings, brief=brief),
    }


def sentences(findings: Findings) -> tuple[str, ...]:
    """Return the capacity of each variant in a sentence, or its result at the load that a stage gave."""
    return taken_sentences(findings) or tuple(sentence(findings, capacity) for capacity in findings.capacities)


def _shows_nodes(part: Part) -> bool:
    """Tell whether numbers of nodes may be extrapolated: from three repeats or more, of more than one node, which
    Plimsoll itself has made of a database that it knows.
    """
    is_deployed = "nodes" in part.knows and part.provider.name != IMPORTED
    is_known = all(protocol_of(product) != OWN for product in part.products)
    return not are_few(part.repeats) and part.system.nodes > 1 and is_deployed and is_known


def comparisons_table(findings: Findings, *, brief: bool = False) -> Table[Comparison]:
    """Return every variant but the control, in the definition's order; without rows where there is no control.

    `brief`: as the summary has it.
    """
    return Table(
        "Comparison with the control",
        findings.comparisons,
        Column("Variant", lambda row: findings.labels[row.variant]),
        number("Worst interval / control's", lambda row: multiple(row.ratio)),
        number("Superiority", lambda row: NOTHING if row.superiority is None else figure(round(row.superiority, 3))),
        number("p", lambda row: p_text(row.p_value), shown=not brief),
        number("p (Holm)", lambda row: p_text(row.p_holm)),
        Column("Over", lambda row: plural(len(row.loads), "load"), shown=not brief),
        Column(
            "Conclusion" if brief else f"Against {findings.labels.get(str(findings.part.control))}",
            lambda row: _WORDS[row.conclusion],
            "" if brief else "strong",
        ),
    )


def left_out_table(findings: Findings) -> Table[LeftOut]:
    """Return how many cells of each variant ran, will run or need not run, and which outcomes decided that.

    Without rows for a full grid.
    """
    return Table(
        "What was run and what was left out",
        findings.left_out,
        Column("Variant", lambda row: findings.labels[row.variant]),
        number("Cells run", lambda row: f"{row.run} of {row.run + row.missing + row.not_needed}"),
        number("May still run", lambda row: row.missing),
        number("Not needed", lambda row: row.not_needed),
        Column(
            "Decided by: cells spared",
            lambda row: ", ".join(f"{by.cell} ({by.outcome}): {by.spared}" for by in row.decided_by) or NOTHING,
        ),
    )


def capacity_sheet(findings: Findings) -> Sheet:
    """Return one row per variant; loads in ops/s. Without rows where the load is taken from a stage."""
    whole = ["capacity_ops_s", "repeats_met", "next_load_ops_s", "next_load_missed"]
    real = ["threshold_ops_s", "threshold_low_ops_s", "threshold_high_ops_s"]
    columns = ["variant", "kind", *whole, "pass_probability_bound", *real, "ratio_to_control", "narrowing_ops_s"]
    types = dict.fromkeys(whole, "Int64") | dict.fromkeys(real, "float64")
    return Sheet(map(_capacity_record, findings.capacities), columns, types)


def comparisons_sheet(findings: Findings) -> Sheet:
    """Return one row per variant that was compared with the control."""
    return Sheet(
        {**comparison.model_dump(), "loads": " ".join(map(str, comparison.loads))}
        for comparison in findings.comparisons
    )


def _capacity_record(capacity: Capacity) -> dict[str, object]:
    at, following, threshold = capacity.at_capacity, capacity.next_load, capacity.threshold
    return {
        "variant": capacity.variant,
        "kind": capacity.kind,
        "capacity_ops_s": capacity.capacity_ops_s,
        "repeats_met": at.met if at else None,
        "next_load_ops_s": following.load_ops_s if following else None,
        "next_load_missed": following.missed if following else None,
        "pass_probability_bound": capacity.pass_probability_bound,
        **{f"threshold_{name}": getattr(threshold, name, None) for name in ("ops_s", "low_ops_s", "high_ops_s")},
        "ratio_to_control": capacity.ratio_to_control,
        "narrowing_ops_s": " ".join(map(str, capacity.narrowing_ops_s)),
    }


ANSWER = Section(
    "answer", "Answer", context=answer_context, sheets={"capacity": capacity_sheet, "comparisons": comparisons_sheet}
)
