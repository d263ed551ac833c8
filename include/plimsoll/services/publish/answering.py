"""Read the answer of a published campaign, for those who wait at a terminal."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from plimsoll.services.publish.results import verdict_data
from plimsoll.services.store.layout import report_key

if TYPE_CHECKING:
    from datetime import datetime

    from plimsoll.report.words.terminal import Answer
    from plimsoll.services.store.campaigns import StoredCampaign

DOCUMENT = "report.json"


def published_answer(campaign: StoredCampaign, at: datetime) -> Answer:
    """Return the answer that the campaign's published report gives. Raises NotFound where none is published."""
    from plimsoll.report.words.capacities import capacity_rows_of
    from plimsoll.report.words.terminal import Answer, links

    whole = _read(campaign, DOCUMENT)
    documents = [(part["name"], _read(campaign, part["document"])) for part in whole.get("parts", ())]
    of_parts = [f"{name}: {one['conclusion']}" for name, one in documents]
    documents = documents or [("", whole)]
    warnings: defaultdict[str, list[str]] = defaultdict(list)
    for text, cells in (pair for _, one in documents for pair in one["warnings"].items()):
        warnings[text].extend(cells)
    return Answer(
        conclusions=(whole["conclusion"], *of_parts),
        rows=capacity_rows_of(verdict_data(campaign, campaign.verdicts(), at)),
        links=tuple(line for name, one in documents for line in links(one, name)),
        warnings=warnings,
    )


def _read(campaign: StoredCampaign, name: str) -> Any:
    return json.loads(campaign.store.read(report_key(campaign.campaign_id, name)))
