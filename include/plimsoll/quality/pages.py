"""Data Docs that work offline: Great Expectations' own rendering of its results, in a page that loads nothing else.

Great Expectations' own page loads Bootstrap, jQuery, Vega, fonts and a logo from six hosts, and a site has 4 MB of
pictures and fonts beside each page. The results are in the sections of the page, which need no script.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from plimsoll.domain.result import Check

PAGE = "index.html"
_FRAMING = ("Overview", "Info", "Run Info")
_ROW = 3
_NO_SIGN = {
    "content_block_type": "string_template",
    "string_template": {
        "template": "$icon",
        "params": {"icon": ""},
        "styling": {"params": {"icon": {"classes": ["fas", "fa-question-circle"], "tag": "i"}}},
    },
}

_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h2 { border-top: 2px solid #8886; margin-top: 2rem; padding-top: 1rem; }
h5 { font-size: 1rem; margin: 1rem 0 0; }
h5.m-0 { font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; }
table table { width: auto; margin-top: .5rem; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
.table > * > tr > :first-child { width: 4rem; }
.table > * > tr > :last-child { width: 12rem; overflow-wrap: anywhere; }
code { display: block; white-space: pre-wrap; overflow-wrap: anywhere; }
button { display: none; }
i { font-style: normal; font-weight: bold; }
.fa-check-circle::before { content: "✓"; color: #188038; }
.fa-times::before { content: "✗"; color: #c5221f; }
.fa-exclamation-triangle::before { content: "!"; color: #b06000; }
.fa-question-circle::before { content: "–"; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<p>{{ passed }} of {{ checks | length }} checks passed
{%- if untested %}, {{ untested | length }} could not be tested: {{ untested | join(", ") }}{% endif %}.</p>
{% for check in checks if not check.success %}{% if loop.first %}<ul>{% endif -%}
<li>{{ "Invalid" if check.severity == "invalid" else "Warning" }}:
{{ check.name }}, expected {{ check.expected }}, {{ check.finding }}</li>
{%- if loop.last %}</ul>{% endif %}{% endfor %}
{% for part in parts %}<h2>{{ part.title }}</h2>
{% for section in part.sections %}{% set section_loop = loop %}{% include "section.j2" %}{% endfor %}
{% endfor %}</body>
</html>
"""


@dataclass(frozen=True)
class Section:
    """One table's validation result (Great Expectations') and its heading."""

    title: str
    result: Any


def described(name: str, meaning: str) -> str:
    """Return the description of an expectation for Great Expectations, which puts it into its HTML as it is."""
    return escape(f"{name}: {meaning}", quote=False)


def render(title: str, parts: Sequence[Section], checks: Sequence[Check]) -> bytes:
    """Render one HTML page of all parts, complete in itself."""
    untested = {described(check.name, check.expected): check.name for check in checks if not check.tested}
    shown = [{"title": part.title, "sections": _sections(part.result, untested)} for part in parts]
    passed = sum(check.result == "passed" for check in checks)
    page: str = _template().render(
        title=title, parts=shown, checks=checks, passed=passed, untested=list(untested.values())
    )
    return "\n".join(line.strip() for line in page.splitlines() if line.strip()).encode()


@cache
def _template() -> Any:
    """Return the page's template, compiled once in a process together with Great Expectations' own that it includes.

    Their files do not change, so Jinja does not look at each file again each time that it includes one.
    """
    from great_expectations.render.view.view import DefaultJinjaPageView

    templates = DefaultJinjaPageView().env
    templates.auto_reload = False
    return templates.from_string(_TEMPLATE)


def _sections(result: Any, untested: Collection[str]) -> list[Any]:
    from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer

    document = ValidationResultsPageRenderer().render(result).to_json_dict()
    sections = [one for one in document["sections"] if one.get("section_name") not in _FRAMING]
    for block in (block for section in sections for block in section["content_blocks"] if block.get("table")):
        block["table"] = [_without_observation(row, untested) for row in block["table"]]
    return [_escaped(one) for one in sections]


def _without_observation(row: Any, untested: Collection[str]) -> Any:
    """Return a row (sign, expectation, observation) that Great Expectations passed or failed without anything to look
    at.
    """
    if len(row) < _ROW or not isinstance(row[1], dict):
        return row
    if row[1].get("string_template", {}).get("template") not in untested:
        return row
    return [_NO_SIGN, row[1], "not tested"]


def _escaped(node: Any, *, cell: bool = False) -> Any:
    """Escape values that are table cells of their own, because Great Expectations escapes only values in sentences."""
    if isinstance(node, dict):
        return {name: _escaped(value, cell=name == "table") for name, value in node.items()}
    if isinstance(node, list):
        return [_escaped(one, cell=cell) for one in node]
    return escape(node) if cell and isinstance(node, str) else node
