"""Synthetic campaigns with planted capacities."""

from dataclasses import replace
from functools import cache

from tests.support.campaigns.synthetic import Plan, azul_definition, synthetic_campaign

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.domain.definition.definition import Definition

LOADS = ["20000/s", "40000/s", "60000/s"]
CAPACITIES = {"g1": 20_000, "zgc": 40_000}


def definition(**changes: object) -> Definition:
    """Define two variants at three loads."""
    small = {"loads": LOADS, "repeats": 5, "timing": {"duration": "60s", "warmup": "20s"}}
    wide = azul_definition(**(small | changes))
    return wide.model_copy(update={"variants": tuple(one for one in wide.variants if one.id in CAPACITIES)})


def campaign(seed: int, **changes: object) -> CampaignData:
    """Return a campaign of that definition."""
    return _made(seed, definition(**changes))


@cache
def plain(seed: int) -> CampaignData:
    """Return a campaign of the definition without changes, made once."""
    return _made(seed, definition())


def _made(seed: int, declared: Definition) -> CampaignData:
    return replace(synthetic_campaign(declared, Plan(CAPACITIES, seed=seed)), campaign_id=f"azul-{seed}")
