"""The forms of the DAGs: their Params.

A field may be empty only where its type includes `null`; the form then sends `null`. An empty field means the same as
the field's default.
"""

import re
from functools import partial
from typing import Any

from airflow.sdk import Param

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import CAMPAIGN_ID, LONGEST_CAMPAIGN_ID, load_slug
from plimsoll.domain.campaign.grid import cells_by_id
from plimsoll.domain.keys.host_bounds import LONGEST_CELL_ID
from plimsoll.domain.keys.parameters import TEXT_VALUE, Parameter
from plimsoll.domain.keys.variant import SLUG
from plimsoll.domain.text.units import parse_rate
from plimsoll.services.campaign.open.request import (
    FAILED,
    FIELD_PREFIX,
    INVALID,
    LONGEST_CHOICE,
    MISSING,
    SOME_CELLS,
    levels_of,
    repeat_id,
)
from plimsoll_airflow.runs.ownership import CLUSTERS_POOL

_PATTERN = r"[a-z0-9\]!\-]*[*?\[][a-z0-9*?\[\]!\-]*"
"""A pattern of cells' ids: something with `*`, `?` or `[` in it."""


def campaign_params(campaign: Campaign) -> dict[str, Param]:
    # A load that a stage takes from an earlier one keeps its name
    rates = {level: f"{parse_rate(level):,} ops/s" if level.endswith("/s") else level for level in levels_of(campaign)}
    repeats = {repeat_id(number): f"repeat {number}" for number in range(1, campaign.most_repeats + 1)}
    variants = {variant.id: variant.label for variant in campaign.variants}
    stages = {stage.id: stage.first.stage_title for stage in campaign.stages} if campaign.stage_ids else {}
    named = {name: name for name in campaign.workload_ids}
    # Values of parameters may give the campaign other loads, repeats and ids than those that are known here.
    choice = partial(_choice, closed=not campaign.parameters)
    pattern = f"{'*-' if campaign.stage_ids else ''}{campaign.variants[0].id}-*-r1"
    return {
        **{f"{FIELD_PREFIX}{name}": _value(name, parameter) for name, parameter in campaign.parameters.items()},
        "campaign_id": _campaign(
            "Empty: a new campaign. The id of an existing campaign: only its missing cells run. "
            "Any other id: a new campaign with that id."
        ),
        "cells": Param(
            MISSING,
            type=["null", "string"],
            pattern=_exactly(f"^$|{SOME_CELLS if campaign.parameters else _some_cells(campaign)}"),
            maxLength=LONGEST_CHOICE,
            title="Cells",
            description_md=(
                f"{_literal(MISSING)}, or empty: {_what_is_missing(campaign)}. {_literal(FAILED)}: cells that were "
                "tried and have no valid attempt. "
                f"{_literal(INVALID)}: cells whose newest attempt is invalid and that have no valid one. "
                f"Or ids, such as {_literal(next(iter(cells_by_id(campaign))))}, which run again even if they are "
                f"valid, and patterns of missing cells, such as {_literal(pattern)}. "
                "The run is green once these cells are valid; the report is published once none is missing at all."
                f"{_what_follows(campaign)}"
            ),
        ),
        "variants": choice(variants, "Variants", "Run only these variants' cells. None chosen: all."),
        **({"stages": choice(stages, "Stages", "Run only these stages. None chosen: all.")} if stages else {}),
        **({"workloads": choice(named, "Workloads", "Run only these workloads. None chosen: all.")} if named else {}),
        "loads": choice(rates, "Load levels", "Run only these load levels. None chosen: all."),
        "repeats": choice(repeats, "Repeats", "Run only these repeats. None chosen: all."),
        "parallel": Param(
            campaign.max_parallel,
            type=["null", "integer"],
            minimum=1,
            maximum=campaign.max_parallel,
            title="Cells at a time",
            description_md=(
                f"At most so many. The definition's {_literal('max_parallel')} and the pool {_literal(CLUSTERS_POOL)} "
                "are limits too."
            ),
        ),
        "incomplete": Param(
            False,
            type=["null", "boolean"],
            title="Report of what is valid",
            description_md=(
                "Run no cell, and publish a report of the cells that are valid. It is marked as incomplete where "
                "others have no valid attempt, and names them."
            ),
        ),
    }


def _literal(text: str) -> str:
    """Return text as it is to be typed, in Markdown.

    It is bold, because the form draws inline code as boxes that cover the lines above and below them.
    """
    escaped = re.sub(r"([*_[])", r"\\\1", text)
    return f"**{escaped}**"


