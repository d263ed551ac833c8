"""The report as a mailed file: its charts are there with scripts off, and when it is printed at once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect
from tests.support.browser.chromium import CHROMIUM, new_page
from tests.support.campaigns.synthetic import demo_campaign, with_log_lines
from tests.support.suite.requirements import needs

from plimsoll.report import build_report

pytestmark = [needs(CHROMIUM is not None, "the browser is chromium")]
SEEN = """(figures) => figures.map((figure) => {
  const picture = figure.querySelector(".canvas svg, .canvas img, .canvas canvas");
  const box = picture?.getBoundingClientRect();
  return [figure.id, picture && picture.checkVisibility() ? Math.min(box.width, box.height) : 0];
})"""
"""Of each figure its id and the shorter side of its picture, in pixels."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("mailed") / "report.html"
    file.write_bytes(build_report(with_log_lines(demo_campaign()))["report.html"])
    return file


@pytest.fixture(scope="module")
def page_with(browser: Browser) -> Callable[[bool], Page]:
    """Provide the one page with scripts on or off: a window of their own takes a second of processor time."""
    size: ViewportSize = {"width": 1000, "height": 1400}
    return cache(lambda scripts: new_page(browser, java_script_enabled=scripts, viewport=size))


@pytest.fixture
def opened(page_with: Callable[[bool], Page], report: Path) -> Callable[..., Page]:
    """Provide the report in a browser, as it is when it has been loaded."""

    def open_(*, scripts: bool, media: Literal["screen", "print"]) -> Page:
        page = page_with(scripts)
        page.goto("about:blank")  # or a link to a place in the report would be followed within what is there
        page.emulate_media(media=media)
        page.goto(report.as_uri())
        return page

    return open_


@pytest.mark.parametrize("media", ["screen", "print"])
def test_every_chart_is_seen_with_scripts_off(opened: Callable[..., Page], media: str) -> None:
    page = opened(scripts=False, media=media)
    folded = page.locator("details:not([open]) > summary")
    while folded.count():
        folded.first.click()
    assert page.locator("figure.chart").count() > 5
    for figure in page.locator("figure.chart").all():
        picture = figure.locator(".canvas svg, .canvas img").first
        box = picture.bounding_box()
        assert box, figure.get_attribute("id")
        assert min(box["width"], box["height"]) > 40, figure.get_attribute("id")


def test_every_chart_is_printed_at_once(opened: Callable[..., Page]) -> None:
    """Before a script has drawn those further down."""
    page = opened(scripts=True, media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    missing = [name for name, size in page.locator("figure.chart").evaluate_all(SEEN) if size <= 40]
    assert missing == []
    assert len(page.pdf()) > 100_000
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert Axe().run(page).violations_count == 0


def test_from_a_missed_interval_to_its_log_lines_and_back_by_keyboard(opened: Callable[..., Page]) -> None:
    page = opened(scripts=True, media="screen")
    link = page.locator("#tracks .links a").first
    link.focus()
    page.keyboard.press("Enter")
    row = page.locator(f"[id='{(link.get_attribute('href') or '')[1:]}']")
    expect(row).to_be_focused()
    expect(row).to_be_in_viewport()
    expect(row.locator("pre")).to_be_visible()
    page.go_back()
    expect(link).to_be_in_viewport()


def test_from_a_missed_interval_in_a_chart_to_its_log_lines(opened: Callable[..., Page]) -> None:
    page = opened(scripts=True, media="screen")
    for chart in ("tracks", "timelines"):
        points = page.locator(f"#{chart} .canvas.vega-embed g[class*=links] > path")
        page.locator(f"#{chart} figure").first.scroll_into_view_if_needed()
        expect(points.first).to_be_attached()
        points.first.click(force=True)
        page.wait_for_function("location.hash.startsWith('#miss-')")
        expect(page.locator(":target pre")).to_be_visible()
        page.evaluate("history.replaceState(null, '', location.pathname)")


def test_without_scripts_the_links_lead_there_too(opened: Callable[..., Page]) -> None:
    page = opened(scripts=False, media="screen")
    page.locator("#tracks .links a").first.click()
    expect(page.locator(":target .prose")).to_be_in_viewport()
