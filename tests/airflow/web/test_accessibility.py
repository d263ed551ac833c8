"""Every page as axe-core sees it, light, dark and on a phone; and the matrix as a screen reader tells it."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, Route, expect
from sqlalchemy import delete
from tests.airflow.web.app import CAMPAIGN, DEFINITION
from tests.airflow.web.serving import LOOKS, leave_frames_empty, phone, served, visitor, wear
from tests.fakes.installation import Installation, instant_definition
from tests.support.browser.chromium import CHROMIUM
from tests.support.campaigns.stored import store_begun, store_every_state, store_later_attempts
from tests.support.campaigns.synthetic import demo_campaign
from tests.support.suite.requirements import long, needs

from plimsoll.domain.campaign.cell import Attempt, AttemptKey
from plimsoll.report import build_report
from plimsoll.services.campaign.curating import Deletion
from plimsoll.services.store import layout

HERE = f"/plimsoll/campaigns/{CAMPAIGN}"
THEIRS = "/plimsoll/campaigns/demo-theirs"
UNREACHABLE = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const scrolls = ["auto", "scroll"].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth;
  return scrolls && one.tabIndex < 0 && !one.querySelector("a[href], button, input:not([tabindex='-1'])");
}).map((one) => one.outerHTML.slice(0, 120))"""
"""What is wider than its frame and has nothing that the Tab key stops at."""
PAGES = {
    "campaigns": "/plimsoll/",
    "no campaign fits": "/plimsoll/?text=nothing",
    "matrix": HERE,
    "matrix, asked again": f"{HERE}?started=demo%2Fruns%2Fmanual",
    "matrix, running again": "/plimsoll/campaigns/demo-again",
    "note and deletion": f"{HERE}/manage",
    "deletion interrupted": "/plimsoll/campaigns/demo-half",
    "deletion to be finished": "/plimsoll/campaigns/demo-half/manage",
    "cancel?": f"{HERE}/cancel",
    "destroy?": f"{HERE}/destroy",
    "cancelled in part": f"{THEIRS}/cancelled?run=demo%2Fruns%2Ftheirs&attempt=v2-002k-r1%2F1&more=3",
    "nothing cancelled": f"{HERE}/cancelled",
    "cell, met": f"{HERE}/cells/v1-001k-r1",
    "cell, missed": f"{HERE}/cells/v1-002k-r1",
    "cell, invalid": f"{HERE}/cells/v2-001k-r1",
    "cell, failed": f"{HERE}/cells/v2-002k-r1",
    "cell, running": f"{HERE}/cells/v3-001k-r1",
    "cell, waiting": f"{HERE}/cells/v3-002k-r1",
    "report and downloads": f"{HERE}/report",
    "report": f"{HERE}/report/page",
    "charts of a cell": f"{HERE}/cells/v1-002k-r1/attempts/1/charts",
    "no report yet": f"{THEIRS}/report",
    "nothing to compare": "/plimsoll/compare",
    "compare": f"/plimsoll/compare?a={CAMPAIGN}&b=demo-theirs",
    "not comparable": f"/plimsoll/compare?a={CAMPAIGN}&b=demo-reads",
    "compared all the same": f"/plimsoll/compare?a={CAMPAIGN}&b=demo-reads&force=true",
    "no trend yet": "/plimsoll/trend",
    "trend": "/plimsoll/trend?name=demo&by=date",
    "trend with its charts": "/plimsoll/trend/page?name=demo",
    "no such campaign": "/plimsoll/campaigns/none",
    "a bad address": "/plimsoll/campaigns/None",
    "run without a campaign": "/plimsoll/run?dag_id=demo&run_id=unopened",
}
WIDTHS = (320, 390)
"""Of phones, in pixels."""
BY_WIDTH = ("narrow", "light", "dark")
"""The looks, in the order in which a page is loaded again least often: the first is as wide as the wider phone."""
REPEATED = instant_definition("demo", variants=3, loads=2, repeats=2)
MATRIX = """
- region "Matrix of variants and loads":
  - grid "Cells":
    - rowgroup:
      - row:
        - columnheader "Variant / load, ops/s"
        - columnheader "1k"
        - columnheader "2k"
    - rowgroup:
      - row:
        - rowheader "v1"
        - gridcell:
          - checkbox "Select v1-001k-r1"
          - 'link "v1-001k-r1: met; worst interval 2.95 ms, 0.0295 times the bound; 0 of 1 interval missed;\
 achieved 1,000 ops/s of 1,000 ops/s; attempt 1 of 1"'
        - gridcell:
          - checkbox "Select v1-002k-r1"
          - 'link "v1-002k-r1: missed; worst interval 222 ms, 2.22 times the bound; 1 of 1 interval missed;\
 achieved 2,001 ops/s of 2,000 ops/s; attempt 1 of 1"'
    - rowgroup:
      - row:
        - rowheader "v2"
        - gridcell:
          - checkbox "Select v2-001k-r1"
          - 'link /^v2-001k-r1: invalid; .*; node2 was down for 40 s. Connection refused$/'
        - gridcell:
          - checkbox "Select v2-002k-r1"
          - 'link "v2-002k-r1: failed; attempt 1 of 1; cancelled by ada"'
    - rowgroup:
      - row:
        - rowheader "v3"
        - gridcell:
          - checkbox "Select v3-001k-r1"
          - 'link /^v3-001k-r1: running; achieved 990 ops.s of 1,000 ops.s; load, 5 s of load left; attempt 1 of 1$/'
        - gridcell:
          - checkbox "Select v3-002k-r1"
          - 'link "v3-002k-r1: waiting"'
"""

