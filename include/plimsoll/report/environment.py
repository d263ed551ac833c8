"""The real environment of the cells: facts that are equal everywhere, by variant or by host, and deviations."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from plimsoll.domain.cell import Cell
from plimsoll.domain.fingerprint import Fingerprint, HostFacts, NodeFingerprint
from plimsoll.domain.units import format_size
from plimsoll.report.findings import Findings
from plimsoll.report.words import figure

ABSENT = "(not reported)"
_KINDS = ("variant", "host", "deviation", "own")


@dataclass(frozen=True, slots=True)
class Observation:
    """The value of one fact on one host of one cell."""

    variant: str
    cell: str
    host: str
    value: str


@dataclass(frozen=True)
class _Host:
    place: tuple[str, str, str]
    role: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Deviation:
    """A fact that differs between a variant's own cells: each variant's usual value, and the cells with another one."""

    fact: str
    usual: Mapping[str, str]
    others: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Environment:
    """Facts, grouped by where they vary. `by_variant`: fact → variant → value; `by_host`: fact → value → hosts."""

    equal: Mapping[str, str]
    by_variant: Mapping[str, Mapping[str, str]]
    by_host: Mapping[str, Mapping[str, tuple[str, ...]]]
    deviations: tuple[Deviation, ...]
    own_everywhere: tuple[str, ...]
    without_fingerprint: tuple[str, ...]
    largest_clock_offset_ms: float | None


def environment(findings: Findings) -> Environment:
    """Compare the fingerprints of the attempts that count, or that are shown where none counts."""
    shown = [(result.cell, result.shown) for result in findings.cells if result.shown]
    present = [(cell, attempt.fingerprint) for cell, attempt in shown if attempt.fingerprint]
    equal, varied = _compared([one for cell, found in present for one in _hosts(cell, found)])
    kinds = {fact: _kind(seen) for fact, seen in varied.items()}
    of_kind = {
        kind: [fact for fact in kinds if kinds[fact] == kind] for kind in ("variant", "host", "deviation", "own")
    }
    offsets = [abs(offset) for _, fingerprint in present for offset in _clock_offsets_ms(fingerprint)]
    return Environment(
        equal=equal,
        by_variant={fact: {one.variant: one.value for one in varied[fact]} for fact in of_kind["variant"]},
        by_host={fact: _hosts_by_value(varied[fact]) for fact in of_kind["host"]},
        deviations=tuple(_deviation(fact, varied[fact]) for fact in of_kind["deviation"]),
        own_everywhere=tuple(of_kind["own"]),
        without_fingerprint=tuple(cell.id for cell, attempt in shown if attempt.fingerprint is None),
        largest_clock_offset_ms=max(offsets, default=None),
    )


def _clock_offsets_ms(fingerprint: Fingerprint) -> Sequence[float]:
    """The offsets of the nodes' clocks and of the first load host's from the controller's, ms."""
    return [fingerprint.load_clock_offset_ms, *(node.clock_offset_ms for node in fingerprint.nodes)]


def _compared(hosts: Sequence[_Host]) -> tuple[dict[str, str], dict[str, list[Observation]]]:
    """Facts with one value on all hosts of their role, and the observations of all other facts."""
    equal: dict[str, str] = {}
    varied: dict[str, list[Observation]] = {}
    for role in dict.fromkeys(host.role for host in hosts):
        own = [host for host in hosts if host.role == role]
        for fact in dict.fromkeys(name for host in own for name in host.facts):
            values = [host.facts.get(fact, ABSENT) for host in own]
            if len(set(values)) == 1:
                equal[fact] = values[0]
            else:
                varied[fact] = [Observation(*host.place, value) for host, value in zip(own, values, strict=True)]
    return equal, varied


def _hosts(cell: Cell, fingerprint: Fingerprint) -> Iterator[_Host]:
    for node in fingerprint.nodes:
        yield _Host((cell.variant, cell.id, node.host), "node", _node_facts(node))
    rows = "" if fingerprint.counted_rows is None else f"{fingerprint.counted_rows:,}"
    generator = {"generator": fingerprint.load_generator, "rows, counted from a size": rows}
    for host, said in fingerprint.load_hosts.items():
        facts = _host_facts(said) | generator
        own = {f"load host: {name}": value for name, value in facts.items() if value}
        yield _Host((cell.variant, cell.id, host), "load", own)


