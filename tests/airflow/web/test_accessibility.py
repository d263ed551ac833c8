"""Every page as axe-core sees it, light, dark and on a phone; and the matrix as a screen reader tells it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import delete
from tests.airflow.web.conftest import CAMPAIGN, DEFINITION
from tests.airflow.web.serving import LOOKS, served, visitor
from tests.browser import CHROMIUM, running_browser
from tests.campaign_store import store_every_state
from tests.fakes.installation import Installation
from tests.lacking import needs
from tests.synthetic import demo_campaign

from plimsoll.report import build_report
from plimsoll.services import layout

HERE = f"/plimsoll/campaigns/{CAMPAIGN}"
PAGES = {
    "campaigns": "/plimsoll/",
    "no campaign fits": "/plimsoll/?text=nothing",
    "matrix": HERE,
    "matrix, asked again": f"{HERE}?started=demo%2Fruns%2Fmanual",
    "cell, met": f"{HERE}/cells/v1-001k-r1",
    "cell, missed": f"{HERE}/cells/v1-002k-r1",
    "cell, invalid": f"{HERE}/cells/v2-001k-r1",
    "cell, failed": f"{HERE}/cells/v2-002k-r1",
    "cell, running": f"{HERE}/cells/v3-001k-r1",
    "cell, waiting": f"{HERE}/cells/v3-002k-r1",
    "report and downloads": f"{HERE}/report",
    "report": f"{HERE}/report/page",
    "no report yet": "/plimsoll/campaigns/demo-theirs/report",
    "nothing to compare": "/plimsoll/compare",
    "compare": f"/plimsoll/compare?a={CAMPAIGN}&b=demo-theirs",
    "not comparable": f"/plimsoll/compare?a={CAMPAIGN}&b=demo-reads",
    "compared all the same": f"/plimsoll/compare?a={CAMPAIGN}&b=demo-reads&force=true",
    "no such campaign": "/plimsoll/campaigns/none",
    "a bad address": "/plimsoll/campaigns/None",
    "run without a campaign": "/plimsoll/run?dag_id=demo&run_id=unopened",
}
MATRIX = """
- region "Matrix of variants and loads":
  - table:
    - rowgroup:
      - row:
        - columnheader "Variant / load, ops/s"
        - columnheader "1k"
        - columnheader "2k"
    - rowgroup:
      - row:
        - rowheader "v1"
        - cell:
          - checkbox "Select v1-001k-r1"
          - 'link "v1-001k-r1: met; worst interval 2.95 ms, 0.0295 times the bound; 0 of 1 intervals missed;\
 achieved 1,000 ops/s of 1,000 ops/s; attempt 1 of 1"'
        - cell:
          - checkbox "Select v1-002k-r1"
          - 'link "v1-002k-r1: missed; worst interval 222 ms, 2.22 times the bound; 1 of 1 intervals missed;\
 achieved 2,001 ops/s of 2,000 ops/s; attempt 1 of 1"'
      - row:
        - rowheader "v2"
        - cell:
          - checkbox "Select v2-001k-r1"
          - 'link /^v2-001k-r1: invalid; .*; node2 was down for 40 s. Connection refused$/'
        - cell:
          - checkbox "Select v2-002k-r1"
          - 'link "v2-002k-r1: failed; attempt 1 of 1; cancelled by ada"'
      - row:
        - rowheader "v3"
        - cell:
          - checkbox "Select v3-001k-r1"
          - 'link /^v3-001k-r1: running; achieved 990 ops.s of 1,000 ops.s; load, 5 s of load left; attempt 1 of 1$/'
        - cell:
          - checkbox "Select v3-002k-r1"
          - 'link "v3-002k-r1: waiting"'
