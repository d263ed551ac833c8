"""What the report says of a judged time that begins with warm-up's backlog."""

from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from tests.support.campaigns.outcomes import campaign_of
from tests.unit.report.pages import rows_of

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.domain.attempt.result import OpeningBacklog
from plimsoll.report.document import report_document
from plimsoll.report.sections.achieved import achieved_chart, rates_table
from plimsoll.report.sections.cells import cells_sheet, cells_table
from plimsoll.report.words.environment_facts import environment
from plimsoll.report.words.misses import achieved_remark

BACKLOG = OpeningBacklog(in_flight=100, unsent=650, seconds=3.75)
NONE = OpeningBacklog(in_flight=2, unsent=0, seconds=0.01)


def findings(backlog: OpeningBacklog | None, share: float) -> Findings:
    """Return one cell at 200 ops/s that achieved that share of it, then one at 400 ops/s, achieved in full."""
    data = campaign_of({"a": {200: "m", 400: "m"}})
    first, other = sorted(data.attempts, key=lambda one: one.verdict.cell.load_ops_s)
    changes = {"opening_backlog": backlog, "achieved_ops_s": 200 * share}
    return analyse(replace(data, attempts=(replace(first, verdict=first.verdict.model_copy(update=changes)), other)))


@pytest.mark.parametrize(
    ("backlog", "share", "remark"),
    [
        (BACKLOG, 1.06, "106.0 % of attempted: it began with 3.75 s of warm-up's load (750 operations) to answer"),
        (BACKLOG, 1.0, "it began with 3.75 s of warm-up's load (750 operations) to answer"),
        (NONE, 1.0, ""),
        (NONE, 1.009, ""),
        (NONE, 1.06, "106.0 % of attempted: more was answered than came due"),
        (None, 1.06, "106.0 % of attempted: its backlog at the start is not known"),
        (None, 1.0, ""),
        (None, 0.4, ""),
    ],
)
def test_an_achieved_rate_is_remarked_on_where_it_is_not_all_its_own(backlog: Any, share: float, remark: str) -> None:
    row, _ = rows_of(cells_table(findings(backlog, share)))
    below = row["Achieved"].partition("<br><small>")[2].removesuffix("</small>")
    assert unescape(below) == remark


def test_nothing_is_said_of_an_attempt_without_a_rate() -> None:
    found = findings(None, 1.0)
    verdict = found.cells[0].verdict
    assert verdict
    assert achieved_remark(verdict.model_copy(update={"achieved_ops_s": None}), found.level) == ""
    batches = verdict.model_copy(update={"achieved_ops_s": None, "rows_s": 102_000.4})
    assert achieved_remark(batches, found.level) == "102,000 rows/s"


def test_tables_chart_and_document_flag_the_cell() -> None:
    found = findings(BACKLOG, 1.06)
    assert ["backlog" in row["Rate"] for row in rows_of(rates_table(found))] == [True, False]
    row = cells_sheet(found).frame().iloc[0]
    assert (row["opening_backlog_operations"], row["opening_backlog_s"]) == (750, 3.75)
    (chart,) = achieved_chart(found)
    assert chart.caption.endswith("Judged time began with such a backlog in 1 cell: a-00200-r1.")
    cell, _ = report_document(found, environment(found)).cells
    assert (cell.begins_with_backlog, cell.opening_backlog) == (True, BACKLOG)


def test_where_nothing_is_known_nothing_is_claimed() -> None:
    found = findings(None, 1.06)
    assert ["backlog" in row["Rate"] for row in rows_of(rates_table(found))] == [False, False]
    assert cells_sheet(found).frame()[["opening_backlog_operations", "opening_backlog_s"]].isna().all(axis=None)
    assert "backlog" not in achieved_chart(found)[0].caption
    cell, _ = report_document(found, environment(found)).cells
    assert (cell.begins_with_backlog, cell.opening_backlog) == (False, None)
