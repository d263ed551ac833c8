"""A real browser for tests: the system's Chromium, driven by Playwright, and people logged in to an Airflow."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.support.airflow.stack import StackUnderTest

CHROMIUM = shutil.which("chromium")
PATIENCE_MS = 180_000
"""The longest time that a page may take to show something, ms. Whole cells may run in it, on a busy machine."""
_OFFLINE = ("--disable-background-networking", "--disable-component-update", "--disable-quic", "--disable-sync")


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Run a browser that is closed when the block ends."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # It runs without its sandbox, which root can't have. It shows only this project's pages.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", *_OFFLINE]
        )
        try:
            yield browser
        finally:
            browser.close()


def new_page(browser: Browser, **options: Any) -> Page:
    """Return a page in a browser context of its own, with the options of such a context.

    It waits as long as a test may.
    """
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


def logged_in(browser: Browser, airflow: StackUnderTest, user: str) -> Page:
    """Return a page in a browser context of this user, after the login of SimpleAuthManager.

    It shows Plimsoll's campaigns, which send strangers to log in. A page of Airflow takes seconds of processor time.
    """
    page = _page(browser, airflow)
    page.goto("/plimsoll/")
    page.get_by_role("link", name="Log in to Airflow").click()
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password").fill(_password(airflow, user))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Campaigns", exact=True)).to_be_visible()
    return page


def let_in(browser: Browser, airflow: StackUnderTest, user: str) -> Page:
    """Return a page like that of `logged_in`, without the form, which takes seconds of processor time."""
    page = _page(browser, airflow)
    login = {"username": user, "password": _password(airflow, user)}
    token = page.request.post("/auth/token", data=login, timeout=PATIENCE_MS).json()["access_token"]
    page.context.add_cookies([{"name": "_token", "value": token, "url": airflow.running.url}])
    return page


def _page(browser: Browser, airflow: StackUnderTest) -> Page:
    return new_page(browser, base_url=airflow.running.url, viewport={"width": 1400, "height": 900})


def _password(airflow: StackUnderTest, user: str) -> str:
    return str(json.loads(airflow.stack.home.passwords.read_text())[user])
