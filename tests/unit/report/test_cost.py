"""What hosts have cost, in every part of the report; nothing of it where they cost nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.unit.report.pages import page_of

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cost import Entry, Spending
from plimsoll.domain.keys.trigger import Approval
from plimsoll.report.charts.theme import Figure
from plimsoll.report.document import report_document
from plimsoll.report.page import summary_markdown
from plimsoll.report.sections.cells import cells_sheet
from plimsoll.report.words.capacities import capacity_rows
from plimsoll.report.words.environment_facts import environment
from plimsoll.report.words.header import header_facts

SOURCE = "price table of 2026-07-20 (on demand)"


def entry(data: CampaignData, cell_id: str, attempt: int, usd: float) -> Entry:
    key = AttemptKey(campaign_id=data.campaign_id, cell_id=cell_id, attempt=attempt)
    return Entry(key=key, usd=usd, final=True)


@pytest.fixture(scope="module")
def paid(patchy: Findings) -> CampaignData:
    """Provide a cell that took two attempts, and one that took one."""
    data = patchy.data
    entries = (
        entry(data, "prime-020k-r1", 1, 1.5),
        entry(data, "prime-020k-r1", 2, 5.25),
        entry(data, "prime-060k-r1", 1, 5.0),
    )
    spending = Spending(entries=entries, prices=(SOURCE,), estimated_usd=62.04, budget_usd=100, node_usd_per_hour=0.576)
    return replace(data, spending=spending)


@pytest.fixture(scope="module")
def found(paid: CampaignData) -> Findings:
    return analyse(paid)


def test_the_document_has_the_sum_the_prices_and_each_cells_share(found: Findings) -> None:
    document = report_document(found, environment(found))
    assert document.cost is not None
    assert (document.cost.usd, document.cost.estimated_usd, document.cost.budget_usd) == (11.75, 62.04, 100)
    assert document.cost.prices == (SOURCE,)
    shares = {cell.id: cell.usd for cell in document.cells if cell.usd is not None}
    assert shares == {"prime-020k-r1": 6.75, "prime-060k-r1": 5.0}


def test_where_a_host_has_no_known_price_the_cost_is_the_least(
    paid: CampaignData, patchy_figures: Sequence[Figure]
) -> None:
    spending = paid.spending
    assert spending is not None
    entries = (*spending.entries[:2], spending.entries[2].model_copy(update={"is_least": True}))
    found = analyse(replace(paid, spending=spending.model_copy(update={"entries": entries})))
    assert "at least 11.75 USD" in page_of(found, patchy_figures)
    assert "≥ 5.00 USD" in page_of(found, patchy_figures)  # the cell's own
    assert "Cost of the hosts: at least 11.75 USD" in summary_markdown(found)
    document = report_document(found, environment(found))
    assert document.cost is not None
    assert document.cost.is_least


def test_the_header_and_the_document_say_who_approved_the_cost(
    paid: CampaignData, found: Findings, patchy_figures: Sequence[Figure]
) -> None:
    at = datetime(2026, 1, 31, 12, tzinfo=UTC)
    approvals = (Approval(by="<b>ada</b>", at=at, usd=62.04), Approval(by="bob", at=at, usd=None))
    approved = replace(found, data=replace(paid, approvals=approvals))
    words = "approved by <b>ada</b>, 2026-01-31 12:00 UTC, for at most 62.04 USD; approved by bob, 2026-01-31 12:00 UTC"
    assert header_facts(approved)["Approved"].startswith(words)
    assert "&lt;b&gt;ada" in page_of(approved, patchy_figures)
    assert "<b>ada" not in page_of(approved, patchy_figures)
    assert report_document(approved, environment(approved)).approvals == approvals
    assert "approvals" not in report_document(found, environment(found)).model_dump()
    assert "Approved" not in header_facts(found)


def test_the_answer_has_the_price_of_the_nodes_for_a_load(
    paid: CampaignData, found: Findings, patchy_figures: Sequence[Figure]
) -> None:
    """Three nodes carry 20,000 ops/s: six would carry 40,000, and 60,000 take more. Farther nothing is extrapolated."""
    rows = capacity_rows(found)
    assert rows[1].nodes == "more than 6, more than 3.456 USD an hour"
    unknown = paid.spending.model_copy(update={"node_usd_per_hour": None}) if paid.spending else None
    assert capacity_rows(analyse(replace(paid, spending=unknown)))[1].nodes == "more than 6"
    assert "at 0.576 USD an hour each" in page_of(found, patchy_figures)


def test_idle_time_of_kept_hosts_is_named_where_there_was_some(
    paid: CampaignData, found: Findings, patchy_figures: Sequence[Figure]
) -> None:
    assert paid.spending is not None
    assert "idle time" not in page_of(found, patchy_figures)
    idle = entry(paid, "hosts", 1, 2.5).model_copy(update={"idle": True})
    findings = analyse(replace(paid, spending=paid.spending.model_copy(update={"idle": (idle,)})))
    assert "2.50 USD are idle time of hosts that were kept" in page_of(findings, patchy_figures)
    document = report_document(findings, environment(findings))
    assert document.cost is not None
    assert (document.cost.usd, document.cost.idle_usd) == (14.25, 2.5)


def test_the_table_of_cells_has_each_share(found: Findings) -> None:
    frame = cells_sheet(found).frame().set_index("cell")
    assert frame.loc["prime-020k-r1", "usd"] == 6.75
    assert frame["usd"].notna().sum() == 2


def test_page_and_summary_tell_it(found: Findings, patchy_figures: Sequence[Figure]) -> None:
    page = page_of(found, patchy_figures)
    assert "The hosts of 3 attempts have cost <strong>11.75 USD</strong>" in page
    assert "waiting and populating: 62.04 USD. The budget was 100.00 USD." in page
    assert f"Prices: {SOURCE}." in page
    assert '<td class="number">6.75 USD</td>' in page
    assert "Cost of the hosts: 11.75 USD (planned for every cell once: 62.04 USD;" in summary_markdown(found)


def test_where_hosts_cost_nothing_nothing_is_said(patchy: Findings, patchy_figures: Sequence[Figure]) -> None:
    page = page_of(patchy, patchy_figures)
    assert 'id="cost"' not in page
    assert "USD" not in page
    assert report_document(patchy, environment(patchy)).cost is None
    assert "USD" not in summary_markdown(patchy)
