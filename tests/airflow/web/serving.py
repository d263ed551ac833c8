"""The app behind a real server, for browsers: of a user who may trigger DAGs, in light, dark or on a phone."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, Route
from tests.airflow.web.app import token_of
from tests.support.browser.chromium import new_page
from tests.support.processes import until

LOOKS: Mapping[str, Any] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1200, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1200, "height": 900}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """Provide the server's URL, on a free port of loopback; gone when the block ends."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, ws="none", log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started or not thread.is_alive(), "the server to listen", patience_s=60)
        (listening,) = server.servers[0].sockets
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def visitor(browser: Browser, url: str, look: str, *, role: str | None = "user") -> Page:
    """Return a page of somebody with that role, or of a stranger.

    Tools may look into it whatever the pages' policy says.
    """
    page = new_page(browser, base_url=url, bypass_csp=True, **LOOKS[look])
    if role:
        page.context.add_cookies([{"name": "_token", "value": token_of(role), "url": url}])
    return page


def phone(width: int) -> Mapping[str, Any]:
    """Return the look of a page on a phone of that width, in pixels."""
    return {"color_scheme": "light", "viewport": {"width": width, "height": 700}}


def wear(page: Page, look: Mapping[str, Any]) -> bool:
    """Give the page that look without loading it again. Returns whether it had another width."""
    before = page.viewport_size
    page.emulate_media(color_scheme=look["color_scheme"])
    page.set_viewport_size(look["viewport"])
    return before is None or before["width"] != look["viewport"]["width"]


def leave_frames_empty(route: Route) -> None:
    """Answer with nothing what is to stand in a frame: it is a page of its own, which axe does not look into there."""
    if route.request.frame.parent_frame is None:
        route.continue_()
    else:
        route.fulfill(body="")
