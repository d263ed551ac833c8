"""Whether the cells of a variant ran in one environment and, if not, which cells differ from the rest.

Compared are the database, the JVM with every flag it reports, the operating system, and the load generator. Not
compared, because they always differ, are names, addresses, ports and folders of hosts, clock offsets, facts that only
the provider knows (instance ids, zones), and arguments of the JVM (its flags are compared instead).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.domain.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.domain.cell import Cell
    from plimsoll.domain.fingerprint import Fingerprint, HostFacts, JvmFacts, NodeFingerprint

HARDWARE = frozenset({"CPU", "memory", "load host: CPU", "load host: memory"})
"""Facts that a definition can't choose: of one instance type there are several models of processor."""

_SHARED = "transparent huge pages of shared memory"
_RECORDED_LATER = frozenset({_SHARED, f"load host: {_SHARED}"})
"""Facts that earlier versions did not record. Only hosts that report them are compared."""
_ABSENT = "(not reported)"
_GIB = 1 << 30


@dataclass(frozen=True)
class Deviation:
    """A fact that differs between a variant's cells: its usual value, and the cells with a host with another value."""

    variant: str
    fact: str
    usual: str
    values: int
    cells: tuple[str, ...]

    @property
    def chosen(self) -> bool:
        """Whether definition or deployment determines the fact, so that running the cells again can mend it."""
        return self.fact not in HARDWARE


def deviations(fingerprints: Mapping[Cell, Fingerprint]) -> tuple[Deviation, ...]:
    """The deviations within each variant. The value of most hosts is the usual one."""
    seen: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for variant, cells in _by_variant(fingerprints).items():
        for fact, cell, value in _varying(cells):
            seen[variant, fact].append((cell, value))
    return tuple(_deviation(variant, fact, places) for (variant, fact), places in seen.items())


def _deviation(variant: str, fact: str, places: Sequence[tuple[str, str]]) -> Deviation:
    counts = Counter(value for _, value in places)
    usual = counts.most_common(1)[0][0]
    odd = dict.fromkeys(cell for cell, value in places if value != usual)
    return Deviation(variant, fact, usual, len(counts), tuple(odd))


def _by_variant(fingerprints: Mapping[Cell, Fingerprint]) -> Mapping[str, Mapping[str, Fingerprint]]:
    found: defaultdict[str, dict[str, Fingerprint]] = defaultdict(dict)
    for cell, fingerprint in fingerprints.items():
        found[cell.variant][cell.id] = fingerprint
    return found


def _varying(cells: Mapping[str, Fingerprint]) -> Iterator[tuple[str, str, str]]:
    """Fact, cell and value of the facts with more than one value on the hosts of one role."""
    by_role = (
        [(cell, facts) for cell, one in cells.items() for facts in map(_node_facts, one.nodes)],
        [(cell, facts) for cell, one in cells.items() for facts in _load_facts(one)],
    )
    for hosts in by_role:
        names = dict.fromkeys(name for _, facts in hosts for name in facts)
        for name in names:
            places = [
                (cell, facts.get(name, _ABSENT))
                for cell, facts in hosts
                if name in facts or name not in _RECORDED_LATER
            ]
            if len({value for _, value in places}) > 1:
                yield from ((name, cell, value) for cell, value in places)


def _node_facts(node: NodeFingerprint) -> dict[str, str]:
    jvm = node.jvm
    flags = jvm.flags if jvm else {}
    return {
        "database": f"{node.database} {node.database_version}",
        **(_jvm_facts(jvm) if jvm else {}),
        **_host_facts(node.facts),
        **{f"flag {name}": value for name, value in flags.items() if "/" not in value},
    }


def _jvm_facts(jvm: JvmFacts) -> dict[str, str]:
    return {
        "JVM": f"{jvm.name} {jvm.version}, {jvm.vendor}",
        "collector": str(jvm.collector),
        "heap": format_size(jvm.heap_max_bytes),
    }


def _load_facts(fingerprint: Fingerprint) -> Iterator[dict[str, str]]:
    for facts in fingerprint.load_hosts.values():
        host = {f"load host: {name}": value for name, value in _host_facts(facts).items()}
        yield host | {"load generator": fingerprint.load_generator}


def _host_facts(facts: HostFacts) -> dict[str, str]:
    return {
        "operating system": facts.os,
        "kernel": facts.kernel,
        "CPU": facts.cpu_model,
        "CPUs": str(facts.cpus),
        # A kernel keeps a little more or less of it to itself from one start to the next.
        "memory": f"{facts.memory_bytes / _GIB:.0f}G",
        "page size": format_size(facts.page_size_bytes),
        "transparent huge pages": facts.transparent_huge_pages,
        **({_SHARED: facts.shared_huge_pages} if facts.shared_huge_pages else {}),
        "swap": f"{facts.swap_bytes / _GIB:.0f}G",
    }
