"""Render templates into pages, with escaping; response headers that forbid a browser everything that Plimsoll's pages
do not need; bounds of bodies.
"""

from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.domain.text.units import show_usd
from plimsoll.domain.text.wording import excerpt
from plimsoll.report import formatting
from plimsoll.report.words.actions import phase_text
from plimsoll.report.words.misses import backlog_words
from plimsoll_airflow.web import PREFIX, squares

STATIC = {
    "icon.svg": "image/svg+xml",
    "icon-dark.svg": "image/svg+xml",
    "page.css": "text/css",
    "page.js": "text/javascript",
    "theme.js": "text/javascript",
}
"""The pages' own style, scripts and pictures, by their media type."""
_FILTERS = {
    "excerpt": excerpt,
    "backlog": backlog_words,
    "duration": formatting.duration,
    "figure": formatting.figure,
    "listing": formatting.listing,
    "moment": formatting.moment,
    "ms": formatting.ms,
    "multiple": formatting.multiple,
    "ops": formatting.ops,
    "plural": formatting.plural,
    "short_ops": formatting.short_ops,
    "bytes": squares.size,
    "clock": squares.clock,
    "at_least": formatting.at_least,
    "phase": phase_text,
    "usd": show_usd,
}


def render(request: Request, template: str, context: Mapping[str, Any], *, status: int = 200) -> HTMLResponse:
    return page(markup(base_of(request), template, context), status=status)


def redirect(request: Request, place: str) -> Response:
    return RedirectResponse(f"{base_of(request)}{place}", status_code=HTTPStatus.SEE_OTHER)


def page(content: str | bytes, *, status: int = 200, more: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return HTML that the templates made, with the policy for pages and more headers."""
    return HTMLResponse(content, status_code=status, headers={"Content-Security-Policy": PAGE_POLICY, **(more or {})})


def markup(base: str, template: str, context: Mapping[str, Any]) -> str:
    """Render a template with the context, escaped; links to pages begin with `base`."""
    compiled = _templates().get_template(template)
    return compiled.render(base=base, airflow=base.removesuffix(PREFIX), squares=squares, **context)


def base_of(request: Request) -> str:
    """Return the path above the pages, as the browser sees it."""
    return str(request.scope.get("root_path", "")).rstrip("/")


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("plimsoll_airflow.web"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(_FILTERS)
    return templates


PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'"
)
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""The policy for everything that is not a page: shown by a browser, it can do nothing."""
DOCUMENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox"
"""The policy for Data Docs: pages out of the store, without scripts."""
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; sandbox allow-scripts allow-popups"
)
"""The policy for the report, whose charts need scripts. The sandbox gives it an origin of its own: no cookie, no
request of ours. Its links to Data Docs and to the reports of its parts open pages beside it, in the sandbox too: within
a frame, that origin would not be let in.
"""
_ALWAYS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": DATA_POLICY,
}

LARGEST_BYTES = 256 << 10
"""The greatest size of a body: more than any form or document of the API can take."""


class Bounds:
    """The middleware that adds the headers to every response, and answers 413 to every body larger than LARGEST_BYTES.

    Headers that a route sets itself have precedence. FastAPI reads a body before it asks who sends it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = 0

        async def receive_little() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_BYTES:
                what = f"the request's body is larger than {LARGEST_BYTES >> 10} KiB"
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, what)
            return message

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive_little, send_with_headers)
