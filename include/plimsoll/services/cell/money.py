"""The cost of an attempt's campaign, for people who watch the attempt."""

from plimsoll.domain.errors import PlimsollError
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.spending import spent_so_far


def money_line(work: AttemptContext) -> str:
    """Return a sentence about the campaign's cost so far, or why it can't be told; empty where hosts cost nothing.

    It only informs, so a store that fails here must not fail the attempt.
    """
    try:
        return spent_so_far(work.toolkit, work.campaign, work.part)
    except PlimsollError as error:
        return f"what the campaign has spent so far can't be told: {error}"
