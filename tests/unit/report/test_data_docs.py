from collections.abc import Sequence
from dataclasses import replace
from posixpath import dirname, join, normpath

from tests.unit.report.pages import Elements, page_of

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.quality.engine import PAGE
from plimsoll.report.charts.theme import Figure
from plimsoll.report.document import report_document
from plimsoll.report.tables import DOCS_OF_CAMPAIGN, docs_of_attempt
from plimsoll.report.words.environment_facts import environment
from plimsoll.services.store import layout
from plimsoll.services.store.layout import report_key


def from_report(campaign_id: str, link: str) -> str:
    """Return the key that a link of the report's page leads to, as a folder or a server finds it."""
    return normpath(join(dirname(report_key(campaign_id)), link))


def test_links_lead_where_the_pages_lie_in_the_store(patchy: Findings) -> None:
    for attempt in patchy.data.attempts:
        key = attempt.verdict.key
        link = docs_of_attempt(attempt.verdict)
        assert link
        assert from_report(key.campaign_id, link) == layout.attempt_file(key, f"{layout.QUALITY}/{PAGE}")
    campaign_id = patchy.data.campaign_id
    whole = from_report(campaign_id, DOCS_OF_CAMPAIGN)
    assert whole == f"{layout.DATA_DOCS.folder(campaign_id)}/{PAGE}"


def test_the_page_links_every_attempt_that_was_checked_and_the_campaigns_page(
    patchy: Findings, patchy_figures: Sequence[Figure]
) -> None:
    elements = Elements(page_of(patchy, patchy_figures))
    links = [own["href"] for tag, own in elements.tags if tag == "a" and own["href"][:3] == "../"]
    listed = [one.verdict for one in patchy.data.attempts]
    assert set(links) == {DOCS_OF_CAMPAIGN, *(docs_of_attempt(verdict) for verdict in listed)}
    assert len(links) == len(set(links))


def test_an_attempt_that_was_not_checked_has_no_link(patchy: Findings, patchy_figures: Sequence[Figure]) -> None:
    attempts = [replace(one, verdict=one.verdict.model_copy(update={"checks": ()})) for one in patchy.data.attempts]
    unchecked = analyse(replace(patchy.data, attempts=tuple(attempts), quality=()))
    assert "quality/index.html" not in page_of(unchecked, patchy_figures)
    assert {one.data_docs for one in report_document(unchecked, environment(unchecked)).invalid} == {None}
