"""Why intervals missed: what else happened then, and how often that happens otherwise."""

from collections.abc import Mapping

from markupsafe import Markup

from plimsoll.analysis.campaign.causes import SHIFTS, CauseShare, Explained, Link, VariantCauses
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.misses import causes_by_cell
from plimsoll.report.charts.causes import causes_chart
from plimsoll.report.formatting import NOTHING, figure, p_text, percent
from plimsoll.report.sections.pauses import on_jvms
from plimsoll.report.sections.section import Section
from plimsoll.report.tables.table import Column, Sheet, Table, number
from plimsoll.report.words.misses import misses_sheet, misses_table

_WORDS: Mapping[Link, str] = {
    "linked": "linked to misses",
    "no more than chance": "no more than chance",
    "too few intervals": "too few intervals to tell",
    "not collected": "not collected",
}


def explained_table(findings: Findings) -> Table[VariantCauses]:
    """Return every variant with missed intervals, in the definition's order; shares are of all these intervals."""
    return Table(
        "Missed intervals by what is known of them",
        [one for one in findings.causes if one.explained.missed],
        [
            Column("Variant", lambda one: findings.labels[one.variant]),
            number("Missed intervals", lambda one: f"{one.explained.missed:,}"),
            number("With a cause linked to misses", lambda one: _of(one.explained.linked, one.explained), "strong"),
            number("Only with what may be chance", lambda one: _of(one.explained.coincident, one.explained)),
            number("Nothing found", lambda one: _of(one.explained.nothing, one.explained)),
            number("Not analysed", lambda one: _of(one.explained.unknown, one.explained)),
        ],
    )


def causes_table(findings: Findings) -> Table[tuple[str, CauseShare]]:
    """Return every cause that touched a missed interval, or that was not collected, for variants with misses."""
    return Table(
        "Causes of missed intervals",
        [
            (findings.labels[one.variant], share)
            for one in findings.causes
            if one.explained.missed > one.explained.unknown
            for share in one.causes
            if share.missed_with or share.link == "not collected"
        ],
        [
            Column("Variant", lambda row: row[0]),
            Column("Cause", lambda row: f"{row[1].label} ({_least(row[1])})"),
            number("In missed intervals", lambda row: _share(row[1].missed_with, row[1].missed)),
            number("In met intervals (base rate)", lambda row: _share(row[1].met_with, row[1].met)),
            number("Missed beyond chance", lambda row: percent(row[1].beyond_chance, 0)),
            number("p (Holm)", lambda row: p_text(row[1].p_holm)),
            Column("Verdict", lambda row: _verdict(row[1].link)),
        ],
    )


def causes_sheet(findings: Findings) -> Sheet:
    """Return one row per variant and cause: counts of intervals, base rate, share beyond chance, test."""
    return Sheet(
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
    )


def explained_sheet(findings: Findings) -> Sheet:
    """Return missed intervals by what is known about their causes.

    One row per variant, with an empty `cell`, and one row per cell with misses.
    """
    rows = (
        {"variant": one.variant, "cell": cell, **counts.model_dump()}
        for one in findings.causes
        for cell, counts in (("", one.explained), *one.cells.items())
    )
    return Sheet(rows, ["variant", "cell", *Explained.model_fields])


def causes_by_cell_sheet(findings: Findings) -> Sheet:
    """Return one row per cell with misses and per cause that touched one of these.

    `link` is the result of the test over all cells of the variant.
    """
    rows = (
        (one.cell, one.label, one.missed, one.missed_with, one.link)
        for one in causes_by_cell(findings.cells, findings.causes, findings.level.bound_ms)
    )
    return Sheet(rows, ["cell", "cause", "missed_intervals", "missed_with_cause", "link"])


def _of(count: int, counts: Explained) -> str:
    return f"{percent(count / counts.missed, 0)} ({count:,})"


def _verdict(link: Link) -> str:
    return Markup("<strong>{}</strong>").format(_WORDS[link]) if link == "linked" else _WORDS[link]


def _least(share: CauseShare) -> str:
    return f"≥ {percent(share.least, 0)}" if share.unit == "share" else f"≥ {figure(share.least)} {share.unit}"


def _share(count: int, whole: int) -> str:
    return f"{percent(count / whole, 1)} of {whole:,}" if whole else NOTHING


WHY = Section(
    "why",
    "Why it missed",
    tables={
        "explained": explained_table,
        "causes": causes_table,
        "misses": lambda findings: misses_table(findings.misses, findings.level),
    },
    context=lambda findings: {"on_jvms": on_jvms(findings), "shifts": SHIFTS},
    charts=causes_chart,
    sheets={
        "causes": causes_sheet,
        "causes-by-cell": causes_by_cell_sheet,
        "explained": explained_sheet,
        "worst-misses": misses_sheet,
    },
)
