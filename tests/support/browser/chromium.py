"""A real browser for tests: the system's Chromium, driven by Playwright, and people logged in to an Airflow."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.support.airflow.stack import StackUnderTest

CHROMIUM = shutil.which("chromium")
PATIENCE_MS = 180_000
"""How long to wait for what a page is to show: whole cells run meanwhile, on a busy machine."""
_OFFLINE = ("--disable-background-networking", "--disable-component-update", "--disable-quic", "--disable-sync")


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Closed when the block ends."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # Without its sandbox: root may not have one, and it shows pages of our own alone.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", *_OFFLINE]
        )
        try:
            yield browser
        finally:
            browser.close()


def logged_in(browser: Browser, airflow: StackUnderTest, user: str) -> Page:
    """A page of a user's own browser, after SimpleAuthManager's login."""
    page = browser.new_context(base_url=airflow.running.url, viewport={"width": 1400, "height": 900}).new_page()
    page.set_default_timeout(PATIENCE_MS)
    password = json.loads(airflow.stack.home.passwords.read_text())[user]
    page.goto("/")
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Dags").first).to_be_visible()
    return page
