"""A campaign as it is run: its stages, and their parts, each flat and complete; what clients of its products speak; and
sentences on the results that the loads of a stage rest on. Pure.

It is resolved once from what somebody wrote (`resolve`): whatever runs, judges or reports a cell needs no definition.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from pydantic import JsonValue

from plimsoll.domain.campaign.part import Part, Setup
from plimsoll.domain.keys.strategy import StageLoad, StageStart, StageStarts, chooses_cells
from plimsoll.domain.keys.workload import CQL, UNKNOWN, Workload

_MOST_OF_CLOSED = 90
"""The share of a closed loop's rate, per cent, up to which an open loop has time to catch up."""


@dataclass(frozen=True)
class CampaignStage:
    """A stage of a campaign: one part for each of its workloads, which differ in nothing else.

    `id` is the definition's own: empty where it has no `stages`.
    """

    id: str
    parts: tuple[Part, ...]

    def started(self, stage_start: StageStart | None) -> "CampaignStage":
        if stage_start is None:
            return self
        return replace(self, parts=tuple(part.started(stage_start) for part in self.parts))

    @property
    def first(self) -> Part:
        """Return the first part, which tells everything but the workload for all of them."""
        return self.parts[0]

    @property
    def opened_at(self) -> datetime | None:
        """Tell when its loads were taken from earlier results; None where they are its own, or not known yet."""
        return self.first.stage_start.at if self.first.stage_start else None

    @property
    def cells(self) -> int:
        """Return the number of cells of the grid."""
        return sum(part.cells for part in self.parts)

    @property
    def load_time(self) -> timedelta:
        """Return the total time under load if every cell runs once, one after another."""
        return self.cells * self.first.timing.duration

    def populated_of(self, cells: int) -> int:
        """Tell how many of that many cells populate: all, or one of each repeat whose loads share their data."""
        repeats = len(self.first.variants) * len(self.parts) * self.first.repeats
        return {"cell": cells, "repeat": min(cells, repeats)}[self.first.data_scope]

    def beyond_loads(self, cells: int) -> timedelta:
        """Return the time that the definition gives that many cells beside their loads: for waiting and populating."""
        populating = self.populated_of(cells) * self.first.timing.beyond_the_load
        return cells * (self.first.wait_for_calm or timedelta(0)) + populating

    @property
    def host_time(self) -> timedelta:
        """Return the total time for which its cells need hosts, as far as the definition tells."""
        return self.load_time + self.beyond_loads(self.cells)


@dataclass(frozen=True, kw_only=True)
class Campaign(Setup):
    """A whole campaign: its stages in order. Without `stages` in its definition it has one, without an id."""

    stages: tuple[CampaignStage, ...]
    workload_ids: tuple[str, ...]
    """The ids of the workloads as ids of cells contain them; empty where the campaign has only one workload."""

    def with_stage_starts(self, stage_starts: StageStarts) -> "Campaign":
        """Return the campaign with the loads that these stages took from earlier stages' results."""
        return replace(self, stages=tuple(stage.started(stage_starts.get(stage.id)) for stage in self.stages))

    @property
    def workload(self) -> Workload:
        """Return the first part's workload, by which hosts are looked for that belong to no cell."""
        return self.parts[0].workload

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Return the parts in the definition's order, stage by stage."""
        return tuple(part for stage in self.stages for part in stage.parts)

    def part(self, part_id: str) -> Part:
        """Return the part with that id. Raises KeyError where there is none."""
        return self._by_id[part_id]

    @cached_property
    def _by_id(self) -> Mapping[str, Part]:
        return {part.id: part for part in self.parts}

    @property
    def stage_ids(self) -> tuple[str, ...]:
        """Return the ids of the stages as ids of cells contain them; empty where the campaign has only one stage."""
        return tuple(stage.id for stage in self.stages) if len(self.stages) > 1 else ()

    @property
    def cells(self) -> int:
        """Return the number of cells of the grid. Stages whose loads are not known yet count too."""
        return sum(stage.cells for stage in self.stages)

    @property
    def most_repeats(self) -> int:
        return max(part.repeats for part in self.parts)

    @property
    def declared_time(self) -> timedelta:
        return max(part.declared_time for part in self.parts)

    @property
    def shortest(self) -> timedelta:
        """Tell how long the campaign's shortest cells are loaded."""
        return min(part.timing.duration for part in self.parts)

    @property
    def node_hosts(self) -> int:
        return max(part.node_hosts for part in self.parts)

    @property
    def cluster_size(self) -> int:
        """Return the number of hosts of one cluster: database nodes, hosts for new nodes, and load hosts."""
        return self.node_hosts + self.load_generator.hosts

    def shape_of(self, stage: CampaignStage) -> tuple[int, int]:
        """Return the numbers of hosts for nodes and of load hosts of the stage's clusters.

        Kept hosts serve cells of any stage, so there are as many as the largest stage needs.
        """
        nodes = stage.first.node_hosts if self.cluster_scope == "cell" else self.node_hosts
        return nodes, self.load_generator.hosts

    @property
    def chosen_by(self) -> str:
        """Return what chooses cells by earlier results, round after round: `strategies` of several stages, or the name
        of the only one. Empty where every cell of the grid runs in one round.
        """
        strategy = self.parts[0].strategy
        return "strategies" if len(self.stages) > 1 else strategy.name if chooses_cells(strategy) else ""

    @property
    def needed_by(self) -> str:
        """Return whose need decides which cells run: `strategies need`, `search needs`; empty where all of them do."""
        return self.chosen_by and f"{self.chosen_by} {'need' if len(self.stages) > 1 else 'needs'}"


