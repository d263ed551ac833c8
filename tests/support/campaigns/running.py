"""Run a whole campaign in this process, without Airflow. Cells that a stall of the machine spoilt can run again."""

import re

from tests.support.suite.tries import tries

from plimsoll.domain.attempt.result import DISTURBED, Verdict
from plimsoll.ports.controller import Log
from plimsoll.services.campaign.state.completeness import all_rounds, start_stages
from plimsoll.services.campaign.state.reading import judged_state
from plimsoll.services.steps.running import CellRunEnd, run_cells
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

STALLS = frozenset({"load generator", DISTURBED})
"""Checks that make an attempt invalid when its hosts get no processor for a moment.

That happens where all hosts, an Airflow and a test cloud share two processors. It is no fault of the product, and users
would run the cell again.
"""
_TOLD_LATE = re.compile(r"^load: .*by this host's clock, which was \d+ ms past when it was told")
"""A load that was told its start only after that, as a stall of ten seconds makes it."""


def run_missing(toolkit: Toolkit, campaign_id: str, owner: str, log: Log) -> tuple[CellRunEnd, ...]:
    """Run every cell that the campaign needs and that has no valid attempt, once, one after another."""
    campaign = CampaignStore(toolkit.store, campaign_id)
    definition = start_stages(campaign, toolkit.clock.now())
    first = tuple(one.cell for one in judged_state(campaign, definition).to_run_now)
    cells = all_rounds(campaign, toolkit.clock, first)
    return run_cells(toolkit, campaign_id, (cell.id for cell in cells), owner, log)


def run_cell(toolkit: Toolkit, campaign_id: str, log: Log) -> tuple[CellRunEnd, Verdict]:
    """Run the campaign's only cell, and again as users do where the machine stalled under it; return the last attempt.

    Raises AssertionError if an attempt has no verdict or leaves anything behind.
    """
    for _ in tries():
        [ran] = run_missing(toolkit, campaign_id, "me", log)
        assert (ran.troubles, ran.remains) == ((), False)
        if ran.verdict is None or not is_stall(ran.verdict):
            break
    assert ran.verdict is not None
    return ran, ran.verdict


def is_stall(verdict: Verdict) -> bool:
    """Tell whether only stalls make it invalid.

    A failed attempt, or one with incomplete logs, has other reasons, but for one whose load hosts could not be told
    their common start in time.
    """
    if verdict.reasons and all(_TOLD_LATE.search(reason) for reason in verdict.reasons):
        return True
    known = {check.sentence for check in verdict.checks if not check.success}
    return not verdict.valid and set(verdict.reasons) <= known and STALLS.issuperset(verdict.invalidated_by)
