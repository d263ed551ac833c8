"""A definition taken apart: what is judged, searched and reported as if it were a campaign of its own."""

from dataclasses import dataclass, replace

from plimsoll.domain.definition import Definition
from plimsoll.domain.loads import TakenLoad
from plimsoll.domain.stage import OpenedLoad, Stage, StageOpening
from plimsoll.domain.workload import NamedWorkload


def part_name(stage: str, workload: str) -> str:
    """How a stage's workload is named; both are empty where the campaign has one alone."""
    return "-".join(filter(None, (stage, workload)))


@dataclass(frozen=True)
class Part:
    """One workload in one stage of a campaign: their ids, and the definition as if there were no others.

    `workload` is empty where the campaign has one alone, and so is `stage`; with neither `definition` is the
    campaign's own. `places`: of the stage and of the workload in the definition, from 0.
    """

    workload: str
    definition: Definition
    stage: str = ""
    title: str = ""
    taken: TakenLoad | None = None
    """How its load is taken from an earlier stage's results; None where its loads are its own."""
    opening: StageOpening | None = None
    """The loads that were found so; None before."""
    places: tuple[int, int] = (0, 0)

    @property
    def name(self) -> str:
        """Short name, for headings and folders; empty where the campaign has one part alone."""
        return part_name(self.stage, self.workload)

    @property
    def source(self) -> str:
        """Name of the part whose results give its loads; empty where they are its own."""
        return part_name(self.taken.source, self.workload) if self.taken else ""

    @property
    def is_open(self) -> bool:
        """Whether its loads are known."""
        return self.taken is None or self.opening is not None

    @property
    def opened(self) -> tuple[OpenedLoad, ...]:
        """What its loads were taken from, by variant; empty where they are its own, or not known yet."""
        return self.opening.of_workload(self.workload) if self.opening else ()

    @property
    def level(self) -> str:
        """How ids of its cells name a load that is taken from another stage; empty where they say the load itself."""
        return self.taken.slug if self.taken else ""

    def loads_of(self, variant: str) -> tuple[int, ...]:
        """The variant's loads in ops/s, in the definition's order; none while they are not known."""
        if self.taken is None:
            return self.definition.loads
        return tuple(one.load_ops_s for one in self.opened if one.variant == variant and one.load_ops_s is not None)


def parts(definition: Definition) -> tuple[Part, ...]:
    """The parts in the definition's order, stage by stage; one for a definition with one stage and one workload."""
    return tuple(
        _part(definition, (place, stage, alone), workload)
        for place, (stage, alone) in enumerate(definition.of_stages)
        for workload in enumerate(definition.workloads or (None,))
    )


def workload_ids(definition: Definition) -> tuple[str, ...]:
    """Ids of the workloads as cells name them; none where the campaign has one alone."""
    return tuple(one.id for one in definition.workloads) if len(definition.workloads) > 1 else ()


def stage_ids(definition: Definition) -> tuple[str, ...]:
    """Ids of the stages as cells name them; none where the campaign has one alone."""
    return tuple(one.id for one in definition.stages) if len(definition.stages) > 1 else ()


def most_repeats(definition: Definition) -> int:
    """Repeats of the stage that has the most."""
    return max(alone.repeats for _, alone in definition.of_stages)


def _part(
    campaign: Definition, staged: tuple[int, Stage | None, Definition], numbered: tuple[int, NamedWorkload | None]
) -> Part:
    (place, stage, alone), (number, workload) = staged, numbered
    name = workload.id if workload and len(campaign.workloads) > 1 else ""
    part = Part(
        workload=name,
        definition=alone if workload is None else _with(alone, workload),
        stage=stage.id if stage and len(campaign.stages) > 1 else "",
        title=stage.label if stage else "",
        taken=stage.taken if stage else None,
        opening=campaign.openings.get(stage.id) if stage and stage.taken else None,
        places=(place, number),
    )
    return part if part.opening is None else _with_loads(part)


def _with(definition: Definition, workload: NamedWorkload) -> Definition:
    return definition.model_copy(update={"workload": workload.alone, "workloads": ()})


def _with_loads(part: Part) -> Part:
    """Its definition has all loads of all variants, rising."""
    loads = sorted({one.load_ops_s for one in part.opened if one.load_ops_s is not None})
    return replace(part, definition=part.definition.model_copy(update={"loads": tuple(loads)}))
