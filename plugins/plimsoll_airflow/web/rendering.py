"""Render templates into pages, with escaping and with the headers that pages need."""

from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from plimsoll.domain.text.units import show_usd
from plimsoll.domain.text.wording import excerpt
from plimsoll.report import formatting
from plimsoll.report.words.actions import phase_text
from plimsoll.report.words.misses import backlog_words
from plimsoll_airflow.web import PREFIX, headers, squares

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
    return HTMLResponse(content, status_code=status, headers={"Content-Security-Policy": headers.PAGE, **(more or {})})


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
