"""Two campaigns of the store side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.results import comparison_data

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from plimsoll.ports.store import ResultStore
    from plimsoll.report.side_by_side import CampaignComparison


def compare_stored(  # noqa: PLR0913  # the two campaigns, and how
    store: ResultStore, a: str, b: str, *, pairing: Mapping[str, str], force: bool, now: datetime
) -> CampaignComparison:
    """Compare campaign `b` with campaign `a`: NotFound where there is no such campaign, Refused as they are unlike."""
    from plimsoll.report.side_by_side import compare_campaigns

    data_a, data_b = (comparison_data(CampaignStore(store, campaign_id), now) for campaign_id in (a, b))
    return compare_campaigns(data_a, data_b, pairing=pairing, force=force)
