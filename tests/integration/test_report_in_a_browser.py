"""The report as a mailed file: its charts are there with scripts off, and when it is printed at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tests.support.browser.chromium import CHROMIUM, running_browser
from tests.support.campaigns.synthetic import demo_campaign
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
    file.write_bytes(build_report(demo_campaign()).files["report.html"])
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


def opened(browser: Browser, report: Path, *, scripts: bool, media: str) -> Page:
    page = browser.new_context(java_script_enabled=scripts, viewport={"width": 1000, "height": 1400}).new_page()
    page.emulate_media(media=media)  # type: ignore[arg-type]
    page.goto(report.as_uri())
    return page


@pytest.mark.parametrize("media", ["screen", "print"])
def test_every_chart_is_seen_with_scripts_off(browser: Browser, report: Path, media: str) -> None:
    page = opened(browser, report, scripts=False, media=media)
    folded = page.locator("details:not([open]) > summary")
    while folded.count():
        folded.first.click()
    assert page.locator("figure.chart").count() > 5
    for figure in page.locator("figure.chart").all():
        picture = figure.locator(".canvas svg, .canvas img").first
        box = picture.bounding_box()
        assert box, figure.get_attribute("id")
        assert min(box["width"], box["height"]) > 40, figure.get_attribute("id")


def test_every_chart_is_printed_at_once(browser: Browser, report: Path) -> None:
    """Before a script has drawn those further down."""
    page = opened(browser, report, scripts=True, media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    missing = [name for name, size in page.locator("figure.chart").evaluate_all(SEEN) if size <= 40]
    assert missing == []
    assert len(page.pdf()) > 100_000
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert Axe().run(page).violations_count == 0
