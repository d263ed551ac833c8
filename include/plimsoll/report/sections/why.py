"""Why intervals missed: what else happened then, and how often that happens otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.campaign.causes import SHIFTS, CauseShare, Explained, Link, VariantCauses
from plimsoll.analysis.campaign.causes_by_cell import causes_by_cell
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.causes import causes_chart
from plimsoll.report.formatting import NOTHING, figure, p_text, percent
from plimsoll.report.misses import miss_rows, misses_frame
from plimsoll.report.sections.pauses import on_jvms
from plimsoll.report.sections.section import Section

if TYPE_CHECKING:
    import pandas as pd

_WORDS: Mapping[Link, str] = {
    "linked": "linked to misses",
    "no more than chance": "no more than chance",
    "too few intervals": "too few intervals to tell",
    "not collected": "not collected",
}


@dataclass(frozen=True)
class ExplainedRow:
    """One variant's missed intervals, as text; shares are of all its missed intervals."""

    variant: str
    missed: str
    linked: str
    coincident: str
    nothing: str
    unknown: str
    any_missed: bool


@dataclass(frozen=True)
class CauseRow:
    """One cause of one variant, as text."""

    variant: str
    cause: str
    missed: str
    base_rate: str
    beyond_chance: str
    p_holm: str
    link: str
    linked: bool


def explained_rows(findings: Findings) -> tuple[ExplainedRow, ...]:
    """Return a row for every variant, in the definition's order."""
    return tuple(_explained_row(findings, one) for one in findings.causes)


def cause_rows(findings: Findings) -> tuple[CauseRow, ...]:
    """Return every cause that touched a missed interval, or that was not collected, for variants with misses."""
    return tuple(
        _cause_row(findings, one.variant, share)
        for one in findings.causes
        if one.explained.missed > one.explained.unknown
        for share in one.causes
        if share.missed_with or share.link == "not collected"
    )


def causes_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per variant and cause: counts of intervals, base rate, share beyond chance, test."""
    import pandas as pd

    rows = [
        {
            "variant": one.variant,
            "cause": share.label,
            "missed_intervals": share.missed,
            "missed_with_cause": share.missed_with,
            "met_intervals": share.met,
            "met_with_cause": share.met_with,
            "beyond_chance": share.beyond_chance,
            "p_value": share.p_value,
            "p_holm": share.p_holm,
            "link": share.link,
        }
        for one in findings.causes
        for share in one.causes
    ]
    return pd.DataFrame(rows)


def explained_frame(findings: Findings) -> pd.DataFrame:
    """Return missed intervals by what is known about their causes.

    One row per variant, with an empty `cell`, and one row per cell with misses.
    """
    import pandas as pd

    rows = [
        {"variant": one.variant, "cell": cell, **counts.model_dump()}
        for one in findings.causes
        for cell, counts in (("", one.explained), *one.cells.items())
    ]
    return pd.DataFrame(rows, columns=["variant", "cell", *Explained.model_fields])


def causes_by_cell_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per cell with misses and per cause that touched one of these.

    `link` is the result of the test over all cells of the variant.
    """
    import pandas as pd

    rows = [
        (one.cell, one.label, one.missed, one.missed_with, one.link)
        for one in causes_by_cell(findings.cells, findings.causes, findings.level.bound_ms)
    ]
    return pd.DataFrame(rows, columns=["cell", "cause", "missed_intervals", "missed_with_cause", "link"])


def _context(findings: Findings) -> Mapping[str, Any]:
    return {
        "on_jvms": on_jvms(findings),
        "explained_rows": explained_rows(findings),
        "cause_rows": cause_rows(findings),
        "misses": miss_rows(findings.misses),
        "shifts": SHIFTS,
    }


def _explained_row(findings: Findings, one: VariantCauses) -> ExplainedRow:
    counts = one.explained
    return ExplainedRow(
        variant=findings.labels[one.variant],
        missed=f"{counts.missed:,}",
        linked=_of(counts.linked, counts),
        coincident=_of(counts.coincident, counts),
        nothing=_of(counts.nothing, counts),
        unknown=_of(counts.unknown, counts),
        any_missed=counts.missed > 0,
    )


def _of(count: int, counts: Explained) -> str:
    return f"{percent(count / counts.missed, 0)} ({count:,})" if counts.missed else NOTHING


def _cause_row(findings: Findings, variant: str, share: CauseShare) -> CauseRow:
    return CauseRow(
        variant=findings.labels[variant],
        cause=f"{share.label} ({_least(share)})",
        missed=_share(share.missed_with, share.missed),
        base_rate=_share(share.met_with, share.met),
        beyond_chance=percent(share.beyond_chance, 0),
        p_holm=p_text(share.p_holm),
        link=_WORDS[share.link],
        linked=share.link == "linked",
    )


def _least(share: CauseShare) -> str:
    return f"≥ {percent(share.least, 0)}" if share.unit == "share" else f"≥ {figure(share.least)} {share.unit}"


def _share(count: int, whole: int) -> str:
    return f"{percent(count / whole, 1)} of {whole:,}" if whole else NOTHING


WHY = Section(
    "why",
    "Why it missed",
    context=_context,
    charts=causes_chart,
    tables={
        "causes": causes_frame,
        "causes-by-cell": causes_by_cell_frame,
        "explained": explained_frame,
        "worst-misses": misses_frame,
    },
)
