"""The environment of the cells: facts that hosts and JVMs reported, and that people stated about imported cells."""

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.formatting import listing
from plimsoll.report.sections.section import Section
from plimsoll.report.tables import PlainTable, Sheet, plain
from plimsoll.report.words.environment_facts import Environment, Origin, environment, origins

_COLUMNS = ("found", "fact", "value", "variant", "where")


def environment_sheet(findings: Findings) -> Sheet:
    """Return one row per fact and value. `found`: equal everywhere, by variant or host, deviating, or stated."""
    told = (row for origin in origins(findings) for row in _each(origin.told))
    stated = (("told", fact, value, "", " ".join(cells)) for fact, value, cells in told)
    return Sheet([*_compared(environment(findings)), *stated], _COLUMNS)


def told_table(origin: Origin) -> PlainTable:
    headings = {"Fact": "", "As stated by the person who imported it": "", "Cells": "number"}
    rows = ((fact, value, len(cells)) for fact, value, cells in _each(origin.told))
    return plain("Facts that were stated", headings, rows)


def deviations_table(ran: Environment) -> PlainTable:
    rows = (
        (deviation.fact, "; ".join(dict.fromkeys(deviation.usual.values())), value, listing(places))
        for deviation in ran.deviations
        for value, places in deviation.others.items()
    )
    headings = {"Fact": "", "Usual value": "", "Found instead": "strong", "Where": ""}
    return plain("Deviations of the environment", headings, rows)


def differing_tables(findings: Findings, ran: Environment) -> Iterator[tuple[str, PlainTable]]:
    """Yield the facts that differ by variant, with a title, for each group of variants that has them."""
    for variants, facts in ran.by_variants.items():
        own = {variant: label for variant, label in findings.labels.items() if variant in variants}
        title = "Differs by variant" if len(own) == len(findings.labels) else f"Only of {listing([*own.values()])}"
        rows = ((fact, *(values[variant] for variant in own)) for fact, values in facts.items())
        yield title, plain("Facts that differ by variant", dict.fromkeys(("Fact", *own.values()), ""), rows)


def by_host_table(ran: Environment) -> PlainTable:
    """Return the facts that differ by host and are alike in every cell."""
    rows = ((fact, value, listing(hosts)) for fact, value, hosts in _each(ran.by_host))
    return plain("Facts that differ by host", {"Fact": "", "Value": "", "Hosts": ""}, rows)


def _each(facts: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    return ((fact, value, places) for fact, values in facts.items() for value, places in values.items())


def _context(findings: Findings) -> Mapping[str, Any]:
    ran = environment(findings)
    return {
        "environment": ran,
        "origins": [(origin, told_table(origin)) for origin in origins(findings)],
        "deviations": deviations_table(ran),
        "differing": list(differing_tables(findings, ran)),
        "by_host": by_host_table(ran),
        "equal": plain("Facts that are equal everywhere", {"Fact": "", "Value": ""}, ran.equal.items()),
    }


def _compared(ran: Environment) -> Iterator[tuple[str, str, str, str, str]]:
    for deviation in ran.deviations:
        yield from (
            ("deviating", deviation.fact, value, "", " ".join(places)) for value, places in deviation.others.items()
        )
    for fact, by_variant in ran.by_variant.items():
        yield from (("by variant", fact, value, variant, "") for variant, value in by_variant.items())
    yield from (("by host", fact, value, "", " ".join(hosts)) for fact, value, hosts in _each(ran.by_host))
    yield from (("equal", fact, value, "", "") for fact, value in ran.equal.items())


ENVIRONMENT = Section(
    "environment", "Environment", context=_context, sheets={"environment": environment_sheet}, needs=frozenset()
)
