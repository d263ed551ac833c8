"""What a campaign's DAG run is asked for, and the cells that it runs: a choice among the missing ones."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from plimsoll.bootstrap import load_definition
from plimsoll.domain.base import Model
from plimsoll.domain.cell import Cell, grid
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.units import format_rate
from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.planning import missing_cells, new_campaign_id, require_runnable
from plimsoll.settings import Settings
from plimsoll_airflow.toolkit import toolkit

MISSING = "missing"
FAILED = "failed"


class Request(Model):
    """The Params of a campaign's DAG. Empty choices choose everything."""

    campaign_id: str = ""
    cells: str = MISSING
    variants: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()


@dataclass(frozen=True)
class CampaignPlan:
    """A campaign, open in the store, and the cells to run now, in running order."""

    campaign_id: str
    cells: tuple[Cell, ...]
    missing: int
    total: int

    @property
    def summary(self) -> str:
        """The plan in one sentence."""
        return f"{len(self.cells)} cells to run now; {self.missing} of {self.total} have no valid attempt"


def plan_cells(name: str, request: Request, at: datetime) -> CampaignPlan:
    """Open the campaign that the request names, else the one of `at`, and choose. Refused with all that is wrong.

    The same request at the same time is the same campaign: planning again goes on with it.
    """
    tools = toolkit()
    definition = load_definition(Settings(), name)
    require_runnable(tools, definition)
    campaign_id = request.campaign_id or new_campaign_id(definition, at)
    campaign = CampaignStore(tools.store, campaign_id)
    campaign.open(definition)
    missing = missing_cells(campaign, definition)
    wanted = {cell.id for cell in choose(definition, request, campaign.cells_with_attempts())}
    chosen = tuple(cell for cell in missing if cell.id in wanted)
    return CampaignPlan(campaign_id, chosen, len(missing), len(grid(definition)))


def choose(definition: Definition, request: Request, tried: Collection[str]) -> Sequence[Cell]:
    """The definition's cells that the request asks for, valid or not. Refused when a pattern fits none."""
    cells = [cell for cell in grid(definition) if _is_in_subset(cell, request)]
    if request.cells == MISSING:
        return cells
    if request.cells == FAILED:
        return [cell for cell in cells if cell.id in tried]
    patterns = re.split(r"[\s,]+", request.cells.strip())
    _require_fitting(definition, patterns)
    return [cell for cell in cells if any(fnmatchcase(cell.id, pattern) for pattern in patterns)]


def repeat_id(repeat: int) -> str:
    """A repeat as cell ids write it: `r3`."""
    return f"r{repeat}"


def _is_in_subset(cell: Cell, request: Request) -> bool:
    asked = (
        (cell.variant, request.variants),
        (format_rate(cell.load_ops_s), request.loads),
        (repeat_id(cell.repeat), request.repeats),
    )
    return all(not chosen or value in chosen for value, chosen in asked)


def _require_fitting(definition: Definition, patterns: Sequence[str]) -> None:
    ids = [cell.id for cell in grid(definition)]
    lost = [pattern for pattern in patterns if not any(fnmatchcase(id_, pattern) for id_ in ids)]
    if lost:
        allowed = (
            f"allowed: {MISSING}, {FAILED}, or ids and patterns such as {ids[0]} and {definition.variants[0].id}-*"
        )
        problems = [Problem("cells", f"{pattern!r} fits no cell of {definition.name!r}", allowed) for pattern in lost]
        raise Refused(problems, where="Params")
