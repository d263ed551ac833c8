"""A request to run cells of a campaign, and the cells that it means at the moment.

DAG runs, the pages, the JSON API and the command line all use these parameters, and this module reads them all.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import islice
from typing import Annotated, Any

from pydantic import Field, StringConstraints, ValidationError

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Cell, campaign_id_problem, load_slug
from plimsoll.domain.campaign.grid import cell_ids
from plimsoll.domain.keys.faults import problems_of
from plimsoll.domain.keys.host_bounds import LONGEST_CELL_ID
from plimsoll.domain.keys.parameters import PARAMETERS
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.units import format_rate
from plimsoll.domain.text.wording import meant, meant_or_known
from plimsoll.services.campaign.open.planning import new_campaign_id
from plimsoll.services.campaign.state.reading import CellState
from plimsoll.strategies.state import CampaignState

OF_A_REQUEST = "what the run was asked for"
MISSING = "missing"
FAILED = "failed"
INVALID = "invalid"
SOME_CELLS = r"^[a-z0-9*?\[\]!\-]+([ ,]+[a-z0-9*?\[\]!\-]+)*$"
"""The form of a choice of cells: one of these words, or ids and patterns with blanks or commas between them."""
_WORDS = (MISSING, FAILED, INVALID)
LONGEST_CHOICE = 20_000
_LONGEST_PATTERN = 2 * LONGEST_CELL_ID
"""The longest pattern: a set such as `[a-z]` is longer than the character that it stands for."""
_MOST_PROBLEMS = 20
FIELD_PREFIX = "parameter_"
"""The beginning of the names of a form's fields that are parameters of the definition: `parameter_version`."""


class Request(Model):
    """The cells to run. Empty choices of stages, variants, workloads, loads and repeats mean all of them."""

    campaign_id: str = ""
    cells: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_CHOICE)] = MISSING
    variants: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    parallel: int | None = Field(default=None, ge=1)
    incomplete: bool = False
    """Run nothing, and publish a report of what is valid, marked where cells have no valid attempt."""

    @property
    def is_for_all(self) -> bool:
        """Tell whether it is for everything that the campaign still needs, and so for all rounds of a search."""
        return self.cells == MISSING and not self.is_limited and not self.incomplete

    @property
    def is_limited(self) -> bool:
        """Tell whether the request is for only some stages, variants, workloads, loads or repeats."""
        return bool(self.stages or self.variants or self.workloads or self.loads or self.repeats)

    @property
    def patterns(self) -> Sequence[str]:
        """Return the ids and patterns in the request; empty for `missing`, `failed` or `invalid`."""
        return () if self.cells in _WORDS else re.split(r"[\s,]+", self.cells)


def read_request(campaign: Campaign, conf: Mapping[str, Any]) -> Request:
    """Read a request from parameters for such a campaign. None and "" count as not given.

    Raises Refused with every problem: unknown parameters, malformed ids, cells and choices that do not exist.
    """
    fields = {key: value for key, value in conf.items() if key in Request.model_fields and value not in (None, "")}
    problems = [
        Problem(key, "there is no such parameter", meant_or_known(key, (*Request.model_fields, PARAMETERS)))
        for key in conf
        if key not in Request.model_fields and key != PARAMETERS and not key.startswith(FIELD_PREFIX)
    ]
    try:
        request = Request.model_validate(fields)
    except ValidationError as error:
        problems += problems_of(error, Request)
    else:
        problems += islice(_problems(campaign, request), _MOST_PROBLEMS)
    if problems:
        raise Refused(problems[:_MOST_PROBLEMS], where=OF_A_REQUEST)
    return request


