"""What a campaign's hosts reported: facts that are equal everywhere, that vary by variant or by host, and that deviate;
what disturbed them, other machines and other programs; and how far their clocks were off.

The report compares all that hosts report, and the checks of a campaign only what has to be the same in all cells.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CellResult
from plimsoll.domain.hosts.fingerprint import Fingerprint, HostFacts
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.text.base import Model

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


class Steal(Model):
    """Processor time that other virtual machines took from a host, as a share of the judged time."""

    mean: float
    highest: float
    highest_at: Annotated[str, Field(description="Cell and host")]


class OtherPrograms(Model):
    """Processor time of programs outside the attempt, as a share of all processors."""

    cells: Annotated[int, Field(description="Cells of which it was sampled")]
    mean: Annotated[float, Field(description="Over their hosts and judged time")]
    highest: Annotated[float, Field(description="Of any judged interval of any host")]
    highest_at: Annotated[str, Field(description="Cell and host")]


def steal(cells: Iterable[CellResult]) -> Steal | None:
    """Return the steal of all hosts of attempts that count. None: no host was sampled."""
    seen = _of_hosts(cells, "cpu_steal", "cpu_steal")
    if not seen:
        return None
    highest, _, cell, host = max(seen)
    return Steal(mean=sum(share for share, *_ in seen) / len(seen), highest=highest, highest_at=f"{cell} {host}")


def other_programs(cells: Iterable[CellResult]) -> OtherPrograms | None:
    """Return the processor time that other programs took from all hosts of attempts that count. None: not sampled."""
    seen = _of_hosts(cells, "cpu_others_highest", "cpu_others")
    if not seen:
        return None
    highest, _, cell, host = max(seen)
    return OtherPrograms(
        cells=len({cell for _, _, cell, _ in seen}),
        mean=sum(mean for _, mean, _, _ in seen) / len(seen),
        highest=highest,
        highest_at=f"{cell} {host}",
    )


def _of_hosts(cells: Iterable[CellResult], highest: str, mean: str) -> list[tuple[float, float, str, str]]:
    """Return two figures of each host of the attempts that count, where the first is known, with cell and host."""
    return [
        (float(most), float(usual), result.cell.id, str(host))
        for result in cells
        if result.counted is not None and highest in result.counted.hosts
        for host, most, usual in result.counted.hosts[["host", highest, mean]].itertuples(index=False)
        if not isnan(most)
    ]


def noise_facts(cells: Sequence[CellResult], bounds: Disturbance) -> dict[str, str]:
    """Tell how much noise the hosts of the shown attempts had, in words that are equal for all calm hosts."""
    shown = [result.shown.hosts for result in cells if result.shown]
    facts = {}
    for fact, column, percent in (
        ("CPU of other programs", "cpu_others_highest", bounds.foreign_cpu),
        ("CPU of other machines", "cpu_steal", bounds.steal),
    ):
        if known := [share for table in shown if column in table for share in table[column].dropna()]:
            facts[fact] = f"up to {max(known):.0%}" if max(known) > percent / 100 else f"at most {percent}%"
    disturbed = sum(attempt.verdict.is_disturbed for result in cells for attempt in result.attempts)
    return {**facts, "attempts that noise disturbed": str(disturbed or "none")}


def clock_offset_ms(cells: Iterable[CellResult]) -> float | None:
    """Return the largest offset of a node's clock from the load host's, in attempts that count, ms. None: not known."""
    fingerprints = [result.counted.fingerprint for result in cells if result.counted]
    return largest_from_load_host_ms(fingerprint for fingerprint in fingerprints if fingerprint)


def largest_from_controller_ms(fingerprints: Iterable[Fingerprint]) -> float | None:
    """Return the largest offset of a node's or first load host's clock from the controller's, ms; None: no attempt."""
    return max(
        (
            abs(offset)
            for fingerprint in fingerprints
            for offset in (fingerprint.load_clock_offset_ms, *(node.clock_offset_ms for node in fingerprint.nodes))
        ),
        default=None,
    )


def largest_from_load_host_ms(fingerprints: Iterable[Fingerprint]) -> float | None:
    """Return the largest offset, ms, of a node's clock from its first load host's: it is taken out of nodes' times."""
    return max((abs(ahead) for fingerprint in fingerprints for ahead in fingerprint.ahead_ms().values()), default=None)