"""

pytestmark = [
    needs(CHROMIUM is not None, "the browser is chromium"),
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Three campaigns with cells in every state, one of them with a report."""
    made = Installation(tmp_path_factory.mktemp("shown"))
    made.define(DEFINITION)
    reads = DEFINITION.model_copy(update={"workload": DEFINITION.workload.model_copy(update={"read_share": 0.9})})
    for name, definition in ((CAMPAIGN, DEFINITION), ("demo-theirs", DEFINITION), ("demo-reads", reads)):
        store_every_state(made, definition, name)
    for name, content in build_report(demo_campaign()).files.items():
        made.toolkit.store.write(f"{layout.report_prefix(CAMPAIGN)}/{name}", content)
    return made


@pytest.fixture(scope="module")
def url(airflow_app: FastAPI, shown: Installation, unopened_run: None) -> Iterator[str]:
    """Where they are shown."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in shown.environment.items():
            environment.setenv(name, value)
        with served(airflow_app) as url:
            yield url


@pytest.fixture(scope="module")
def unopened_run(database: None) -> Iterator[None]:
    """A run of the DAG `demo` that nobody has begun."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from airflow.utils.types import DagRunType

    with create_session() as session:
        begins = datetime(2026, 1, 31, 12, tzinfo=UTC)
        session.add(
            DagRun(dag_id="demo", run_id="unopened", run_type=DagRunType.MANUAL, state="queued", run_after=begins)
        )
    yield
    with create_session() as session:
        session.execute(delete(DagRun))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module", params=LOOKS)
def visit(request: pytest.FixtureRequest, browser: Browser, url: str) -> Page:
    page = visitor(browser, url, request.param)
    # Nothing of a page is to be replaced while it is looked at.
    page.route("**/matrix", lambda route: route.fulfill(status=304))
    return page


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_axe_finds_nothing_to_mend(visit: Page, path: str) -> None:
    visit.goto(path, wait_until="networkidle")

    assert_accessible(visit)


def test_axe_finds_nothing_to_mend_where_a_stranger_is_sent_to_log_in(browser: Browser, url: str) -> None:
    for look in LOOKS:
        page = visitor(browser, url, look, role=None)
        page.goto(HERE)
        assert_accessible(page)


def test_axe_would_find_something(visit: Page) -> None:
    visit.set_content('<html><body><img src="data:,"><p style="color: #ccc; background: #fff">pale</p></body></html>')

    found = {one["id"] for one in Axe().run(visit).response["violations"]}

    assert found >= {"image-alt", "color-contrast", "html-has-lang"}


@pytest.mark.parametrize("look", ["light", "narrow"])
def test_a_screen_reader_tells_the_matrix_by_headers_and_each_cell_in_words(
    browser: Browser, url: str, look: str
) -> None:
    page = visitor(browser, url, look)
    page.goto(HERE)

    expect(page.get_by_role("region", name="Matrix of variants and loads")).to_match_aria_snapshot(MATRIX)


def test_a_drawn_chart_of_the_report_is_one_picture_with_a_name(browser: Browser, url: str) -> None:
    page = visitor(browser, url, "light")
    page.goto(f"{HERE}/report/page", wait_until="networkidle")
    chart = page.locator("#chart-heat-map")
    expect(chart.locator("svg")).to_be_visible()

    expect(chart).to_match_aria_snapshot(
        """
        - figure "How far from the bound":
            - img "How far from the bound"
        """
    )


def test_the_tab_of_a_run_turns_into_its_campaign_once_that_is_open(
    browser: Browser, url: str, shown: Installation
) -> None:
    page = visitor(browser, url, "light")
    page.goto(PAGES["run without a campaign"])
    expect(page.get_by_role("status")).to_contain_text("has not opened its campaign yet")

    shown.open_campaign(DEFINITION, "demo-20260131t120000")

    expect(page).to_have_url(re.compile("/plimsoll/campaigns/demo-20260131t120000$"))
    expect(page.get_by_role("link", name="v1-001k-r1: waiting")).to_be_visible()


def assert_accessible(page: Page) -> None:
    """With everything unfolded that is folded up at first."""
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = Axe().run(page)
    assert not found.violations_count, found.generate_report()