def cell_params() -> dict[str, Param]:
    """Return the form of the DAG `cell`. Both fields are required, and it says which form people should use instead."""
    return {
        "campaign_id": Param(
            type="string",
            pattern=_exactly(CAMPAIGN_ID),
            maxLength=LONGEST_CAMPAIGN_ID,
            title="Campaign",
            description_md=(
                "The DAGs of campaigns start this DAG's runs. **To run a cell again, press *Run again* on the cell's "
                "page instead**, which lets the gate and the report follow. This form asks for the id of a campaign "
                "that exists, and runs only one cell of it."
            ),
        ),
        "cell_id": Param(
            type="string",
            pattern=_exactly(SLUG),
            maxLength=LONGEST_CELL_ID,
            title="Cell",
            description_md=f"Id of a cell of that campaign, such as {_literal('g1-040k-r3')}.",
        ),
    }


def reaper_params() -> dict[str, Param]:
    about = "Only show what would be destroyed."
    return {
        "dry_run": Param(False, type="boolean", title="Dry run", description_md=about),
        "campaign_id": _campaign(
            "Empty: destroy every cluster that no live run owns. The id of a campaign: destroy this campaign's "
            "clusters, even those of cells that run, and no others."
        ),
    }


def _what_is_missing(campaign: Campaign) -> str:
    if campaign.needed_by:
        needs = f"what the {campaign.needed_by} next, in as many runs as it takes"
        return f"{needs}; cells that it does not need run when named"
    return "every cell without a valid attempt"


def _what_follows(campaign: Campaign) -> str:
    """Tell when further rounds follow a run of named cells; empty where there are no rounds."""
    if not campaign.chosen_by:
        return ""
    return (
        f" Further rounds follow once {_literal(MISSING)} was asked for: after {_literal(MISSING)}, and after cells "
        "that these rounds wait for. Other cells, and a choice of variants, loads or repeats, run alone."
    )


def _campaign(about: str) -> Param:
    pattern = _exactly(f"^$|{CAMPAIGN_ID}")
    limit = LONGEST_CAMPAIGN_ID
    nothing = ["null", "string"]
    return Param(None, type=nothing, pattern=pattern, maxLength=limit, title="Campaign", description_md=about)


def _some_cells(campaign: Campaign) -> str:
    """Return a schema for cells of this definition: a keyword, or any number of existing ids and patterns."""
    variants = "|".join(variant.id for variant in campaign.variants)
    loads = "|".join(levels_of(campaign, load_slug))
    repeats = "|".join(str(number) for number in range(1, campaign.most_repeats + 1))
    workloads = "|".join(campaign.workload_ids)
    middle = f"({workloads})-({loads})" if workloads else f"({loads})"
    stages = "|".join(campaign.stage_ids)
    first = f"({stages})-" if stages else ""
    cell = f"({first}({variants})-{middle}-r({repeats})|{_PATTERN})"
    return f"^({MISSING}|{FAILED}|{INVALID}|{cell}([ ,]+{cell})*)$"


def _exactly(pattern: str) -> str:
    """Return the pattern for a JSON schema that Python validates. With `$` Python would allow a last line break."""
    return f"({pattern})(?!\\n)"


def _value(name: str, parameter: Parameter) -> Param:
    """Return the field of a parameter of the definition. Empty, it leaves the value to the campaign or the default."""
    schema: dict[str, Any] = {"type": ["null", "string"], "pattern": _exactly(f"^$|^{TEXT_VALUE}$")}
    if parameter.type == "number":
        bounds = {"minimum": parameter.at_least, "maximum": parameter.at_most}
        schema = {"type": ["null", "number"], **{key: bound for key, bound in bounds.items() if bound is not None}}
    elif parameter.type == "choice":
        schema = {"type": ["null", "string", "number"], "enum": [None, *parameter.of], "values_display": {"null": ""}}
    about = f"{parameter.description}. " if parameter.description else ""
    empty = f"Empty: {_literal(str(parameter.effective))}, or the value of the campaign that goes on."
    return Param(None, title=name, description_md=f"{about}{empty}", **schema)


def _choice(values: dict[str, str], title: str, about: str, *, closed: bool) -> Param:
    """Return the field for some of these values; for others too unless it is `closed`."""
    items: dict[str, Any] = {"type": "string", **({"enum": list(values)} if closed else {})}
    return Param(
        [],
        type=["null", "array"],
        items=items,
        uniqueItems=True,
        examples=list(values),
        values_display=values,
        title=title,
        description_md=about,
    )
