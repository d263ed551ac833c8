"""Facts that hosts reported: those that are equal everywhere, that vary by variant or by host, and that deviate.

The report compares all that hosts report, and the checks of a campaign only what has to be the same in all cells.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.analysis import grouped
from plimsoll.domain.hosts.fingerprint import HostFacts

ABSENT = "(not reported)"

_Kind = Literal["variant", "host", "deviation", "own"]


@dataclass(frozen=True)
class HostReport:
    """The report of one host of one cell, or of one of its processes: fact → value. Compared by `role`."""

    variant: str
    cell: str
    host: str
    role: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Deviation:
    """A fact that differs between a variant's own cells: each variant's usual value, and the cells with another one."""

    fact: str
    usual: Mapping[str, str]
    others: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class ComparedFacts:
    """Facts, grouped by where they vary.

    `equal`: fact → the value of all hosts that are compared. `by_variant`: fact → variant → value, also of facts that
    only some variants have. `by_host`: fact → value → hosts, where a host reports the same in every cell.
    `own_everywhere`: facts that are different on every host of every cell, as names are.
    """

    equal: Mapping[str, str]
    by_variant: Mapping[str, Mapping[str, str]]
    by_host: Mapping[str, Mapping[str, tuple[str, ...]]]
    deviations: tuple[Deviation, ...]
    own_everywhere: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """The value of one fact on one host of one cell."""

    variant: str
    cell: str
    host: str
    value: str


def compare_facts(hosts: Sequence[HostReport]) -> ComparedFacts:
    """Group the facts of all hosts. A fact that only some hosts of a role report has the value ABSENT on the others."""
    observed = dict(_observed(hosts))
    variants = {host.variant for host in hosts}
    varied = {
        fact: seen
        for fact, seen in observed.items()
        if _varies(seen) or {observation.variant for observation in seen} < variants
    }
    of_kind = grouped((_kind(seen), fact) for fact, seen in varied.items())
    return ComparedFacts(
        equal={fact: seen[0].value for fact, seen in observed.items() if fact not in varied},
        by_variant={
            fact: {observation.variant: observation.value for observation in varied[fact]}
            for fact in of_kind.get("variant", ())
        },
        by_host={fact: _hosts_by_value(varied[fact]) for fact in of_kind.get("host", ())},
        deviations=tuple(_deviation(fact, varied[fact]) for fact in of_kind.get("deviation", ())),
        own_everywhere=of_kind.get("own", ()),
    )


def facts_of_host(facts: HostFacts, memory: Callable[[int], str], size: Callable[[int], str]) -> dict[str, str]:
    """Return the facts of hardware and system; `memory` writes memory and swap as text, `size` other sizes."""
    return {
        "operating system": facts.os,
        "kernel": facts.kernel,
        "CPU": facts.cpu_model,
        "CPUs": str(facts.cpus),
        "memory": memory(facts.memory_bytes),
        "page size": size(facts.page_size_bytes),
        "transparent huge pages": facts.transparent_huge_pages,
        "transparent huge pages of shared memory": facts.shared_huge_pages,
        "data disk": facts.data_disk,
        "swap": memory(facts.swap_bytes),
    }


def varied_facts(hosts: Sequence[HostReport]) -> Mapping[str, Sequence[Observation]]:
    """Return facts with several values on the hosts of one role."""
    return {fact: seen for fact, seen in _observed(hosts) if _varies(seen)}


def _observed(hosts: Sequence[HostReport]) -> Iterator[tuple[str, Sequence[Observation]]]:
    """Yield each fact with its value on every host of its role."""
    for role in dict.fromkeys(host.role for host in hosts):
        own = [host for host in hosts if host.role == role]
        for fact in dict.fromkeys(name for host in own for name in host.facts):
            yield fact, [Observation(host.variant, host.cell, host.host, host.facts.get(fact, ABSENT)) for host in own]


def _varies(seen: Sequence[Observation]) -> bool:
    return any(observation.value != seen[0].value for observation in seen)


def _kind(seen: Sequence[Observation]) -> _Kind:
    values = [observation.value for observation in seen]
    variants, hosts = [observation.variant for observation in seen], [observation.host for observation in seen]
    if _decides(variants, values):
        return "variant"
    if _decides(hosts, values):
        return "host"
    return "own" if len(set(values)) == len(values) else "deviation"


def _decides(keys: Sequence[str], values: Sequence[str]) -> bool:
    """Tell whether equal keys have equal values."""
    return len(set(zip(keys, values, strict=True))) == len(set(keys))


def _hosts_by_value(seen: Sequence[Observation]) -> dict[str, tuple[str, ...]]:
    hosts = grouped((observation.value, observation.host) for observation in seen)
    return {value: tuple(dict.fromkeys(hosts[value])) for value in ranked(seen)}


def _deviation(fact: str, seen: Sequence[Observation]) -> Deviation:
    of_variants = grouped((observation.variant, observation) for observation in seen)
    usual = {variant: ranked(own)[0] for variant, own in of_variants.items()}
    odd = [observation for observation in seen if observation.value != usual[observation.variant]]
    by_value = grouped((observation.value, observation) for observation in odd)
    whole = Counter(observation.cell for observation in seen)
    others = {value: _places(by_value[value], whole) for value in ranked(odd)}
    return Deviation(fact=fact, usual=usual, others=others)


def _places(odd: Sequence[Observation], hosts_of: Mapping[str, int]) -> tuple[str, ...]:
    """Return the cells where every host has the value; cell and hosts where only some have it."""
    cells = grouped((observation.cell, observation.host) for observation in odd)
    return tuple(
        cell if len(hosts) == hosts_of[cell] else f"{cell} ({', '.join(hosts)})" for cell, hosts in cells.items()
    )


def ranked(seen: Sequence[Observation]) -> list[str]:
    """Return the values, the most frequent first."""
    return [value for value, _ in Counter(observation.value for observation in seen).most_common()]
