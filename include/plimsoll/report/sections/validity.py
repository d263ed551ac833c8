"""Invalid attempts, those that ended without a verdict, cells that were not run, replaced attempts, and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.result import Check, Outcome
from plimsoll.report import data_docs
from plimsoll.report.origins import grouped
from plimsoll.report.sections.section import Section

if TYPE_CHECKING:
    import pandas as pd


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
class SupersededAttempt:
    """A valid attempt that a newer valid one replaced. `data_docs`: the path of its checks' page, or None."""

    cell: str
    attempt: int
    outcome: Outcome
    data_docs: str | None = None

    def __str__(self) -> str:
        """Return the text form in `report.json`."""
        return f"{self.cell} attempt {self.attempt} ({self.outcome})"


@dataclass(frozen=True)
class Validity:
    """Everything that limits how far figures can be trusted. `warnings`: text → cells with that warning."""

    invalid: tuple[InvalidAttempt, ...]
    unjudged: tuple[EndedAttempt, ...]
    not_run: tuple[str, ...]
    superseded: tuple[SupersededAttempt, ...]
    warnings: Mapping[str, tuple[str, ...]]
    campaign_checks: tuple[Check, ...]

    @property
    def open_cells(self) -> tuple[str, ...]:
        """Return cells without a valid attempt: the ones to run again."""
        return tuple(dict.fromkeys([one.cell for one in self.invalid if one.replaced_by is None] + list(self.not_run)))


def validity(findings: Findings) -> Validity:
    """Collect the limits from verdicts and checks."""
    return Validity(
        invalid=tuple(_invalid(findings)),
        unjudged=tuple(_unjudged(findings)),
        not_run=tuple(result.cell.id for result in findings.cells if result.state == "not run"),
        superseded=tuple(
            SupersededAttempt(
                result.cell.id,
                attempt.verdict.key.attempt,
                attempt.verdict.outcome,
                data_docs.of_attempt(attempt.verdict),
            )
            for result in findings.cells
            for attempt in result.superseded
        ),
        warnings=grouped(_warnings(findings)),
        campaign_checks=findings.data.quality,
    )


def invalid_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per invalid attempt; `replaced_by` is the number of the attempt that counts
    instead.
    """
    import pandas as pd

    rows = [
        (one.cell, one.attempt, "; ".join(one.reasons), one.replaced_by, one.data_docs)
        for one in validity(findings).invalid
    ]
    frame = pd.DataFrame(rows, columns=["cell", "attempt", "reasons", "replaced_by", "data_docs"])
    return frame.astype({"replaced_by": "Int64"})


def warnings_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per warning and cell with that warning."""
    import pandas as pd

    warnings = validity(findings).warnings.items()
    return pd.DataFrame([(cell, text) for text, cells in warnings for cell in cells], columns=["cell", "warning"])


def checks_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per check over the whole campaign; `result` is passed, failed, warning or not
    tested.
    """
    import pandas as pd

    columns = ["name", "result", "success", "severity", "expected", "observed"]
    rows = [{**check.model_dump(), "result": check.result} for check in findings.data.quality]
    return pd.DataFrame(rows, columns=columns)


def _context(findings: Findings) -> Mapping[str, Any]:
    return {
        "validity": validity(findings),
        "data_docs": data_docs.OF_CAMPAIGN if findings.data.quality else None,
    }


def _invalid(findings: Findings) -> Iterator[InvalidAttempt]:
    for result in findings.cells:
        counted = result.verdict.key.attempt if result.verdict else None
        for attempt in result.attempts:
            if not attempt.verdict.valid:
                number, reasons = attempt.verdict.key.attempt, attempt.verdict.reasons
                yield InvalidAttempt(result.cell.id, number, reasons, counted, data_docs.of_attempt(attempt.verdict))


def _unjudged(findings: Findings) -> Iterator[EndedAttempt]:
    for result in findings.cells:
        counted = result.verdict.key.attempt if result.verdict else None
        for key, why in findings.data.unjudged.items():
            if key.cell_id == result.cell.id:
                yield EndedAttempt(result.cell.id, key.attempt, why, counted)


def _warnings(findings: Findings) -> Iterator[tuple[str, str]]:
    for result in findings.cells:
        verdict = result.verdict
        if verdict:
            failed = [check.sentence for check in verdict.checks if not check.success and check.severity == "warning"]
            yield from ((text, result.cell.id) for text in dict.fromkeys([*verdict.warnings, *failed]))


VALIDITY = Section(
    "validity",
    "Validity",
    context=_context,
    tables={"invalid": invalid_frame, "warnings": warnings_frame, "checks": checks_frame},
    needs_load=False,
)
