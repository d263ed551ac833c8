"""Compare whether the cells of a variant ran in one environment and, if not, find the cells that differ from the rest.

Compared are the database, the JVMs with every flag they report, the operating system, and the load generator. Not
compared, because they always differ, are names, addresses, ports and folders of hosts, clock offsets, facts that only
the provider knows (instance ids, zones), and arguments of the JVM (its flags are compared instead). The report compares
facts in the same way (`analysis.campaign.host_facts`), but more of them, and shows where they vary.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.host_facts import HostReport, Observation, facts_of_host, ranked, varied_facts
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.hosts.cluster import PROCESSORS
from plimsoll.domain.hosts.fingerprint import Fingerprint, HostFacts, ProcessFingerprint
from plimsoll.domain.keys.process import by_prefix
from plimsoll.domain.text.units import format_size

HARDWARE = frozenset(f"{role}{fact}" for role in ("", "load host: ") for fact in ("CPU", "memory", "data disk"))
"""Facts that a definition can't choose: of one instance type there are several models of processor."""

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
        """Tell whether definition or deployment determines the fact, so that running the cells again can mend it."""
        return self.fact not in HARDWARE


def deviations(fingerprints: Mapping[Cell, Fingerprint]) -> tuple[Deviation, ...]:
    """Return the deviations within each variant. The value of most hosts is the usual one."""
    hosts = grouped(
        (cell.variant, report) for cell, fingerprint in fingerprints.items() for report in _reports(cell, fingerprint)
    )
    return tuple(
        _deviation(variant, fact, seen) for variant, own in hosts.items() for fact, seen in varied_facts(own).items()
    )


def _deviation(variant: str, fact: str, seen: Sequence[Observation]) -> Deviation:
    values = ranked(seen)
    odd = dict.fromkeys(observation.cell for observation in seen if observation.value != values[0])
    return Deviation(variant, fact, values[0], len(values), tuple(odd))


def _reports(cell: Cell, fingerprint: Fingerprint) -> Iterator[HostReport]:
    # What somebody else's machines are, no definition asks for.
    for node in () if fingerprint.reported_nodes else fingerprint.nodes:
        database = {"database": f"{node.database} {node.database_version}"}
        yield HostReport(cell.variant, cell.id, node.host, "node", database | _host_facts(node.facts))
        for prefix, process in by_prefix(node.processes).items():
            # Not every node runs every process, so each is compared with its like.
            process_facts = {f"{prefix}{name}": value for name, value in _process_facts(process).items()}
            yield HostReport(cell.variant, cell.id, node.host, process.name, process_facts)
    for host, facts in fingerprint.load_hosts.items():
        own = {f"load host: {name}": value for name, value in _host_facts(facts).items()}
        own["load generator"] = fingerprint.load_generator
        yield HostReport(cell.variant, cell.id, host, "load", own)


def _process_facts(process: ProcessFingerprint) -> dict[str, str]:
    version = {"version": process.version} if process.version else {}
    jvm = process.jvm
    if jvm is None:
        return version
    return {
        **version,
        "JVM": f"{jvm.name} {jvm.version}, {jvm.vendor}",
        "collector": str(jvm.collector),
        "heap": format_size(jvm.heap_max_bytes),
        # A flag with a path, which lies in an attempt's own folder, always differs
        **{f"flag {name}": value for name, value in jvm.flags.items() if "/" not in value},
    }


def _host_facts(facts: HostFacts) -> dict[str, str]:
    # A kernel keeps a little more or less of its memory to itself from one start to the next.
    own = {"own processors": facts.provider[PROCESSORS]} if PROCESSORS in facts.provider else {}
    return facts_of_host(facts, lambda size_bytes: f"{size_bytes / _GIB:.0f}G", format_size) | own
