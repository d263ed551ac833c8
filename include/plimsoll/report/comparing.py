"""The comparison with the control in words."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.analysis.statistics import Comparison, Conclusion
from plimsoll.report.findings import Findings
from plimsoll.report.words import NOTHING, figure, multiple, p_text, plural

_SAID: Mapping[Conclusion, str] = {
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


def comparison_rows(findings: Findings) -> tuple[ComparisonRow, ...]:
    """A row for every variant but the control, in the definition's order; empty without a control."""
    return tuple(_row(findings, one) for one in findings.comparisons)


def _row(findings: Findings, one: Comparison) -> ComparisonRow:
    return ComparisonRow(
        variant=findings.labels[one.variant],
        loads=plural(len(one.loads), "load"),
        ratio=multiple(one.ratio),
        superiority=NOTHING if one.superiority is None else figure(round(one.superiority, 3)),
        p_value=p_text(one.p_value),
        p_holm=p_text(one.p_holm),
        conclusion=_SAID[one.conclusion],
        compared=bool(one.loads),
    )
