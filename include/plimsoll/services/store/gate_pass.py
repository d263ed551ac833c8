"""The record of the last pass of a campaign's gate."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.result import Check
from plimsoll.ports.store import ReadableStore
from plimsoll.services.store.layout import pass_key
from plimsoll.services.store.records import find_record


class GatePass(Model):
    """The record of a passed gate: the checks, the attempts that they covered, and a digest of their verdicts."""

    attempts: tuple[str, ...]
    verdicts_sha256: str = ""
    checks: tuple[Check, ...]
    incomplete: Annotated[
        LeftOutIfEmpty[tuple[str, ...]],
        Field(description="Cells without a valid attempt, and stages without loads, where it passed without them"),
    ] = ()


def read_gate_pass(store: ReadableStore, campaign_id: str) -> GatePass | None:
    """Return the last pass; None where there was none."""
    return find_record(store, pass_key(campaign_id), GatePass)


def published_without(store: ReadableStore, campaign_id: str) -> tuple[str, ...]:
    """Return what the published report had to do without; empty where it is complete."""
    found = read_gate_pass(store, campaign_id)
    return found.incomplete if found else ()
