"""The sources of imported cells, the facts that people stated about their environment, and the unknown facts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from plimsoll.analysis.campaign.findings import CampaignCells
from plimsoll.domain.provenance import Provenance

_T = TypeVar("_T")


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


def origins(findings: CampaignCells) -> tuple[Origin, ...]:
    """Return one entry for each source, format and unit, of the attempts that count, or that are shown where none
    counts.
    """
    groups: defaultdict[tuple[str, str, str, str], dict[str, Provenance]] = defaultdict(dict)
    for result in findings.cells:
        found = result.shown.provenance if result.shown else None
        if found is not None:
            groups[found.source, found.licence, found.format, found.unit_taken][result.cell.id] = found
    return tuple(_origin(*place, cells) for place, cells in groups.items())


def stated_facts(findings: CampaignCells, variant: str) -> dict[str, str]:
    """Return the facts that people stated about a variant's environment.

    Several values of a fact are joined in one text.
    """
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for result in findings.of_variant(variant):
        found = result.shown.provenance if result.shown else None
        for fact, value in (found.environment if found else {}).items():
            seen[fact].add(value)
    return {fact: " or ".join(sorted(values)) for fact, values in seen.items()}


def _origin(source: str, licence: str, form: str, unit: str, cells: Mapping[str, Provenance]) -> Origin:
    stated = [(fact, (value, cell)) for cell, one in cells.items() for fact, value in one.environment.items()]
    unknown = [(fact, cell) for cell, one in cells.items() for fact in one.unknown]
    return Origin(
        source=source,
        licence=licence,
        format=form,
        unit=unit,
        cells=tuple(cells),
        told={fact: grouped(values) for fact, values in grouped(stated).items()},
        unknown=grouped(unknown),
    )


def grouped(pairs: Iterable[tuple[str, _T]]) -> dict[str, tuple[_T, ...]]:
    """Return the values of each name, in order."""
    groups: defaultdict[str, list[_T]] = defaultdict(list)
    for name, value in pairs:
        groups[name].append(value)
    return {name: tuple(values) for name, values in groups.items()}
