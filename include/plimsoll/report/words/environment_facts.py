"""The real environment of the cells, as text and in tables: what their hosts reported, and where it varies; of imported
cells what people stated about it, and what is unknown.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.findings import CampaignCells, Findings
from plimsoll.analysis.campaign.host_facts import (
    ComparedFacts,
    HostReport,
    compare_facts,
    facts_of_host,
    largest_from_controller_ms,
)
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.hosts.fingerprint import Fingerprint, HostFacts, ProcessFingerprint, Provenance, ReportedNode
from plimsoll.domain.keys.process import by_prefix
from plimsoll.domain.keys.system import NOT_KNOWN
from plimsoll.domain.text.units import format_size
from plimsoll.report.formatting import figure, listing
from plimsoll.report.tables import PlainTable, Sheet, plain

_COLUMNS = ("found", "fact", "value", "variant", "where")
ARCHIVE = "archive"


@dataclass(frozen=True)
class Environment(ComparedFacts):
    """Facts, grouped by where they vary.

    `by_variant`: fact → variant → value, also of facts that only some variants have; `by_host`: fact → value → hosts.
    """

    without_fingerprint: tuple[str, ...]
    largest_clock_offset_ms: float | None

    @property
    def by_variants(self) -> Mapping[tuple[str, ...], Mapping[str, Mapping[str, str]]]:
        """Group the facts that differ by variant by the variants that have them: fact → variant → value."""
        groups = grouped((tuple(values), (fact, values)) for fact, values in self.by_variant.items())
        return {variants: dict(groups[variants]) for variants in sorted(groups, key=len, reverse=True)}


@dataclass(frozen=True)
class Origin:
    """Imported cells of one source, read in one format and unit.

    `told`: fact → value → cells; `unknown`: fact → cells; `unit`: the unit and why it is taken, empty if not known.
    """

    source: str
    licence: str
    format: str
    cells: tuple[str, ...]
    told: Mapping[str, Mapping[str, tuple[str, ...]]]
    unknown: Mapping[str, tuple[str, ...]]
    unit: str = ""


def environment(findings: CampaignCells) -> Environment:
    """Compare the fingerprints of the attempts that count, or that are shown where none counts."""
    shown = [(result.cell, result.shown) for result in findings.cells if result.shown]
    present = [(cell, attempt.fingerprint) for cell, attempt in shown if attempt.fingerprint]
    compared = compare_facts([report for cell, fingerprint in present for report in _hosts(cell, fingerprint)])
    return Environment(
        **vars(compared),
        without_fingerprint=tuple(cell.id for cell, attempt in shown if attempt.fingerprint is None),
        largest_clock_offset_ms=largest_from_controller_ms(fingerprint for _, fingerprint in present),
    )


def _hosts(cell: Cell, fingerprint: Fingerprint) -> Iterator[HostReport]:
    yield from _reported(cell, fingerprint)
    for node in () if fingerprint.reported_nodes else fingerprint.nodes:
        database = {"database": f"{node.database} {node.database_version}"}
        database |= {ARCHIVE: node.archive} if node.archive else {}
        yield HostReport(cell.variant, cell.id, node.host, "node", database | _host_facts(node.facts))
        for prefix, process in by_prefix(node.processes).items():
            # Not every node runs every process, so each is compared with its like.
            facts = _process_facts(process, node.address, is_one_of_several=bool(prefix))
            own = {f"{prefix}{name}": value for name, value in facts.items()}
            yield HostReport(cell.variant, cell.id, node.host, process.name, own)
    rows = "" if fingerprint.counted_rows is None else f"{fingerprint.counted_rows:,}"
    generator = {"generator": fingerprint.load_generator, "rows, counted from a size": rows}
    for host, reported in fingerprint.load_hosts.items():
        facts = _host_facts(reported) | generator
        own = {f"load host: {name}": value for name, value in facts.items() if value}
        yield HostReport(cell.variant, cell.id, host, "load", own)


def _reported(cell: Cell, fingerprint: Fingerprint) -> Iterator[HostReport]:
    """Yield what an external cluster tells of its nodes, and what its machines do that are looked at.

    One whose address no node has is told of by itself: a node may be named, or have another address for its clients.
    """
    machines = {node.address: node for node in fingerprint.nodes} if fingerprint.reported_nodes else {}
    for reported in fingerprint.reported_nodes:
        address = reported.address
        machine = machines.pop(address.rpartition(":")[0] or address, None) or machines.pop(address, None)
        own = _host_facts(machine.facts) if machine else {}
        yield HostReport(cell.variant, cell.id, address, "node", _reported_facts(reported) | own)
    for machine in machines.values():
        own = {f"machine: {name}": value for name, value in _host_facts(machine.facts).items()}
        yield HostReport(cell.variant, cell.id, machine.host, "machine", own)


def _reported_facts(node: ReportedNode) -> dict[str, str]:
    """Return what an external cluster tells of a node, and what nobody here knows of it."""
    reported = {"database": node.release_version, "data centre": node.data_centre, "rack": node.rack}
    hidden = ("operating system", "CPU", "memory", "data disk", "JVM", "JVM flags")
    own = {f"by its own word, {name}": value for name, value in node.facts.items()}
    return {**{name: value or NOT_KNOWN for name, value in reported.items()}, **dict.fromkeys(hidden, NOT_KNOWN), **own}


def _process_facts(process: ProcessFingerprint, address: str, *, is_one_of_several: bool) -> dict[str, str]:
    """Return the version and the JVM, its options and flags last.

    That there is no JVM is told only of one of several processes.
    """
    version, jvm = {"version": process.version} if process.version else {}, process.jvm
    if jvm is None:
        return version | ({"JVM": "none"} if is_one_of_several else {})
    options = grouped((f"option {_stem(argument)}", _masked(argument, address)) for argument in jvm.arguments)
    return {
        **version,
        "JVM": f"{jvm.name} {jvm.version}, {jvm.vendor}",
        "collector": f"{jvm.collector or 'unknown'} ({', '.join(jvm.collector_beans)})",
        "heap": _size(jvm.heap_max_bytes),
        **{name: " ".join(sorted(values)) for name, values in sorted(options.items())},
        **{f"flag {name}": _masked(value, address) for name, value in sorted(jvm.flags.items())},
    }


def _host_facts(facts: HostFacts) -> dict[str, str]:
    return facts_of_host(facts, _size, _size) | facts.provider


@cache
def _stem(argument: str) -> str:
    """Return the name of a JVM option: `-XX:+UseG1GC` → `-XX:UseG1GC`, `-Xmx4G` → `-Xmx`, `-Da.b=c` → `-Da.b`."""
    heap = re.match(r"-X(mx|ms|mn|ss)(?=\d)", argument)
    if heap:
        return heap[0]
    if argument.startswith("-XX:"):
        return re.sub(r"^-XX:[+-]", "-XX:", argument).partition("=")[0]
    return re.split(r"[=:]", argument, maxsplit=1)[0]


def _masked(text: str, address: str) -> str:
    """Return the value without paths, ports and the node's own address, which differ between cells by design."""
    return _without_paths(text.replace(address, "‹address›") if address else text)