@dataclass(frozen=True)
class Clients:
    """The clients of one product with one workload. `workload` is empty where the campaign has only one."""

    product: str
    protocol: str
    workload: str
    options: dict[str, JsonValue]

    @property
    def words(self) -> str:
        """Return the options as text: `regions 8, compression GZ`."""
        return ", ".join(f"{name} {value}" for name, value in self.options.items())

    def __str__(self) -> str:
        """Return one sentence: `clients of hbase speak hbase with kv: regions 8, compression GZ`."""
        workload = f" with {self.workload}" if self.workload else ""
        options = f": {self.words}" if self.words else ""
        return f"clients of {self.product} speak {self.protocol}{workload}{options}"


def clients_of(parts: Sequence[Part]) -> tuple[Clients, ...]:
    """Return the clients of every product with every workload, of a campaign's parts or of one of them alone.

    Empty where all speak CQL, and so have the same options, and where nobody stated what they speak.
    """
    setup: Setup = parts[0]
    if setup.protocols in ((CQL,), (UNKNOWN,)):
        return ()
    workloads = {part.workload_id if len(parts) > 1 else "": part for part in parts}
    first = {product: setup.of_product(product)[0][1] for product in setup.products}
    return tuple(
        Clients(product, part.protocol_of(variant), workload, part.client_options_of(variant))
        for workload, part in workloads.items()
        for product, variant in first.items()
    )


def stage_notes(part: Part) -> Iterator[str]:
    """Yield a sentence for each variant on the result that its load was taken from.

    Empty if the part's loads are its own. While the load is not known: a sentence on how it will be found. What to do
    about variants that have no load comes last, once for all of them.
    """
    if part.taken is None:
        return
    if critical := critical_load(part):
        yield critical
    if part.stage_start is None:
        of_what = share_in_words(part, "each variant's")
        yield f"Its loads are {of_what}: they are known once stage {part.taken.source} is complete."
        return
    workload = f" with {part.workload_id}" if part.workload_id else ""
    for load in part.found_loads:
        yield _sentence(part, load, f"{load.variant}{workload}")
    if all(load.load_ops_s is None for load in part.found_loads):
        yield f"So stage {part.stage}{workload} has no cells."
    yield from _advice(part)


def critical_load(part: Part) -> str:
    """Say that the part's load is critical by queueing alone; empty where it is not taken whole from a closed loop.

    A closed loop's rate is a bound from above: an open loop at that rate has no time to catch up after any delay.
    """
    share = (part.taken.share or 100) if part.taken else 0
    if not part.of_closed_loop or share <= _MOST_OF_CLOSED:
        return ""
    return (
        f"{share} % of a closed loop's rate is critical by queueing alone: an open loop at that rate misses whatever "
        "the database is, and its misses tell nothing of it; take a share of 50 to 90 %."
    )


def notes_of_stage(of_workloads: Sequence[Part]) -> tuple[str, ...]:
    """Collect the notes of all workloads of a stage. Sentences that are the same for several of them appear once."""
    notes = [note for part in of_workloads for note in stage_notes(part)]
    last = {advice for part in of_workloads for advice in _advice(part)}
    return (*dict.fromkeys(note for note in notes if note not in last), *last)


def share_in_words(part: Part, whose: str) -> str:
    """Return what the part's load is of earlier results: `70 % of its maximum`, where `whose` is `its`."""
    share = part.taken.share if part.taken else None
    return f"the slowest variant's {_base(part)}" if share is None else f"{share} % of {whose} {_base(part)}"


def _advice(part: Part) -> Iterator[str]:
    if part.stage_start and any(load.maximum_ops_s is None for load in part.found_loads):
        source = part.stage_start.of
        yield f"To measure variants that have no maximum, begin a new campaign with lower loads in stage {source}."


def _sentence(part: Part, load: StageLoad, who: str) -> str:
    assert part.stage_start is not None
    source, base, cells = part.stage_start.of, _base(part), ", ".join(load.decided_by)
    if load.maximum_ops_s is None:
        here = "" if part.level == "slowest" else " and no cells here"
        return f"{who} was not found to carry a load of stage {source} ({cells}), so it has no {base}{here}."
    least = "at least " if load.kind == "at-least" else ""
    runs = f"it runs at {load.load_ops_s:,} ops/s" if load.load_ops_s else "there is no load for all variants"
    return f"{who}: {base} {least}{load.maximum_ops_s:,} ops/s in stage {source}, as {cells} decided; {runs}."


def _base(part: Part) -> str:
    """Return what the part's load is taken from, in words."""
    return "rate in the closed loop" if part.of_closed_loop else "maximum"
