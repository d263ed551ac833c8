"""What a campaign's DAG run is asked for, and the cells that it runs.

A choice among the cells without a valid attempt; one that is asked for by its own id runs again even if it has one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from pydantic import model_validator

from plimsoll.bootstrap import load_definition
from plimsoll.domain.base import Model
from plimsoll.domain.cell import Cell, grid
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.units import format_rate
from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.planning import new_campaign_id, require_runnable
from plimsoll.services.spending import require_budget
from plimsoll.services.states import CellState, Memory, cell_states
from plimsoll.settings import Settings
from plimsoll_airflow.toolkit import toolkit

PLAN_TASK = "plan"
"""The task of a campaign's DAG that opens the campaign."""
MISSING = "missing"
FAILED = "failed"
INVALID = "invalid"
SOME_CELLS = r"^[a-z0-9*?\[\]!-]+([ ,]+[a-z0-9*?\[\]!-]+)*$"
"""One of these words, or ids and patterns with blanks or commas between them."""


class Request(Model):
    """The Params of a campaign's DAG. What is left empty (`null` or `""`) is as if it were not given."""

    campaign_id: str = ""
    cells: str = MISSING
    variants: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    parallel: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in params.items() if value not in (None, "")}


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
    campaign_id = campaign_id_of(definition, request.model_dump(), at)
    campaign = CampaignStore(tools.store, campaign_id)
    campaign.open(definition)
    states = cell_states(tools.store, campaign_id, definition, tools.clock.now(), Memory())
    chosen = tuple(state.cell for state in choose(definition, request, states, at))
    if chosen:
        require_budget(tools, campaign, definition)
    return CampaignPlan(campaign_id, chosen, sum(state.valid is None for state in states), len(states))


def campaign_id_of(definition: Definition, conf: Mapping[str, Any] | None, run_after: datetime) -> str:
    """The campaign that a run of the definition's DAG works at: the one it was asked for, else the one of its time."""
    return (conf or {}).get("campaign_id") or new_campaign_id(definition, run_after)


def choose(
    definition: Definition, request: Request, states: Sequence[CellState], asked_at: datetime
) -> Sequence[CellState]:
    """The cells that a request of that time asks for, in the order of `states`. Refused when a pattern fits none.

    A cell asked for by its id is done once it has a valid attempt that was judged after it was asked for: two who ask
    at once, or planning again, run it once.
    """
    states = [state for state in states if _is_in_subset(state.cell, request)]
    missing = [state for state in states if state.valid is None]
    if request.cells == MISSING:
        return missing
    if request.cells == FAILED:
        return [state for state in missing if state.attempts]
    if request.cells == INVALID:
        return [state for state in missing if state.state == "invalid"]
    patterns = re.split(r"[\s,]+", request.cells.strip())
    _require_fitting(definition, patterns)
    return [state for state in states if _is_asked_for(state, patterns, asked_at)]


def repeat_id(repeat: int) -> str:
    """A repeat as cell ids write it: `r3`."""
    return f"r{repeat}"


def _is_asked_for(state: CellState, patterns: Sequence[str], asked_at: datetime) -> bool:
    if state.valid is None:
        return any(fnmatchcase(state.cell.id, pattern) for pattern in patterns)
    judged = state.valid.progress
    return state.cell.id in patterns and (judged is None or judged.at < asked_at)


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
        words = f"{MISSING}, {FAILED}, {INVALID}"
        allowed = f"allowed: {words}, or ids and patterns such as {ids[0]} and {definition.variants[0].id}-*"
        problems = [Problem("cells", f"{pattern!r} fits no cell of {definition.name!r}", allowed) for pattern in lost]
        raise Refused(problems, where="Params")
