"""The sections of a campaign's page, in their order, and the methods behind its figures."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.campaign.campaign import clients_of
from plimsoll.domain.keys.strategy import FullGrid, Search
from plimsoll.report.charts.heat_map import heat_map
from plimsoll.report.charts.latencies import latencies_chart
from plimsoll.report.charts.strips import strip_charts
from plimsoll.report.charts.timeline import timelines
from plimsoll.report.sections import Section
from plimsoll.report.sections.achieved import ACHIEVED
from plimsoll.report.sections.answer import ANSWER
from plimsoll.report.sections.cells import CELLS
from plimsoll.report.sections.maxima import MAXIMA
from plimsoll.report.sections.noise import NOISE
from plimsoll.report.sections.pauses import PAUSES
from plimsoll.report.sections.validity import VALIDITY
from plimsoll.report.sections.why import WHY
from plimsoll.report.tables import PlainTable, plain
from plimsoll.report.words.actions import actions_sheet, evidence_table, levels_table, ratios_table, times_table
from plimsoll.report.words.environment_facts import environment_context, environment_sheet
from plimsoll.report.words.header import methods_words
from plimsoll.report.words.misses import misses_by_cell

_IMPORTED = (
    "The cells were imported. The order in which they were measured was not Plimsoll's, so a drift of the machines "
    "over time may favour a variant or a load."
)
_BY_VARIANT = (
    "Hosts are kept for a variant, so all its cells run before those of the next one: a drift of the machines over "
    "time may favour a variant."
)
_BY_RESULTS = (
    "A {strategy} decides by the results so far which cells run next, so loads follow one another in no random order."
)
_SAME_DATA = "A repeat's loads follow one another on the same data, from the lowest up."


def order_words(findings: Findings) -> str:
    """Return the order in which the cells ran, and what a drift of the machines over time could do to the results."""
    part = findings.part
    if any(result.shown and result.shown.provenance for result in findings.cells):
        return _IMPORTED
    is_full, by_variant = isinstance(part.strategy, FullGrid), part.cluster_scope == "variant"
    shuffled = f"shuffled by the definition's seed ({part.seed})"
    if is_full and not by_variant:
        block = f"Each repeat is a block: all variants and loads once, {shuffled}"
        return f"{block}, so that a drift of the machines over time does not favour a variant."
    if is_full:
        sentences = [f"Each repeat is a block: all loads once, {shuffled}."]
    else:
        who = "cells" if by_variant else "variants"
        sentences = [f"The order of the {who} within a repeat is {shuffled}."]
        sentences.append(_BY_RESULTS.format(strategy=part.strategy.name))
    if part.data_scope == "repeat":
        sentences.append(_SAME_DATA)
    if by_variant:
        sentences.append(_BY_VARIANT)
    return " ".join(sentences)


def _methods(findings: Findings) -> Mapping[str, Any]:
    strategy = findings.part.strategy
    return {
        "response_time": methods_words(result.verdict for result in findings.cells if result.verdict),
        "order": order_words(findings),
        "is_fast": isinstance(strategy, Search) and strategy.mode == "fast",
    }


METHODS = Section("methods", "Methods", context=_methods)


def _misses(findings: Findings) -> Mapping[str, Any]:
    return {"misses_of": misses_by_cell(findings.misses)}


def _published(findings: Findings) -> PlainTable | None:
    published = findings.part.published
    if published is None:
        return None
    rows = ((row.what, row.published or "not published", row.here or "as published") for row in published.rows)
    return plain("As published, and here", {"What": "", "As published": "prose", "Here": "prose"}, rows)


def _clients(findings: Findings) -> PlainTable:
    headings = {"Product": "", "Protocol": "", "Workload": "", "Options of its clients": "prose"}
    clients = clients_of([findings.part])
    rows = ((client.product, client.protocol, client.workload or "the only one", client.words) for client in clients)
    return plain("What clients of each product speak", headings, rows)


def _has(prefix: str) -> Callable[[Findings, Collection[str]], bool]:
    """Return whether there is a chart whose name begins so."""
    return lambda _findings, charts: any(name.startswith(prefix) for name in charts)


SECTIONS = (
    ANSWER,
    Section("heat-map", "Heat map", charts=lambda findings: (heat_map(findings),)),
    Section(
        "actions",
        "Actions",
        tables={"times": times_table, "ratios": ratios_table, "levels": levels_table, "proofs": evidence_table},
        sheets={"actions": actions_sheet},
        is_shown=lambda findings, _charts: findings.part.action is not None,
        needs=frozenset(),
    ),
    ACHIEVED,
    MAXIMA,
    Section("percentiles", "Percentiles", charts=latencies_chart, is_shown=_has("latencies")),
    WHY,
    PAUSES,
    Section("tracks", "In detail", context=_misses, charts=strip_charts, is_shown=_has("tracks-")),
    Section("timelines", "Timelines", context=_misses, charts=timelines, is_shown=_has("timeline-")),
    NOISE,
    Section(
        "environment",
        "Environment",
        context=environment_context,
        sheets={"environment": environment_sheet},
        needs=frozenset(),
    ),
    VALIDITY,
    CELLS,
    Section("cost", "Cost", is_shown=lambda findings, _charts: findings.data.spending is not None, needs=frozenset()),
    Section("definition", "Definition", tables={"published": _published, "clients": _clients}, needs=frozenset()),
    Section("reproduce", "Reproduce it", needs=frozenset()),
    METHODS,
)


def sections_of(findings: Findings) -> tuple[Section, ...]:
    """Return the sections that a page of these findings may have: those whose needs are known."""
    return tuple(section for section in SECTIONS if section.needs <= findings.part.knows)
