"""Compare two campaigns of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.domain.errors import Refused
from plimsoll.services.publish.results import comparison_data, mixed_judging
from plimsoll.services.store.campaigns import CampaignStore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from plimsoll.ports.store import ResultStore
    from plimsoll.report.compare.parts import Comparisons


def compare_stored(  # noqa: PLR0913  # the two campaigns, and how
    store: ResultStore, a: str, b: str, *, pairing: Mapping[str, str], force: bool, now: datetime
) -> Comparisons:
    """Compare campaign `b` with campaign `a`, workload by workload.

    Raises NotFound where there is no such campaign, and Refused where the two are not comparable or where the verdicts
    of one were reached by different service levels.
    """
    from plimsoll.report.compare.parts import compare_parts

    campaigns = [CampaignStore(store, campaign_id) for campaign_id in (a, b)]
    data_a, data_b = compared = [comparison_data(campaign, now) for campaign in campaigns]
    found = (mixed_judging(data.campaign_id, data.state) for data in compared)
    if mixed := [problem for problem in found if problem]:
        raise Refused(mixed, where="what is to be compared")
    return compare_parts(data_a, data_b, pairing=pairing, force=force)
