"""Cells and attempts: the units of work of a campaign."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.contradictions import LONGEST_CELL_ID
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.parts import Part, part_name, parts

CAMPAIGN_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""The form of a campaign's id. Python's own `re` must match it with `fullmatch`: its `$` lets a line break follow."""
LONGEST_CAMPAIGN_ID = 100


class Cell(Model):
    """One (stage, variant, workload, load, repeat) of a campaign.

    `stage` and `workload` are empty where the campaign has one alone. `level` names the load where it is taken from the
    results of an earlier stage.
    """

    stage: LeftOutIfEmpty[str] = ""
    variant: str
    workload: LeftOutIfEmpty[str] = ""
    load_ops_s: Annotated[int, Field(gt=0)]
    level: LeftOutIfEmpty[str] = ""
    repeat: Annotated[int, Field(ge=1)]

    @property
    def id(self) -> str:
        """The slug used in run ids, tags, store keys and the UI: `g1-040k-r3`; below 1k precision: `g1-01500-r3`.

        Of several workloads: `g1-kv-040k-r3`; of several stages: `maximum-g1-kv-040k-r3`, and where the load is taken
        from an earlier stage's results `share-g1-kv-70pct-r3`.
        """
        return f"{self.ladder}-{self.level or load_slug(self.load_ops_s)}-r{self.repeat}"

    @property
    def part(self) -> str:
        """The name of the part of the campaign that the cell belongs to; empty where there is one alone."""
        return part_name(self.stage, self.workload)

    @property
    def ladder(self) -> str:
        """What the cell shares with those at other loads: `g1`; of several stages and workloads `maximum-g1-kv`."""
        return "-".join(word for word in (self.stage, self.variant, self.workload) if word)


def load_slug(load_ops_s: int) -> str:
    """40000 → `040k`; 1500 → `01500` (five digits, no unit). Sorts as the loads do within one notation."""
    return f"{load_ops_s // 1000:03d}k" if load_ops_s % 1000 == 0 else f"{load_ops_s:05d}"


class AttemptKey(Model):
    """Names one attempt at one cell of one campaign."""

    campaign_id: Annotated[str, Field(pattern=CAMPAIGN_ID, max_length=LONGEST_CAMPAIGN_ID)]
    cell_id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=LONGEST_CELL_ID)]
    attempt: Annotated[int, Field(ge=1)]

    def __str__(self) -> str:
        return f"{self.campaign_id}/{self.cell_id}/{self.attempt}"

    @property
    def environment(self) -> str:
        """Names what is deployed for the attempt, on hosts that may have served another: `g1-040k-r3-1`."""
        return f"{self.cell_id}-{self.attempt}"

    @classmethod
    def parse(cls, text: str) -> "AttemptKey":
        """The key of its own text form. Raises ValueError when it is not one."""
        campaign_id, cell_id, attempt = text.split("/")
        return cls(campaign_id=campaign_id, cell_id=cell_id, attempt=int(attempt))


class Attempt(Model):
    """One try at a cell: who runs it and since when. Attempts are kept, never overwritten."""

    key: AttemptKey
    owner: Annotated[str, Field(description="Token of the run that holds the attempt")]
    started_at: AwareDatetime
    code_version: str
    definition_sha256: Annotated[
        str, Field(description="Of the campaign's definition.yaml as the attempt found it; empty: not recorded")
    ] = ""


class Cancellation(Model):
    """Somebody ended an attempt before it was judged."""

    by: Annotated[str, Field(description="Who, as Airflow names the user")]
    at: AwareDatetime


def campaign_id_problem(campaign_id: str) -> Problem | None:
    """What is wrong with the id of a campaign; None where nothing is."""
    if re.fullmatch(CAMPAIGN_ID, campaign_id) and len(campaign_id) <= LONGEST_CAMPAIGN_ID:
        return None
    allowed = f"allowed: lower-case letters, digits and single hyphens between them, {LONGEST_CAMPAIGN_ID} at most"
    return Problem("campaign_id", f"{campaign_id[: LONGEST_CAMPAIGN_ID + 1]!r} is no id of a campaign", allowed)


def cells_by_id(definition: Definition) -> dict[str, Cell]:
    """All cells of the definition, in its own order."""
    return {cell.id: cell for cell in grid(definition)}


def cell_of(definition: Definition, cell_id: str) -> Cell:
    """The definition's cell of that id. Raises KeyError when the definition has no such cell."""
    return cells_by_id(definition)[cell_id]


def part_of(definition: Definition, cell: Cell) -> Part:
    """The part of the definition that the cell belongs to. Raises KeyError when there is none."""
    return {part.name: part for part in parts(definition)}[cell.part]


def duration_of(definition: Definition, cell_id: str) -> timedelta:
    """How long that cell is loaded; for what is no cell of the definition, the longest that any is."""
    if len(definition.stages) < 2:
        return definition.longest
    cell = cells_by_id(definition).get(cell_id)
    return part_of(definition, cell).definition.timing.duration if cell else definition.longest


def grid(definition: Definition) -> tuple[Cell, ...]:
    """All cells whose loads are known, in the definition's own order: stages, workloads, repeats, variants, loads."""
    return tuple(
        Cell(
            stage=part.stage,
            variant=variant.id,
            workload=part.workload,
            load_ops_s=load,
            level=part.level,
            repeat=repeat,
        )
        for part in parts(definition)
        for repeat in range(1, part.definition.repeats + 1)
        for variant in part.definition.variants
        for load in part.loads_of(variant.id)
    )


@dataclass(frozen=True)
class AwaitedCell:
    """A cell whose load is not known yet: an earlier stage's results are to give it."""

    stage: str
    variant: str
    workload: str
    level: str
    repeat: int

    @property
    def id(self) -> str:
        """The id that the cell is going to have."""
        return Cell(**self.__dict__, load_ops_s=1).id


def awaited_cells(definition: Definition) -> tuple[AwaitedCell, ...]:
    """The cells of stages that have not been opened, in the definition's own order."""
    return tuple(
        AwaitedCell(part.stage, variant.id, part.workload, part.level, repeat)
        for part in parts(definition)
        if not part.is_open
        for repeat in range(1, part.definition.repeats + 1)
        for variant in part.definition.variants
    )


def cell_ids(definition: Definition) -> tuple[str, ...]:
    """Ids of all cells, those of stages that have not been opened too."""
    return (*cells_by_id(definition), *(cell.id for cell in awaited_cells(definition)))
