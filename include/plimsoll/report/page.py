"""Render findings into the HTML page and the Markdown summary.

One script, Vega's runtime, draws the charts of a page. vl-convert takes more than a second of processor time to make
it, in each process that makes a page, and makes the same script as long as its version is the same. So the script is
kept beside what Python keeps of this module.
"""

import gzip
import importlib.util
import os
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import ChoiceLoader, PackageLoader, StrictUndefined, select_autoescape
from jinja2 import Environment as Templates

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.misses import Miss
from plimsoll.domain.text.units import show_usd
from plimsoll.report import formatting
from plimsoll.report.charts.rendering import static_picture
from plimsoll.report.charts.theme import Figure, page_config
from plimsoll.report.document import code_versions
from plimsoll.report.sections.answer import answer_context
from plimsoll.report.sections.registry import sections_of
from plimsoll.report.tables import escaped, markdown
from plimsoll.report.words.conclusion import conclusion
from plimsoll.report.words.header import counted_from, header_facts
from plimsoll.report.words.misses import anchor, misses_table, start

_FORMATS = ("duration", "listing", "moment", "ms", "ops", "percent", "percent_at_least", "plural")


_FILTERS = {**{name: getattr(formatting, name) for name in _FORMATS}, "usd": show_usd}

_LIBRARY = "vl-convert-python"
_WITH_TEMPLATES = ("plimsoll.report.sections", "plimsoll.report.trend")


def page_html(findings: Findings, figures: Sequence[Figure], drawings: Mapping[str, str] = MappingProxyType({})) -> str:
    """Render one self-contained page with style, script, Vega's runtime and all data inside. It loads nothing else.

    `drawings`: the charts' SVG by name, shown until the script draws the charts, and where scripts are off.
    """
    drawn = _drawn(figures, drawings)
    campaign = _campaign(findings)
    sections = []
    for section in sections_of(findings):
        if section.is_shown(findings, drawn["figures"]):
            shown = {name: table(findings) for name, table in section.tables.items()} | {**section.context(findings)}
            html = rendered(section.template, figures=drawn["figures"], **campaign, **shown)
            sections.append({"name": section.name, "link": section.link, "html": html})
    head = {"header": header_facts(findings), "code_versions": code_versions(findings), "sections": sections}
    return rendered("report.html.j2", **campaign, **drawn, **head)


def attempt_html(
    title: str, figures: Sequence[Figure], drawings: Mapping[str, str], misses: Sequence[Miss], findings: Findings
) -> str:
    """Return the charts of the only attempt in `findings` as a page like the report's, with its worst misses."""
    in_time = sorted(misses, key=lambda miss: miss.start_s)
    verdicts = [attempt.verdict for attempt in findings.data.attempts]
    context = {"title": title, "misses": misses_table(in_time, findings.level)}
    return charts_html("attempt.html.j2", figures, drawings, **context, counted_from=counted_from(verdicts))


def charts_html(template: str, figures: Sequence[Figure], drawings: Mapping[str, str], **context: Any) -> str:
    """Return a self-contained page with these charts, from its template; `drawings` as of `page_html`."""
    return rendered(template, **_drawn(figures, drawings), **context)


def summary_markdown(findings: Findings) -> str:
    """Render one page of Markdown, for a pull request or a chat."""
    return rendered("summary.md.j2", **_campaign(findings), **answer_context(findings, brief=True))


def _drawn(figures: Sequence[Figure], drawings: Mapping[str, str]) -> dict[str, Any]:
    """Return the charts' specifications, with the scripts that draw them."""
    return {
        "figures": {figure.name: _embedded(figure, drawings.get(figure.name, "")) for figure in figures},
        "config": page_config(),
        "script": _script(_asset("page.js")),
        "runtime": _runtime(),
    }


def _campaign(findings: Findings) -> dict[str, Any]:
    """Return the values that every template of a campaign has."""
    return {
        "findings": findings,
        "definition": findings.data.part_definition,
        "data": findings.data,
        "conclusion": conclusion(findings),
        "counts": [(state, findings.count(state)) for state in ("met", "missed", "invalid", "not run", "not needed")],
    }


def rendered(template: str, **context: Any) -> str:
    return _templates().get_template(template).render(style=_asset("style.css"), **context)


@cache
def _templates() -> Templates:
    templates = Templates(
        loader=ChoiceLoader([PackageLoader("plimsoll.report"), *(PackageLoader(name, "") for name in _WITH_TEMPLATES)]),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(_FILTERS, markdown=escaped, markdown_table=markdown, anchor=anchor, start=start)
    return templates


def _embedded(figure: Figure, drawing: str) -> Mapping[str, Any]:
    layout = asdict(figure.panels) if figure.panels else None
    data = {"spec": figure.spec, "panels": layout, "narrowest_px": figure.narrowest_px}
    named = {"name": figure.name, "title": figure.title, "caption": figure.caption}
    return {**named, "data": data, "still": static_picture(drawing, figure.name) if drawing else ""}


@cache
def _asset(name: str) -> str:
    return files("plimsoll.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _runtime() -> str:
    return _script(runtime())


def _script(source: str) -> str:
    """Make JavaScript source safe inside a script element: only strings and expressions can hold `</script`."""
    return re.sub(r"</(?=script)", r"<\\/", source, flags=re.IGNORECASE)


def runtime() -> str:
    """Return the script, made anew where this version's is not kept yet or is damaged."""
    kept = folder() / f"vega-{version(_LIBRARY)}.js.gz"
    with suppress(OSError, EOFError, zlib.error):
        if script := gzip.decompress(kept.read_bytes()).decode():
            return script
    script = bundled()
    # Where Python is told to keep nothing beside the code, this file is not kept either
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            # Whole or not at all, whichever other process does the same.
            kept.parent.mkdir(parents=True, exist_ok=True)
            unfinished = kept.with_name(f"{kept.name}.{os.getpid()}")
            unfinished.write_bytes(gzip.compress(script.encode(), compresslevel=6, mtime=0))
            unfinished.replace(kept)
            for other in kept.parent.glob("vega-*.js.gz"):
                if other != kept:
                    other.unlink(missing_ok=True)
    return script


def folder() -> Path:
    """Return the folder where Python keeps what it compiled of this module."""
    return Path(importlib.util.cache_from_source(__file__)).parent


def bundled() -> str:
    """Return the script as vl-convert makes it."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
