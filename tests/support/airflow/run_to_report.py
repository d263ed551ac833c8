"""Run campaigns of real measurements to their report. Cells that a stall of the machine made invalid run again."""

from collections.abc import Sequence

from tests.support.airflow.stack import StackUnderTest
from tests.support.campaigns.running import is_stall
from tests.support.suite.tries import tries

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.state.reading import judged_state
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.local.client import DagRun
from plimsoll_airflow.local.demo import CampaignRun


def run_to_report(
    airflow: StackUnderTest, campaign: CampaignStore, definition: Definition, *, timeout_s: float
) -> DagRun:
    """Trigger the campaign, and trigger it again for the missing cells if only stalls made them invalid.

    Returns the last run. Raises AssertionError, with all that is known, if it failed.
    """
    for _ in tries():
        run = airflow.run_to_end(definition.dag_id, {"campaign_id": campaign.campaign_id}, timeout_s=timeout_s)
        if run.state == "success" or not stalled(campaign, definition):
            break
    assert run.state == "success", "\n".join(CampaignRun(airflow.client, campaign.store, definition, run).failures())
    return run


def stalled(campaign: CampaignStore, definition: Definition) -> bool:
    """Tell whether cells are missing, and only stalls of their hosts made them invalid."""
    newest = [one.newest for one in judged_state(campaign, resolve(definition)).missing]
    verdicts = [attempt.verdict if attempt else None for attempt in newest]
    return bool(verdicts) and all(verdict is not None and is_stall(verdict) for verdict in verdicts)


def disturbed_ramp(verdicts: Sequence[Verdict | None], loads: int) -> bool:
    """Tell whether the machine disturbed a ramp of so many loads, told by the verdicts on all its attempts in their
    order.

    A stall made one of them invalid; or a load was missed that a machine with nothing else to do would carry,
    which ended the ramp before its last load.
    """
    ended_early = len(verdicts) < loads and verdicts and verdicts[-1] and verdicts[-1].outcome == "missed"
    return bool(ended_early) or any(verdict is not None and is_stall(verdict) for verdict in verdicts)
