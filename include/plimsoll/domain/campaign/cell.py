"""Cells and attempts: the units of work of a campaign, and the seed of what is drawn at random for one."""

import re
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.domain.keys.host_bounds import LONGEST_CELL_ID
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import Problem

CAMPAIGN_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""The form of a campaign's id. Python's own `re` must match it with `fullmatch`: its `$` lets a line break follow."""
LONGEST_CAMPAIGN_ID = 100

Scope = Literal["cell", "repeat", "variant", "stage"]
"""Cells that belong together: one alone, the loads of a repeat, those of a variant in a stage, those of a stage."""

_MOST = 2**31 - 1
"""Every program takes a positive number of 31 bits. To some, 0 means the time of day."""


def part_name(stage: str, workload: str) -> str:
    """Return the name of a part, from the ids of its stage and workload. An id is empty where there is only one."""
    return "-".join(filter(None, (stage, workload)))


class Cell(Model):
    """One (stage, variant, workload, load, repeat) of a campaign.

    `stage` and `workload` are empty where the campaign has only one. `level` names the load where the load comes from
    the results of an earlier stage.
    """

    stage: LeftOutIfEmpty[str] = ""
    variant: str
    workload: LeftOutIfEmpty[str] = ""
    load_ops_s: Annotated[int, Field(ge=0, description="0: no load")]
    level: LeftOutIfEmpty[str] = ""
    repeat: Annotated[int, Field(ge=1)]

    @property
    def id(self) -> str:
        """Return the slug used in run ids, tags, store keys and the UI, such as `g1-040k-r3`.

        A load that is not a multiple of 1000 ops/s has five digits: `g1-01500-r3`. With several workloads the id is
        `g1-kv-040k-r3`, with several stages `maximum-g1-kv-040k-r3`. Where the load comes from an earlier stage's
        results, the id names the rule instead of the load: `share-g1-kv-70pct-r3`.
        """
        return f"{self.ladder}-{self.level or load_slug(self.load_ops_s)}-r{self.repeat}"

    @property
    def part(self) -> str:
        """Return the name of the part of the campaign that the cell belongs to. Empty where it has only one."""
        return part_name(self.stage, self.workload)

    @property
    def ladder(self) -> str:
        """Return the id without load and repeat, of a variant's cells at all loads: `g1`, or `stage-g1-workload`."""
        return "-".join(word for word in (self.stage, self.variant, self.workload) if word)

    def group(self, scope: Scope) -> tuple[str, ...]:
        """Return what the cell has in common with all others of that scope, and with none beyond it."""
        groups: dict[Scope, tuple[str, ...]] = {
            "cell": (self.id,),
            "repeat": (self.ladder, str(self.repeat)),
            "variant": (self.stage, self.variant),
            "stage": (self.stage,),
        }
        return groups[scope]


def load_slug(load_ops_s: int) -> str:
    """Return the load as ids of cells have it: 40000 → `040k`; 1500 → `01500` (five digits, no unit); 0 → `none`.

    Slugs of one notation sort as the loads do.
    """
    if not load_ops_s:
        return "none"
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
        """Return the name of the attempt's environment on its hosts: `g1-040k-r3-1`. Hosts serve many."""
        return f"{self.cell_id}-{self.attempt}"

    @classmethod
    def parse(cls, text: str) -> "AttemptKey":
        """Parse the text form of a key. Raises ValueError when the text is not a key."""
        campaign_id, cell_id, attempt = text.split("/")
        return cls(campaign_id=campaign_id, cell_id=cell_id, attempt=int(attempt))


class Attempt(Model):
    """One try at a cell, with its owner and its start. Attempts are kept and never overwritten."""

    key: AttemptKey
    owner: Annotated[str, Field(description="Token of the run that holds the attempt")]
    started_at: AwareDatetime
    code_version: str
    definition_sha256: Annotated[
        str, Field(description="Of the campaign's definition.yaml as the attempt found it; empty: not recorded")
    ] = ""


class Cancellation(Model):
    """The record that a person ended an attempt before it was judged."""

    by: Annotated[str, Field(description="Who, as Airflow names the user")]
    at: AwareDatetime


def campaign_id_problem(campaign_id: str) -> Problem | None:
    """Say what is wrong with the id of a campaign; None where the id can be used."""
    if re.fullmatch(CAMPAIGN_ID, campaign_id) and len(campaign_id) <= LONGEST_CAMPAIGN_ID:
        return None
    allowed = f"allowed: lower-case letters, digits and single hyphens between them, {LONGEST_CAMPAIGN_ID} at most"
    return Problem("campaign_id", f"{campaign_id[: LONGEST_CAMPAIGN_ID + 1]!r} is no id of a campaign", allowed)


def load_seed(seed: int, cell: Cell, attempt: int) -> int:
    """Return the seed of an attempt's load, from 1 to 2³¹ - 1. `seed`: the definition's.

    Every repeat draws anew, and so does every further attempt: a schedule drawn at random that came out too short
    would else be too short for ever. Variants do not: at the same load, repeat and attempt they are asked the same at
    the same times, so that chance makes no difference between them.
    """
    of_every_variant = cell.model_copy(update={"variant": ""}).id
    digest = sha256(f"{seed}/{of_every_variant}/{attempt}".encode()).digest()
    return 1 + int.from_bytes(digest[:8], "big") % _MOST
