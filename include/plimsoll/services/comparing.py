"""Two campaigns of the store side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.parts import parts
from plimsoll.services.publish.results import comparison_data, mixed_judging
from plimsoll.services.store.campaigns import CampaignStore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from plimsoll.analysis.campaign import CampaignData
    from plimsoll.ports.store import ResultStore
    from plimsoll.report.side_by_side import CampaignComparison


def _several_parts(data: CampaignData) -> Problem | None:
    """What speaks against comparing a campaign with several workloads: they would be mixed."""
    if len(parts(data.definition)) == 1:
        return None
    what = "has several workloads, which can't be compared with another campaign's yet"
    mend = "compare campaigns of one workload; the report of each compares its own variants, workload by workload"
    return Problem(f"campaign {data.campaign_id}", what, mend)


def compare_stored(  # noqa: PLR0913  # the two campaigns, and how
    store: ResultStore, a: str, b: str, *, pairing: Mapping[str, str], force: bool, now: datetime
) -> CampaignComparison:
    """Compare campaign `b` with campaign `a`: NotFound where there is no such campaign, Refused as they are unlike.

    Refused, too, where the verdicts of one are by different service levels.
    """
    from plimsoll.report.side_by_side import compare_campaigns

    campaigns = [CampaignStore(store, campaign_id) for campaign_id in (a, b)]
    data_a, data_b = compared = [comparison_data(campaign, now) for campaign in campaigns]
    if unlike := [problem for data in compared if (problem := _several_parts(data))]:
        raise Refused(unlike, where="what is to be compared")
    found = (mixed_judging(data.campaign_id, data.state) for data in compared)
    if mixed := [problem for problem in found if problem]:
        raise Refused(mixed, where="what is to be compared")
    return compare_campaigns(data_a, data_b, pairing=pairing, force=force)
