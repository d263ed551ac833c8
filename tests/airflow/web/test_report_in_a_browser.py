"""The report within Plimsoll's pages in a real browser, which decides by itself when it sends Airflow's cookie."""

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect
from tests.airflow.web.app import token_of
from tests.airflow.web.serving import served
from tests.fakes.installation import Installation
from tests.support.browser.chromium import CHROMIUM, PATIENCE_MS, running_browser
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.synthetic import GENERATED_AT
from tests.support.suite.requirements import needs

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import analyse, data_of_parts
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.report.overview import overview
from plimsoll.services.store import layout

MIXED = "mixed-1"
HERE = f"/plimsoll/campaigns/{MIXED}"

pytestmark = [needs(CHROMIUM is not None, "the browser is chromium")]


@pytest.fixture
def mixed(installation: Installation) -> Installation:
    """Provide a campaign with two workloads and a report, of which one workload's page has been published too."""
    workloads = [{"id": "kv", "name": "KeyValue"}, {"id": "series"}]
    definition = definition_of({"a": {10_000: "m"}}, workloads=workloads)
    attempts = tuple(attempt_of(definition, cell, 1, "m") for cell in grid(resolve(definition)))
    data = CampaignData(MIXED, definition, attempts, (), GENERATED_AT)
    installation.open_campaign(definition, MIXED)
    whole = overview(data, tuple(map(analyse, data_of_parts(data))))
    for name, content in {"report.html": whole["report.html"], "kv-report.html": b"<h1>Of kv</h1>"}.items():
        installation.toolkit.store.write(f"{layout.REPORT_FILES.folder(MIXED)}/{name}", content)
    return installation


@pytest.fixture
def page(airflow_app: FastAPI) -> Iterator[Page]:
    """Provide a page of somebody with a cookie like Airflow's."""
    with served(airflow_app) as url, running_browser() as browser:
        yield _visitor(browser, url)


def _visitor(browser: Browser, url: str) -> Page:
    context = browser.new_context(base_url=url)
    context.add_cookies([{"name": "_token", "value": token_of("viewer"), "url": url, "sameSite": "Lax"}])
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


@pytest.mark.usefixtures("mixed")
def test_the_report_of_a_part_opens_from_within_the_frame_and_from_the_page_around_it(page: Page) -> None:
    page.goto(f"{HERE}/report")
    with page.context.expect_page() as opened:
        page.frame_locator("iframe").get_by_role("link", name="The whole report of kv").click()
    expect(opened.value.get_by_role("heading", name="Of kv")).to_be_visible()

    page.get_by_role("link", name="The report of kv").click()
    expect(page.get_by_role("heading", name="Of kv")).to_be_visible()
