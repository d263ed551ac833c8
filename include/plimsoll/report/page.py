"""Render findings into the HTML page and the Markdown summary."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined, select_autoescape

from plimsoll.analysis.bootstrap import BLOCK, DRAWS
from plimsoll.analysis.causes import SHIFTS
from plimsoll.analysis.misses import Miss
from plimsoll.analysis.statistics import are_few
from plimsoll.domain.service_level import ServiceLevel
from plimsoll.domain.units import show_usd
from plimsoll.report import data_docs, words
from plimsoll.report.answers import capacity_rows, loads_line, sentence, step_sentence
from plimsoll.report.causes import cause_rows, explained_rows
from plimsoll.report.charts.figure import Figure
from plimsoll.report.charts.still import still
from plimsoll.report.charts.theme import page_config
from plimsoll.report.comparing import comparison_rows
from plimsoll.report.conclusion import conclusion
from plimsoll.report.document import code_versions
from plimsoll.report.environment import Environment
from plimsoll.report.findings import Findings
from plimsoll.report.header import header_facts
from plimsoll.report.left_out import how_cells_were_chosen, left_out_rows, what_was_run
from plimsoll.report.misses import miss_rows, rows_by_cell
from plimsoll.report.noise import noise_rows, steady_rows, typical_rows
from plimsoll.report.operations import operations_table
from plimsoll.report.origins import origins
from plimsoll.report.runtime import runtime
from plimsoll.report.stops import stops_rows
from plimsoll.report.tables import PERCENTILE_NAMES, cell_rows, load_rows
from plimsoll.report.validity import validity

_FILTERS = {
    "duration": words.duration,
    "figure": words.figure,
    "listing": words.listing,
    "moment": words.moment,
    "ms": words.ms,
    "multiple": words.multiple,
    "ops": words.ops,
    "percent": words.percent,
    "plural": words.plural,
    "usd": show_usd,
}


def page_html(
    findings: Findings, ran: Environment, figures: Sequence[Figure], drawings: Mapping[str, str] = MappingProxyType({})
) -> str:
    """One self-contained page with style, script, Vega's runtime and all data inside. It loads nothing else.

    `drawings`: the charts' SVG by name, shown until the script draws the charts, and where scripts are off.
    """
    template = _templates().get_template("report.html.j2")
    return template.render(
        **_context(findings),
        **_drawn(figures, drawings),
        timelines=[figure.name for figure in figures if figure.name.startswith("timeline-")],
        tracks=[figure.name for figure in figures if figure.name.startswith("tracks-")],
        environment=ran,
        origins=origins(findings),
        load_rows=load_rows(findings),
        by_operation=operations_table(findings),
        cell_rows=cell_rows(findings),
        percentile_names=list(PERCENTILE_NAMES.values()),
        shifts=SHIFTS,
        explained_rows=explained_rows(findings),
        cause_rows=cause_rows(findings),
        misses=miss_rows(findings.misses),
        misses_of=rows_by_cell(findings.misses),
        decided={f"tracks-{variant}": one.cell.id for variant, one in findings.decisive.items()},
        cells_of={f"timeline-{one}": [cell.cell.id for cell in findings.of_variant(one)] for one in findings.labels},
        stops_rows=stops_rows(findings),
        on_jvms=any(variant.jvm for variant in findings.definition.variants),
        noise_rows=noise_rows(findings),
        steady_rows=steady_rows(findings),
        typical_rows=typical_rows(findings),
        draws=DRAWS,
        block=BLOCK,
        data_docs=data_docs.OF_CAMPAIGN if findings.data.quality else None,
        definition_yaml=findings.data.definition_yaml,
    )


def rendered(template: str, **context: Any) -> str:
    """A page of the report that needs no script, from its template."""
    return _templates().get_template(template).render(style=_asset("style.css"), **context)


def attempt_html(
    title: str, figures: Sequence[Figure], drawings: Mapping[str, str], misses: Sequence[Miss], level: ServiceLevel
) -> str:
    """The charts of one attempt as a page like the report's, with its worst missed intervals."""
    template = _templates().get_template("attempt.html.j2")
    in_time = sorted(misses, key=lambda one: one.start_s)
    return template.render(**_drawn(figures, drawings), title=title, misses=miss_rows(in_time), level=level)


def summary_markdown(findings: Findings) -> str:
    """One page of Markdown, for a pull request or a chat."""
    return _templates().get_template("summary.md.j2").render(**_context(findings))


def _drawn(figures: Sequence[Figure], drawings: Mapping[str, str]) -> dict[str, Any]:
    """The charts' specifications, with the scripts that draw them."""
    return {
        "figures": {figure.name: _embedded(figure, drawings.get(figure.name, "")) for figure in figures},
        "config": page_config(),
        "style": _asset("style.css"),
        "script": _script(_asset("page.js")),
        "runtime": _runtime(),
    }


def _context(findings: Findings) -> dict[str, Any]:
    return {
        "findings": findings,
        "definition": findings.definition,
        "data": findings.data,
        "conclusion": conclusion(findings),
        "header": header_facts(findings),
        "few_repeats": are_few(findings.definition.repeats),
        "counts": [(state, findings.count(state)) for state in ("met", "missed", "invalid", "not run", "not needed")],
        "rows": (rows := capacity_rows(findings)),
        "loads_line": loads_line(rows),
        "sentences": [sentence(findings, capacity) for capacity in findings.capacities],
        "step_sentence": step_sentence(findings),
        "left_out_rows": left_out_rows(findings),
        "what_was_run": what_was_run(findings),
        "how_cells_were_chosen": how_cells_were_chosen(findings),
        "comparisons": comparison_rows(findings),
        "validity": validity(findings),
        "code_versions": code_versions(findings),
    }


@cache
def _templates() -> Templates:
    """Compiled once for all pages of a process."""
    templates = Templates(
        loader=PackageLoader("plimsoll.report"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(_FILTERS, markdown=_markdown)
    return templates


def _embedded(figure: Figure, drawing: str) -> Mapping[str, Any]:
    panels = figure.panels
    layout = asdict(panels) if panels else None
    data = {"spec": figure.spec, "panels": layout, "narrowest_px": figure.narrowest_px}
    named = {"name": figure.name, "title": figure.title, "caption": figure.caption}
    return {**named, "data": data, "still": still(drawing, figure.name) if drawing else ""}


def _asset(name: str) -> str:
    return files("plimsoll.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _runtime() -> str:
    return _script(runtime())


def _script(source: str) -> str:
    """JavaScript source made safe inside a script element: only strings and expressions can hold `</script`."""
    return re.sub(r"</(?=script)", r"<\\/", source, flags=re.IGNORECASE)


def _markdown(text: str) -> str:
    """Text on one line, with all characters escaped that have a meaning in Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(text.split()))
