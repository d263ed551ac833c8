"""The parts of a definition. Each part is judged, searched and reported like a campaign of its own."""

from dataclasses import dataclass, replace

from plimsoll.domain.definition import Definition
from plimsoll.domain.loads import CLOSED, TakenLoad
from plimsoll.domain.stage import Stage, StageLoad, StageStart
from plimsoll.domain.workload import NamedWorkload


def part_name(stage: str, workload: str) -> str:
    """Return the name of a part, from the ids of its stage and workload.

    An id is empty where the campaign has only one.
    """
    return "-".join(filter(None, (stage, workload)))


@dataclass(frozen=True)
class Part:
    """One workload in one stage of a campaign: their ids, and a definition with nothing else in it.

    `stage` is empty where the campaign has only one stage, `workload` where it has only one workload. Where both are
    empty, `definition` is the campaign's own. `places`: the indices of the stage and the workload in the definition,
    from 0.
    """

    workload: str
    definition: Definition
    stage: str = ""
    title: str = ""
    taken: TakenLoad | None = None
    """The rule by which the load is taken from an earlier stage's results; None where the loads are the part's own."""
    of_closed_loop: bool = False
    """Whether that earlier stage is a closed loop, which has no maximum but a rate."""
    stage_start: StageStart | None = None
    """The loads that were found by that rule; None before."""
    places: tuple[int, int] = (0, 0)

    @property
    def name(self) -> str:
        """Return the short name for files and anchors; empty where the campaign has only one part."""
        return part_name(self.stage, self.workload)

    @property
    def heading(self) -> str:
        """Return the stage's title and the workload for people; empty where the campaign has only one part."""
        return ", ".join(filter(None, (self.title if self.stage else "", self.workload)))

    @property
    def source(self) -> str:
        """Return the name of the part whose results give the loads; empty where the part has loads of its own."""
        return part_name(self.taken.source, self.workload) if self.taken else ""

    @property
    def has_loads(self) -> bool:
        """Tell whether the loads of the part are known."""
        return self.taken is None or self.stage_start is not None

    @property
    def found_loads(self) -> tuple[StageLoad, ...]:
        """Return the results that each variant's load was taken from.

        Empty for a part with loads of its own, and while the loads are not known.
        """
        return self.stage_start.of_workload(self.workload) if self.stage_start else ()

    @property
    def level(self) -> str:
        """Return the name of the load in cell ids, where the load comes from another stage; else empty."""
        return self.taken.slug if self.taken else ""

    def loads_of(self, variant: str) -> tuple[int, ...]:
        """Return the variant's loads in ops/s, in the definition's order; empty while the loads are not known."""
        if self.taken is None:
            return self.definition.loads
        return tuple(
            one.load_ops_s for one in self.found_loads if one.variant == variant and one.load_ops_s is not None
        )


def parts(definition: Definition) -> tuple[Part, ...]:
    """Return the parts in the definition's order, stage by stage.

    A definition with one stage and one workload has one part.
    """
    return tuple(
        _part(definition, (place, stage, alone), (number, workload))
        for place, (stage, alone) in enumerate(definition.of_stages)
        for number, workload in enumerate(definition.workloads or (None,))
        if stage is None or workload is None or stage.has(workload.id)
    )


def workload_ids(definition: Definition) -> tuple[str, ...]:
    """Return the ids of the workloads as ids of cells contain them; empty where the campaign has only one workload."""
    return tuple(one.id for one in definition.workloads) if len(definition.workloads) > 1 else ()


def stage_ids(definition: Definition) -> tuple[str, ...]:
    """Return the ids of the stages as ids of cells contain them; empty where the campaign has only one stage."""
    return tuple(one.id for one in definition.stages) if len(definition.stages) > 1 else ()


def only_strategy(definition: Definition) -> str:
    """Return the name of the strategy of a campaign with one stage."""
    return definition.of_stages[0][1].strategy.name


def most_repeats(definition: Definition) -> int:
    """Return the greatest number of repeats in any stage."""
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
        of_closed_loop=_is_of_closed_loop(campaign, stage),
        stage_start=campaign.stage_starts.get(stage.id) if stage and stage.taken else None,
        places=(place, number),
    )
    return part if part.stage_start is None else _with_loads(part)


def _is_of_closed_loop(campaign: Definition, stage: Stage | None) -> bool:
    """Tell whether the stage's load comes from a closed loop."""
    source = stage.taken.source if stage and stage.taken else None
    return any(one.id == source and (one.loop or campaign.loop) == CLOSED for one in campaign.stages)


def _with(definition: Definition, workload: NamedWorkload) -> Definition:
    return definition.model_copy(update={"workload": workload.alone, "workloads": ()})


def _with_loads(part: Part) -> Part:
    """Return the part with a definition that lists all loads of all variants, rising."""
    loads = sorted({one.load_ops_s for one in part.found_loads if one.load_ops_s is not None})
    return replace(part, definition=part.definition.model_copy(update={"loads": tuple(loads)}))