def _node_facts(node: NodeFingerprint) -> dict[str, str]:
    """The facts that a node reports, in the order that reports have always used.

    Facts of a JVM are among them only where the database runs in one.
    """
    jvm, database = node.jvm, {"database": f"{node.database} {node.database_version}"}
    if jvm is None:
        return database | _host_facts(node.facts)
    return {
        **database,
        "JVM": f"{jvm.name} {jvm.version}, {jvm.vendor}",
        "collector": f"{jvm.collector or 'unknown'} ({', '.join(jvm.collector_beans)})",
        "heap": _size(jvm.heap_max_bytes),
        **_host_facts(node.facts),
        **_arguments(jvm.arguments, node.address),
        **{f"flag {name}": _masked(value, node.address) for name, value in sorted(jvm.flags.items())},
    }


def _host_facts(facts: HostFacts) -> dict[str, str]:
    return {
        "operating system": facts.os,
        "kernel": facts.kernel,
        "CPU": facts.cpu_model,
        "CPUs": str(facts.cpus),
        "memory": _size(facts.memory_bytes),
        "page size": _size(facts.page_size_bytes),
        "transparent huge pages": facts.transparent_huge_pages,
        "swap": _size(facts.swap_bytes),
        **facts.provider,
    }


def _arguments(arguments: Sequence[str], address: str) -> dict[str, str]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for argument in arguments:
        found[f"option {_stem(argument)}"].append(_masked(argument, address))
    return {name: " ".join(sorted(values)) for name, values in sorted(found.items())}


@cache
def _stem(argument: str) -> str:
    """The name of a JVM option: `-XX:+UseG1GC` → `-XX:UseG1GC`, `-Xmx4G` → `-Xmx`, `-Da.b=c` → `-Da.b`."""
    heap = re.match(r"-X(mx|ms|mn|ss)(?=\d)", argument)
    if heap:
        return heap[0]
    return re.sub(r"^-XX:[+-]", "-XX:", argument).partition("=")[0] if argument.startswith("-XX:") else _head(argument)


def _head(argument: str) -> str:
    return re.split(r"[=:]", argument, maxsplit=1)[0]


def _masked(text: str, address: str) -> str:
    """The value without paths, ports and the node's own address, which differ between cells by design."""
    return _without_paths(text.replace(address, "‹address›") if address else text)


@cache
def _without_paths(text: str) -> str:
    text = re.sub(r"(?<![\w.])/[^\s:,;=]+", "‹path›", text)
    return re.sub(r"(port\w*=)\d+", r"\1‹port›", text, flags=re.IGNORECASE)


def _kind(seen: Sequence[Observation]) -> str:
    for kind, key in _EXPLANATIONS.items():
        if len({(key(one), one.value) for one in seen}) == len({key(one) for one in seen}):
            return kind
    return "own" if len({one.value for one in seen}) == len(seen) else "deviation"


_EXPLANATIONS: Mapping[str, Callable[[Observation], object]] = {
    "variant": lambda one: one.variant,
    "host": lambda one: one.host,
}


def _hosts_by_value(seen: Sequence[Observation]) -> dict[str, tuple[str, ...]]:
    return {value: tuple(dict.fromkeys(one.host for one in seen if one.value == value)) for value in _ranked(seen)}


def _deviation(fact: str, seen: Sequence[Observation]) -> Deviation:
    usual = {
        variant: _ranked([one for one in seen if one.variant == variant])[0]
        for variant in dict.fromkeys(one.variant for one in seen)
    }
    odd = [one for one in seen if one.value != usual[one.variant]]
    whole = Counter(one.cell for one in seen)
    return Deviation(
        fact=fact,
        usual=usual,
        others={value: _places([one for one in odd if one.value == value], whole) for value in _ranked(odd)},
    )


def _places(odd: Sequence[Observation], hosts_of: Mapping[str, int]) -> tuple[str, ...]:
    """The cells where every host has the value; cell and hosts where only some have it."""
    cells: defaultdict[str, list[str]] = defaultdict(list)
    for one in odd:
        cells[one.cell].append(one.host)
    return tuple(
        cell if len(hosts) == hosts_of[cell] else f"{cell} ({', '.join(hosts)})" for cell, hosts in cells.items()
    )


def _ranked(seen: Sequence[Observation]) -> list[str]:
    return [value for value, _ in Counter(one.value for one in seen).most_common()]


def _size(size_bytes: int) -> str:
    """A size in binary units while these are exact, else in GiB: hosts never report a round amount of memory."""
    if size_bytes == 0:
        return "none"
    exact = format_size(size_bytes) if size_bytes % 1024 == 0 else ""
    return exact if exact and len(exact) <= 5 else f"{figure(size_bytes / 2**30)} GiB"