def given_values(conf: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values that a request gives to the definition's parameters, as `parameters` or as fields of a form.

    Raises Refused where `parameters` are no mapping.
    """
    named = conf.get(PARAMETERS) or {}
    if not isinstance(named, Mapping):
        problem = Problem(PARAMETERS, "must have keys of its own", 'write names with values: {"version": "5.0.3"}')
        raise Refused([problem], where=OF_A_REQUEST)
    fields = {key.removeprefix(FIELD_PREFIX): conf[key] for key in conf if key.startswith(FIELD_PREFIX)}
    return {name: value for name, value in {**fields, **named}.items() if value not in (None, "")}


def values_set(options: Iterable[str] | None) -> Mapping[str, str]:
    """Return name → text of each `NAME=VALUE`. Raises Refused for other text, and for a name given twice."""
    pairs = [option.partition("=") for option in options or ()]
    names = [name for name, _, _ in pairs]
    problems = [
        Problem(f"{PARAMETERS}.{name}", "is given twice" if mark else "has no value", "write NAME=VALUE, once by name")
        for name, mark, _ in pairs
        if not mark or names.count(name) > 1
    ]
    if problems:
        raise Refused(list(dict.fromkeys(problems)), where=OF_A_REQUEST)
    return {name: value for name, _, value in pairs}


def campaign_id_of(name: str, conf: Mapping[str, Any] | None, run_after: datetime) -> str:
    return (conf or {}).get("campaign_id") or new_campaign_id(name, run_after)


def choose(request: Request, state: CampaignState[CellState], asked_at: datetime) -> Sequence[CellState]:
    """Return the cells that a request made at that time means, in running order.

    A cell named by its full id runs once more even if it is valid. A valid attempt that was judged after the request
    already answers it, so two equal requests at once, or planning again, run the cell only once.
    """
    if request.incomplete:
        return ()
    chosen = [cell for cell in _chosen(request, state, asked_at) if _is_in_subset(cell.cell, request)]
    return state.at_once(chosen) if request.cells == MISSING else chosen


def words_for(cells: Sequence[Cell]) -> str:
    """Return the `cells` parameter of a run of these cells: their ids, or `missing` where the ids would be too long.

    `missing` asks, beyond these, for cells whose newest attempt was unsound.
    """
    ids = " ".join(cell.id for cell in cells)
    return ids if len(ids) <= LONGEST_CHOICE else MISSING


def repeat_id(repeat: int) -> str:
    return f"r{repeat}"


def _chosen(request: Request, state: CampaignState[CellState], asked_at: datetime) -> Sequence[CellState]:
    if request.cells == MISSING:
        return state.asked_for
    if request.cells == FAILED:
        return [cell for cell in state.missing if cell.attempts]
    if request.cells == INVALID:
        return [cell for cell in state.missing if cell.state == "invalid"]
    return [cell for cell in (*state.cells, *state.unasked) if _is_asked_for(cell, request.patterns, asked_at)]


def _is_asked_for(cell: CellState, patterns: Sequence[str], asked_at: datetime) -> bool:
    if cell.counted is None:
        return any(fnmatchcase(cell.cell.id, pattern) for pattern in patterns)
    judged = cell.counted.progress
    return cell.cell.id in patterns and (judged is None or judged.at < asked_at)


def levels_of(campaign: Campaign, written: Callable[[int], str] = format_rate) -> tuple[str, ...]:
    """Return all loads that people can choose, each once, in the definition's order: `40000/s`, or as `written`.

    A load from an earlier stage: `70pct`, `slowest`.
    """
    of_parts = ([part.level] if part.level else map(written, part.loads) for part in campaign.parts)
    return tuple(dict.fromkeys(level for levels in of_parts for level in levels))


def _is_in_subset(cell: Cell, request: Request) -> bool:
    choices = (
        (cell.variant, request.variants),
        (cell.stage, request.stages),
        (cell.workload, request.workloads),
        (cell.level or format_rate(cell.load_ops_s), request.loads),
        (repeat_id(cell.repeat), request.repeats),
    )
    return all(not chosen or value in chosen for value, chosen in choices)


def _problems(campaign: Campaign, request: Request) -> Iterator[Problem]:
    if request.campaign_id and (problem := campaign_id_problem(request.campaign_id)):
        yield problem
    yield from _choice_problems("variants", request.variants, [variant.id for variant in campaign.variants])
    yield from _choice_problems("stages", request.stages, campaign.stage_ids)
    yield from _choice_problems("workloads", request.workloads, campaign.workload_ids)
    yield from _choice_problems("loads", request.loads, levels_of(campaign))
    repeats = [repeat_id(number) for number in range(1, campaign.most_repeats + 1)]
    yield from _choice_problems("repeats", request.repeats, repeats)
    if request.parallel and request.parallel > campaign.max_parallel:
        mend = f"allowed: 1 to {campaign.max_parallel}, the definition's `max_parallel`"
        yield Problem("parallel", f"{request.parallel} is too many cells at a time", mend)
    yield from _pattern_problems(campaign, request)


def _choice_problems(key: str, chosen: Sequence[str], known: Sequence[str]) -> Iterator[Problem]:
    for value in chosen:
        if value not in known:
            yield Problem(key, f"{value!r} is none of the definition's", meant_or_known(value, known))


def _pattern_problems(campaign: Campaign, request: Request) -> Iterator[Problem]:
    ids = cell_ids(campaign)
    allowed = (
        f"allowed: {', '.join(_WORDS)}, or ids and patterns such as {ids[0]} and {next(_usual_patterns(campaign))}, "
        "with blanks or commas between them"
    )
    if re.fullmatch(SOME_CELLS, request.cells) is None:
        yield Problem("cells", f"{request.cells[:_LONGEST_PATTERN]!r} is no choice of cells", allowed)
        return
    for pattern in request.patterns:
        if len(pattern) > _LONGEST_PATTERN:
            what = f"{pattern[:_LONGEST_PATTERN]}… is longer than {_LONGEST_PATTERN} characters"
            yield Problem("cells", what, allowed)
        elif pattern in _WORDS:
            yield Problem("cells", f"{pattern!r} stands beside other cells", f"ask for it alone. {allowed}")
        elif not any(fnmatchcase(cell_id, pattern) for cell_id in ids):
            mend = f"{meant(pattern, [*_WORDS, *ids, *_usual_patterns(campaign)])} {allowed}".strip()
            yield Problem("cells", f"{pattern!r} fits no cell of {campaign.name!r}", mend)


def _usual_patterns(campaign: Campaign) -> Iterator[str]:
    before = "*-" if campaign.stage_ids else ""
    yield from (f"{before}{variant.id}-*" for variant in campaign.variants)
    yield from (f"{name}-*" for name in campaign.stage_ids)
    yield from (f"*-{name}-*" for name in campaign.workload_ids)
    yield from (f"*-{slug}-*" for slug in levels_of(campaign, load_slug))
    yield from (f"*-{repeat_id(number)}" for number in range(1, campaign.most_repeats + 1))
