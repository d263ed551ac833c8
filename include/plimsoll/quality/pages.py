"""Data Docs that work offline: the checks of each table in one page that loads nothing and needs no script.

Great Expectations' own page loads Bootstrap, jQuery, Vega, fonts and a logo from six hosts, and a site has 4 MB of
pictures and fonts beside each page.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template

    from plimsoll.domain.result import Check

PAGE = "index.html"

_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h2 { border-top: 2px solid #8886; margin-top: 2rem; padding-top: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
td:last-child { overflow-wrap: anywhere; width: 16rem; }
td:first-child { font-weight: bold; width: 7rem; }
.passed::before { color: #188038; content: "✓ "; }
.failed::before { color: #c5221f; content: "✗ "; }
.warning::before { color: #b06000; content: "! "; }
.untested::before { content: "– "; }
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
{% for heading, rows in tables %}<h2>{{ heading }}</h2>
<table>
<thead><tr><th>Result</th><th>Expectation</th><th>Observed</th></tr></thead>
<tbody>
{% for check in rows %}<tr><td class="{{ check.result.replace("not tested", "untested") }}">{{ check.result }}</td>
<td>{{ check.name }}: {{ check.expected }}</td><td>{{ check.observed }}</td></tr>
{% endfor %}</tbody>
</table>
{% endfor %}</body>
</html>
"""


def render(title: str, tables: Sequence[tuple[str, Sequence[Check]]]) -> bytes:
    """Render one HTML page of the checks of all tables, each with its heading, complete in itself."""
    checks = [check for _, rows in tables for check in rows]
    passed = sum(check.result == "passed" for check in checks)
    untested = [check.name for check in checks if not check.tested]
    page = _template().render(title=title, tables=tables, checks=checks, passed=passed, untested=untested)
    return "\n".join(line.strip() for line in page.splitlines() if line.strip()).encode()


@cache
def _template() -> Template:
    from jinja2 import Environment

    return Environment(autoescape=True).from_string(_TEMPLATE)