@cache
def _without_paths(text: str) -> str:
    text = re.sub(r"(?<![\w.])/[^\s:,;=]+", "‹path›", text)
    return re.sub(r"(port\w*=)\d+", r"\1‹port›", text, flags=re.IGNORECASE)


def _size(size_bytes: int) -> str:
    """Return a size in binary units while these are exact, else in GiB: hosts never report a round amount of memory."""
    if size_bytes == 0:
        return "none"
    exact = format_size(size_bytes) if size_bytes % 1024 == 0 else ""
    return exact if exact and len(exact) <= 5 else f"{figure(size_bytes / 2**30)} GiB"


def origins(findings: CampaignCells) -> tuple[Origin, ...]:
    """Return one entry for each source, format and unit.

    They are those of the attempts that count, or of those that are shown where none counts.
    """
    shown = ((result.cell.id, result.shown.provenance) for result in findings.cells if result.shown)
    known = ((cell, own) for cell, own in shown if own)
    groups = grouped(((own.source, own.licence, own.format, own.unit_taken), (cell, own)) for cell, own in known)
    return tuple(_origin(*group, dict(cells)) for group, cells in groups.items())


def stated_facts(findings: CampaignCells, variant: str) -> dict[str, str]:
    """Return the facts that people stated about a variant's environment.

    Several values of a fact are joined in one text.
    """
    shown = (result.shown for result in findings.of_variant(variant))
    stated = (attempt.provenance.environment for attempt in shown if attempt and attempt.provenance)
    values_by_fact = grouped(fact for facts in stated for fact in facts.items())
    return {fact: " or ".join(sorted({*values})) for fact, values in values_by_fact.items()}


def _origin(source: str, licence: str, form: str, unit: str, cells: Mapping[str, Provenance]) -> Origin:
    stated = [(fact, (value, cell)) for cell, own in cells.items() for fact, value in own.environment.items()]
    unknown = [(fact, cell) for cell, own in cells.items() for fact in own.unknown]
    return Origin(
        source=source,
        licence=licence,
        format=form,
        unit=unit,
        cells=tuple(cells),
        told={fact: grouped(values) for fact, values in grouped(stated).items()},
        unknown=grouped(unknown),
    )


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


def environment_context(findings: Findings) -> Mapping[str, Any]:
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
