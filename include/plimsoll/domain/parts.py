"""A definition taken apart: what is judged, searched and reported as if it were a campaign of its own."""

from dataclasses import dataclass

from plimsoll.domain.definition import Definition
from plimsoll.domain.workload import NamedWorkload


@dataclass(frozen=True)
class Part:
    """One workload of a campaign: its id, and the definition as if there were no other.

    `workload` is empty where the campaign has one alone, and then `definition` is the campaign's own.
    """

    workload: str
    definition: Definition

    @property
    def name(self) -> str:
        """Short name, for headings and folders; empty where the campaign has one part alone."""
        return self.workload


def parts(definition: Definition) -> tuple[Part, ...]:
    """The parts in the definition's order; one for a definition with one workload."""
    if not definition.workloads:
        return (Part("", definition),)
    named = len(definition.workloads) > 1
    return tuple(Part(one.id if named else "", _with(definition, one)) for one in definition.workloads)


def workload_ids(definition: Definition) -> tuple[str, ...]:
    """Ids of the workloads as cells name them; none where the campaign has one alone."""
    return tuple(part.workload for part in parts(definition) if part.workload)


def _with(definition: Definition, workload: NamedWorkload) -> Definition:
    return definition.model_copy(update={"workload": workload.alone, "workloads": ()})
