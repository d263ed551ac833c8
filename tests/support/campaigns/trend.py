"""Campaigns of a store as a trend reads them: their recorded figures, and nothing else."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from plimsoll.analysis.trend.figures import CampaignFigures, Figure, PartFigures, SeriesKey, VariantFacts
from plimsoll.ports.store import ResultStore
from plimsoll.services.publish.trends import FIGURES, REVISION, Figures
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
Steps = Sequence[tuple[float, int]]
"""Levels, each with the number of campaigns that have it."""


def worst(variant: str) -> SeriesKey:
    """Return the series of a variant's worst interval, ms."""
    return SeriesKey("worst_interval_ms", "", "", variant, load_ops_s=400)


def capacity(variant: str) -> SeriesKey:
    """Return the series of a variant's capacity, ops/s."""
    return SeriesKey("capacity_ops_s", "", "", variant)


def store_trend(store: ResultStore, steps: Mapping[SeriesKey, Steps], *, name: str = "nightly") -> int:
    """Store campaigns `nightly-1`, … whose figures have these levels with noise of 2 %, and return their number."""
    random = np.random.default_rng(1)
    levels = {key: [level for level, count in own for _ in range(count)] for key, own in steps.items()}
    noisy = {key: [level * float(np.exp(random.normal(0, 0.02))) for level in own] for key, own in levels.items()}
    count = max(map(len, noisy.values()))
    for number in range(1, count + 1):
        store_figures(store, number, {key: own[number - 1] for key, own in noisy.items()}, name=name)
    return count


def store_figures(
    store: ResultStore, number: int, figures: Mapping[SeriesKey, float], *, name: str = "nightly"
) -> CampaignStore:
    """Store the campaign with that number, which has these figures."""
    campaign = CampaignStore(store, f"{name}-{number}")
    facts = VariantFacts(product="cassandra", measure="", version="5.0", environment={}, declared={})
    part = PartFigures(
        stage="",
        workload="",
        id="",
        asked={},
        variants={key.variant: facts for key in figures},
        figures=tuple((key, Figure(value, 0.98 * value, 1.02 * value)) for key, value in figures.items()),
    )
    made = CampaignFigures(
        campaign_id=campaign.campaign_id,
        definition=name,
        began_at=BEGAN + timedelta(days=number),
        label="",
        parts=(part,),
    )
    record = Figures(revision=REVISION, verdict_names=campaign.verdict_names(), campaign=made)
    FIGURES.write(store, campaign.campaign_id, record)
    store.create(layout.CAMPAIGN_OF.key("", name, campaign.campaign_id), b"")
    return campaign
