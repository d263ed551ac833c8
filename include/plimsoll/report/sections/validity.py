"""Invalid attempts, those that ended without a verdict, cells that were not run, replaced attempts, and warnings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from markupsafe import Markup

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.attempt.result import Check
from plimsoll.report.formatting import listing
from plimsoll.report.sections import Section
from plimsoll.report.tables import DOCS_OF_CAMPAIGN, PlainTable, Sheet, bad, docs_link, docs_of_attempt, lines, plain

_OF_ATTEMPTS = {"Cell": "", "Attempt": "", "Why": "prose", "Now": ""}


@dataclass(frozen=True)
class InvalidAttempt:
    """An attempt whose measurement was not sound. `replaced_by` is the number of the attempt that counts instead.

    `data_docs`: the path of its checks' page, relative to the report; None where no check was made.
    """

    cell: str
    attempt: int
    reasons: tuple[str, ...]
    replaced_by: int | None
    data_docs: str | None = None


@dataclass(frozen=True)
class EndedAttempt:
    """An attempt without a verdict. `replaced_by` is the number of the attempt that counts instead."""

    cell: str
    attempt: int
    why: str
    replaced_by: int | None


@dataclass(frozen=True)
class Validity:
    """Everything that limits how far figures can be trusted.

    `superseded`: valid attempts that a newer valid one replaced, in words, each with the path of its checks' page.
    `warnings`: text → cells with that warning.
    """

    invalid: tuple[InvalidAttempt, ...]
    unjudged: tuple[EndedAttempt, ...]
    not_run: tuple[str, ...]
    superseded: tuple[tuple[str, str | None], ...]
    warnings: Mapping[str, tuple[str, ...]]
    campaign_checks: tuple[Check, ...]

    @property
    def open_cells(self) -> tuple[str, ...]:
        """Return cells without a valid attempt: the ones to run again."""
        invalid = [attempt.cell for attempt in self.invalid if attempt.replaced_by is None]
        return tuple(dict.fromkeys([*invalid, *self.not_run]))


def validity(findings: Findings) -> Validity:
    counting = {result.cell.id: result.verdict.key.attempt if result.verdict else None for result in findings.cells}
    verdicts = (attempt.verdict for result in findings.cells for attempt in result.attempts)
    replaced = (attempt.verdict for result in findings.cells for attempt in result.superseded)
    return Validity(
        invalid=tuple(
            InvalidAttempt(
                own.key.cell_id, own.key.attempt, own.reasons, counting[own.key.cell_id], docs_of_attempt(own)
            )
            for own in verdicts
            if not own.valid
        ),
        unjudged=tuple(
            EndedAttempt(cell, key.attempt, why, counted)
            for cell, counted in counting.items()
            for key, why in findings.data.unjudged.items()
            if key.cell_id == cell
        ),
        not_run=tuple(result.cell.id for result in findings.cells if result.state == "not run"),
        superseded=tuple(
            (f"{own.key.cell_id} attempt {own.key.attempt} ({own.outcome})", docs_of_attempt(own)) for own in replaced
        ),
        warnings=grouped(_warnings(findings)),
        campaign_checks=findings.data.quality,
    )


def invalid_sheet(findings: Findings) -> Sheet:
    """Return one row per invalid attempt; `replaced_by` is the number of the attempt that counts instead."""
    rows = (
        (attempt.cell, attempt.attempt, "; ".join(attempt.reasons), attempt.replaced_by, attempt.data_docs)
        for attempt in validity(findings).invalid
    )
    return Sheet(rows, ["cell", "attempt", "reasons", "replaced_by", "data_docs"], {"replaced_by": "Int64"})


def warnings_sheet(findings: Findings) -> Sheet:
    """Return one row per warning and cell with that warning."""
    warnings = validity(findings).warnings.items()
    return Sheet(((cell, text) for text, cells in warnings for cell in cells), ["cell", "warning"])


def checks_sheet(findings: Findings) -> Sheet:
    """Return one row per check over the whole campaign; `result` is passed, failed, warning or not tested."""
    rows = ({**check.model_dump(), "result": check.result} for check in findings.data.quality)
    return Sheet(rows, ["name", "result", "success", "severity", "expected", "observed"])


def invalid_table(limits: Validity) -> PlainTable:
    rows = (
        (attempt.cell, docs_link(attempt.attempt, attempt.data_docs), _why(attempt.reasons), _now(attempt.replaced_by))
        for attempt in limits.invalid
    )
    return plain("Invalid attempts", _OF_ATTEMPTS, rows)


def unjudged_table(limits: Validity) -> PlainTable:
    rows = ((ended.cell, ended.attempt, lines(ended.why), _now(ended.replaced_by)) for ended in limits.unjudged)
    return plain("Attempts without a verdict", _OF_ATTEMPTS, rows)


def warnings_table(limits: Validity) -> PlainTable:
    headings = {"Warning": "prose", "Cells": "number", "Which": "prose"}
    rows = ((lines(text), len(cells), listing(cells)) for text, cells in limits.warnings.items())
    return plain("Warnings", headings, rows, naming=None)


def checks_table(limits: Validity) -> PlainTable:
    headings = {"Check": "", "Result": "", "Expected": "prose", "Observed": "prose"}
    results = ((check, check.result if check.success else bad(check.result)) for check in limits.campaign_checks)
    rows = ((check.name, result, check.expected, check.observed) for check, result in results)
    return plain("Checks over the whole campaign", headings, rows)


def _why(reasons: Sequence[str]) -> str:
    """Return the reasons, each that has several lines on its own."""
    ends = [Markup("<br>") if "\n" in reason else "; " for reason in reasons[:-1]]
    text = Markup("").join(lines(reason) + end for reason, end in zip_longest(reasons, ends, fillvalue=""))
    return text or "no reason was stored"


def _now(replaced_by: int | None) -> str:
    return f"attempt {replaced_by} counts" if replaced_by else bad("no valid attempt")


def _context(findings: Findings) -> Mapping[str, Any]:
    limits = validity(findings)
    return {
        "validity": limits,
        "invalid": invalid_table(limits),
        "unjudged": unjudged_table(limits),
        "warnings": warnings_table(limits),
        "checks": checks_table(limits),
        "superseded": [docs_link(attempt, data_docs) for attempt, data_docs in limits.superseded],
        "docs_link": docs_link("another page", DOCS_OF_CAMPAIGN) if findings.data.quality else "",
    }


def _warnings(findings: Findings) -> Iterator[tuple[str, str]]:
    for result in findings.cells:
        if verdict := result.verdict:
            failed = [check.sentence for check in verdict.checks if not check.success and check.severity == "warning"]
            yield from ((text, result.cell.id) for text in dict.fromkeys([*verdict.warnings, *failed]))


VALIDITY = Section(
    "validity",
    "Validity",
    context=_context,
    sheets={"invalid": invalid_sheet, "warnings": warnings_sheet, "checks": checks_sheet},
    needs=frozenset(),
)
