"""Whether somebody else than processes that hold campaigns works at one: runs of Airflow's."""

from collections.abc import Iterator

from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.owner import ProcessOwner, owner_since
from plimsoll.services.campaign.state import Memory, read_state, running_attempts
from plimsoll.services.campaigns import CampaignStore, campaign_exists
from plimsoll.services.toolkit import Toolkit

TAKE_OVER = "--take-over"


def require_nobody_elsewhere(toolkit: Toolkit, campaign_id: str) -> None:
    """Refused, with each attempt under way and the run that works at it, where a run of Airflow's does.

    A process is told by its hold on the campaign instead. A run that Airflow has lost looks alive for as long as its
    attempt might have taken.
    """
    if not campaign_exists(toolkit.store, campaign_id):
        return
    if problems := list(_at_work(toolkit, campaign_id)):
        raise Refused(problems, where=f"campaign {campaign_id!r}")


def _at_work(toolkit: Toolkit, campaign_id: str) -> Iterator[Problem]:
    definition = CampaignStore(toolkit.store, campaign_id).definition()
    state = read_state(toolkit.store, campaign_id, definition, toolkit.clock.now(), Memory(owners=toolkit.owners))
    for one in running_attempts(state):
        attempt = one.attempt
        if attempt and ProcessOwner.parse(attempt.owner) is None:
            mend = (
                "wait until it has ended, or cancel the campaign on its page; if that Airflow is gone for good, go on "
                f"with {TAKE_OVER}"
            )
            yield Problem(str(one.key), f"is being run by {owner_since(attempt.owner, attempt.started_at)}", mend)
