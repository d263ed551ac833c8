"""Decide whether a cell runs again at once and by itself: noise of the machines made its newest attempt invalid."""

from itertools import takewhile

from plimsoll.services.store.campaigns import CampaignStore, read_verdict


def runs_again(campaign: CampaignStore, cell_id: str) -> bool:
    """Tell whether the newest attempt was disturbed, and the cell has not run as often as its definition lets it.

    Disturbed attempts are counted in groups of `disturbance.tries`, so that a person who asks for the cell again gets
    as many tries again. The answer follows from the store alone, and a killed run goes on with the same one.
    """
    newest_first = (read_verdict(campaign.store, key) for key in reversed(campaign.attempts(cell_id)))
    in_a_row = sum(1 for _ in takewhile(lambda verdict: verdict is not None and verdict.is_disturbed, newest_first))
    return in_a_row % campaign.resolved().disturbance.tries != 0