pytestmark = [
    needs(CHROMIUM is not None, "the browser is chromium"),
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Provide three campaigns with cells in every state, one of them with a report."""
    made = Installation(tmp_path_factory.mktemp("shown"))
    made.define(DEFINITION)
    reads = DEFINITION.model_copy(update={"workload": DEFINITION.workload.model_copy(update={"read_share": 0.9})})
    for name, definition in ((CAMPAIGN, DEFINITION), ("demo-theirs", DEFINITION), ("demo-reads", reads)):
        store_every_state(made, definition, name)
    theirs = AttemptKey(campaign_id="demo-theirs", cell_id="v3-002k-r1", attempt=1)
    begun = Attempt(key=theirs, owner="somebody", started_at=made.toolkit.clock.now(), code_version="0.1.0")
    layout.ATTEMPT.write(made.toolkit.store, theirs, begun)
    again = store_every_state(made, REPEATED, "demo-again")
    store_later_attempts(made, again, running="v1-002k-r1", cancelled="v1-001k-r1")
    store_every_state(made, DEFINITION, "demo-half")
    half = Deletion(campaign_id="demo-half", by="ada", at=made.toolkit.clock.now(), attempts=5, files=40)
    made.toolkit.store.write(layout.DELETING.key("demo-half"), half.model_dump_json().encode())
    for name, content in build_report(demo_campaign()).items():
        made.toolkit.store.write(f"{layout.REPORT_FILES.folder(CAMPAIGN)}/{name}", content)
    return made


@pytest.fixture(scope="module")
def url(airflow_app: FastAPI, shown: Installation, unopened_run: None) -> Iterator[str]:
    """Provide the address at which they are shown."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in shown.environment.items():
            environment.setenv(name, value)
        with served(airflow_app) as url:
            yield url


@pytest.fixture(scope="module")
def unopened_run(database: None) -> Iterator[None]:
    """Provide three runs of the DAG `demo` that nobody has begun, two of them of campaigns that there are."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from airflow.utils.types import DagRunType

    with create_session() as session:
        begins = datetime(2026, 1, 31, 12, tzinfo=UTC)
        for run_id, conf in (
            ("unopened", {}),
            ("manual", {"campaign_id": CAMPAIGN}),
            ("theirs", {"campaign_id": "demo-theirs"}),
        ):
            facts: dict[str, Any] = {"run_type": DagRunType.MANUAL, "state": "queued", "run_after": begins}
            session.add(DagRun(dag_id="demo", run_id=run_id, conf=conf, **facts))
    yield
    with create_session() as session:
        session.execute(delete(DagRun))


@pytest.fixture(scope="module")
def visit(browser: Browser, url: str) -> Page:
    page = visitor(browser, url, "light")
    # Nothing of a page is to be replaced while it is looked at.
    page.route("**/matrix", lambda route: route.fulfill(status=304))
    for drawn in ("**/report/page", "**/charts"):
        page.route(drawn, leave_frames_empty)
    return page


@pytest.fixture(scope="module")
def page_of(browser: Browser, url: str) -> Callable[[str | None], Page]:
    """Provide the one page of somebody with that role: a window of their own takes a second of processor time."""
    return cache(lambda role: visitor(browser, url, "light", role=role))


@pytest.fixture
def visited(page_of: Callable[[str | None], Page]) -> Iterator[Callable[..., Page]]:
    """Open somebody's page in that look.

    It is left when the test ends: an open one asks for its matrix again and again, and would keep things for the next.
    """
    used: set[Page] = set()

    def make(look: str, *, role: str | None = "user") -> Page:
        page = page_of(role)
        used.add(page)
        wear(page, LOOKS[look])
        return page

    yield make
    for page in used:
        leave(page)


@pytest.fixture(scope="module", params=PAGES.values(), ids=list(PAGES))
def loaded(request: pytest.FixtureRequest, visit: Page) -> Page:
    """Provide one of the pages, loaded once for all tests that look at it, first as it is and then with all of it
    unfolded.
    """
    wear(visit, phone(WIDTHS[0]))
    visit.goto(request.param, wait_until="networkidle")
    return visit


def put_on(page: Page, look: Mapping[str, Any]) -> None:
    """Show the page so. One with drawn charts is loaded again for another width: it draws them for what it finds."""
    if wear(page, look) and page.locator("figure.chart > script").count():
        page.reload(wait_until="networkidle")


@pytest.mark.parametrize("width", [WIDTHS[0], pytest.param(WIDTHS[1], marks=long("what fits 320 pixels fits 390"))])
def test_no_page_is_wider_than_a_phone_and_what_scrolls_can_be_scrolled_by_keyboard(loaded: Page, width: int) -> None:
    put_on(loaded, phone(width))

    assert loaded.evaluate("document.documentElement.scrollWidth") <= width
    assert loaded.evaluate(UNREACHABLE) == []


@pytest.mark.parametrize("look", BY_WIDTH)
def test_axe_finds_nothing_to_mend(loaded: Page, look: str) -> None:
    put_on(loaded, LOOKS[look])

    assert_accessible(loaded)


def test_axe_finds_nothing_to_mend_where_a_stranger_is_sent_to_log_in(visited: Callable[..., Page]) -> None:
    for look in BY_WIDTH:
        page = visited(look, role=None)
        page.goto(HERE)
        assert_accessible(page)


def test_the_page_after_cancelling_names_what_ended_and_what_goes_on(visited: Callable[..., Page]) -> None:
    page = visited("light")
    page.goto(PAGES["cancelled in part"])

    expect(page.get_by_role("heading", name="Not all of the campaign was cancelled")).to_be_visible()
    expect(page.get_by_role("link", name="demo: theirs")).to_be_visible()
    expect(page.get_by_text("attempt demo-theirs/v2-002k-r1/1")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text(re.compile("These attempts go on"))


@pytest.mark.parametrize("look", BY_WIDTH)
def test_axe_would_find_something(visit: Page, look: str) -> None:
    put_on(visit, LOOKS[look])
    visit.set_content('<html><body><img src="data:,"><p style="color: #ccc; background: #fff">pale</p></body></html>')

    found = {one["id"] for one in Axe().run(visit).response["violations"]}

    assert found >= {"image-alt", "color-contrast", "html-has-lang"}


@pytest.mark.parametrize("look", ["light", "narrow"])
def test_a_screen_reader_tells_the_matrix_by_headers_and_each_cell_in_words(
    visited: Callable[..., Page], look: str
) -> None:
    page = visited(look)
    page.goto(HERE)

    expect(page.get_by_role("region", name="Matrix of variants and loads")).to_match_aria_snapshot(MATRIX)


@pytest.fixture
def again(visited: Callable[..., Page]) -> Page:
    """Provide the matrix of three variants, two loads and two repeats."""
    page = visited("light")
    page.goto(PAGES["matrix, running again"], wait_until="networkidle")
    return page


def test_the_matrix_is_one_stop_of_the_tab_key_and_arrow_keys_go_from_cell_to_cell(again: Page) -> None:
    # One stop for the matrix, beside *Cancel* where something runs.
    stops = "[tabindex='0'], a:not([tabindex]):not(.button), input:not([tabindex])"
    assert again.locator("#live").locator(stops).count() == 1
    again.get_by_role("link", name=re.compile("^v1-001k-r1: ")).focus()

    for key, cell in (
        ("ArrowLeft", "v1-001k-r1"),
        ("ArrowUp", "v1-001k-r1"),
        ("ArrowRight", "v1-002k-r1"),
        ("ArrowRight", "v1-002k-r1"),
        ("ArrowDown", "v1-002k-r2"),
        ("ArrowDown", "v2-002k-r1"),
        ("Home", "v2-001k-r1"),
        ("End", "v2-002k-r1"),
        ("Control+End", "v3-002k-r2"),
        ("ArrowDown", "v3-002k-r2"),
        ("Control+Home", "v1-001k-r1"),
        ("ArrowDown", "v1-001k-r2"),
    ):
        again.keyboard.press(key)
        expect(again.get_by_role("link", name=re.compile(f"^{cell}: "))).to_be_focused()
    again.keyboard.press("Tab")
    assert again.evaluate("document.activeElement.closest('#live')") is None
    again.keyboard.press("Shift+Tab")
    expect(again.get_by_role("link", name=re.compile("^v1-001k-r2: "))).to_be_focused()


def test_space_selects_the_cell_and_enter_on_its_box_opens_it_instead_of_running_it_again(again: Page) -> None:
    again.get_by_role("link", name=re.compile("^v2-001k-r1: ")).focus()
    again.keyboard.press("Space")
    box = again.get_by_role("checkbox", name="Select v2-001k-r1")

    expect(box).to_be_checked()
    expect(again.get_by_text("1 selected")).to_be_visible()
    box.focus()
    again.keyboard.press("Enter")
    expect(again).to_have_url(re.compile("/cells/v2-001k-r1$"))


def test_the_cell_that_has_the_focus_keeps_it_when_the_matrix_is_shown_afresh(again: Page, shown: Installation) -> None:
    cell = again.get_by_role("link", name=re.compile("^v3-002k-r2: "))
    cell.focus()
    store_begun(
        shown.toolkit.store,
        AttemptKey(campaign_id="demo-again", cell_id="v3-002k-r2", attempt=1),
        shown.toolkit.clock.now(),
        "deploy",
    )

    expect(again.get_by_role("link", name=re.compile("^v3-002k-r2: running"))).to_be_focused()


def test_what_has_not_changed_is_left_alone_when_the_matrix_is_shown_afresh(again: Page, shown: Installation) -> None:
    """A screen reader in it, a tooltip, a selection of its text: nothing of the square is made anew."""
    again.get_by_role("checkbox", name="Select v3-001k-r1").check(force=True)
    still = again.get_by_role("link", name=re.compile("^v1-001k-r1: "))
    still.focus()
    still.evaluate("link => { link.marked = true; }")
    store_begun(
        shown.toolkit.store,
        AttemptKey(campaign_id="demo-again", cell_id="v3-001k-r1", attempt=2),
        shown.toolkit.clock.now(),
        "deploy",
    )

    expect(again.get_by_role("link", name=re.compile("^v3-001k-r1: running"))).to_be_visible()
    expect(still).to_be_focused()
    assert still.evaluate("link => link.marked")
    expect(again.get_by_role("checkbox", name="Select v3-001k-r1")).to_be_checked()


def test_sentences_above_the_matrix_are_shown_afresh_too_such_as_those_of_thresholds(again: Page) -> None:
    def told(route: Route) -> None:
        answer, table = route.fetch(), '<div class="scroll" role="region" aria-label="Matrix'
        words = "1,400 to 1,450 ops/s" if route.request.url.endswith("/matrix") else "1,000 to 2,000 ops/s"
        route.fulfill(response=answer, body=answer.text().replace(table, f"<p>v1: {words}</p>{table}"))

    here = re.compile("/demo-again(/matrix)?$")
    again.route(here, told)
    again.reload()
    expect(again.get_by_text("v1: 1,000 to 2,000 ops/s")).to_be_visible()
    still = again.get_by_role("link", name=re.compile("^v1-001k-r1: "))
    still.evaluate("link => { link.marked = true; }")

    expect(again.get_by_text("v1: 1,400 to 1,450 ops/s")).to_be_visible()
    assert still.evaluate("link => link.marked")
    again.unroute(here)


@pytest.mark.parametrize("width", [1280, 390])
def test_all_loads_have_columns_of_the_same_width_though_a_cell_runs_again(
    visited: Callable[..., Page], width: int
) -> None:
    page = visited("light")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(PAGES["matrix, running again"], wait_until="networkidle")
    heads = page.locator(".matrix thead th").all()[1:]
    assert len({round(head.bounding_box()["width"]) for head in heads}) == 1
    for square in page.locator(".square a").all():
        assert square.evaluate("link => link.scrollWidth <= link.clientWidth"), square.inner_text()


def test_cancel_asks_in_a_dialog_that_names_what_ends_and_can_be_left(again: Page) -> None:
    again.get_by_role("link", name="Cancel…").click()
    question = again.get_by_role("dialog", name="Cancel the campaign?")

    expect(question).to_contain_text("v1-002k-r1, attempt 2: load, 1 min 20 s of load left")
    expect(question.get_by_role("link", name="Let it run")).to_be_focused()
    assert_accessible(again)
    again.keyboard.press("Enter")
    expect(question).to_be_hidden()
    again.get_by_role("link", name="Cancel…").click()
    expect(question).to_be_visible()
    again.keyboard.press("Escape")
    expect(question).to_be_hidden()


def test_a_phone_shows_what_the_signs_of_the_matrix_mean(visited: Callable[..., Page]) -> None:
    page = visited("narrow")
    page.goto(HERE)

    for meaning in page.locator(".legend dd").all():
        expect(meaning).to_be_visible()


def test_a_drawn_chart_of_the_report_is_one_picture_with_a_name(visited: Callable[..., Page]) -> None:
    page = visited("light")
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
    visited: Callable[..., Page], shown: Installation
) -> None:
    page = visited("light")
    page.goto(PAGES["run without a campaign"])
    expect(page.get_by_role("status")).to_contain_text("has not created its campaign yet")

    shown.open_campaign(DEFINITION, "demo-20260131t120000")

    expect(page).to_have_url(re.compile("/plimsoll/campaigns/demo-20260131t120000$"))
    expect(page.get_by_role("link", name="v1-001k-r1: waiting")).to_be_visible()


def leave(page: Page) -> None:
    """Forget all of it but who looks."""
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.context.clear_cookies(name=re.compile("^(?!_token$)"))
    page.goto("about:blank")


def assert_accessible(page: Page) -> None:
    """Check the page with everything unfolded that is folded up at first."""
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    # Half a megabyte of script is read once in each page that is loaded.
    found = Axe("0" if page.evaluate("'axe' in window") else AXE_SCRIPT).run(page)
    assert not found.violations_count, found.generate_report()
