"""A synthetic campaign whose true results are known, so that tests can check what analysis and report find.

The percentiles of an interval follow the response time of a queue, 1 / (1 - utilisation), with noise and a decaying
warm-up. Up to a variant's planted capacity no judged interval reaches the bound. At each higher load some intervals do,
each because of one planted stop-the-world pause, unless the plan names another cause. The same arguments give the same
campaign.
"""

from tests.support.campaigns.synthetic.campaign import (
    azul_campaign,
    demo_campaign,
    synthetic_campaign,
    with_log_lines,
)
from tests.support.campaigns.synthetic.definitions import azul_definition, demo_definition
from tests.support.campaigns.synthetic.plan import AZUL_CAPACITIES, BACKGROUND, DEMO_CAPACITIES, Plan
from tests.support.campaigns.synthetic.verdict import GENERATED_AT

__all__ = [
    "AZUL_CAPACITIES",
    "BACKGROUND",
    "DEMO_CAPACITIES",
    "GENERATED_AT",
    "Plan",
    "azul_campaign",
    "azul_definition",
    "demo_campaign",
    "demo_definition",
    "synthetic_campaign",
    "with_log_lines",
]
