"""Whole synthetic campaigns."""

from dataclasses import replace

import pandas as pd
from tests.support.campaigns.synthetic.attempt import attempts_at
from tests.support.campaigns.synthetic.definitions import azul_definition, demo_definition
from tests.support.campaigns.synthetic.plan import AZUL_CAPACITIES, DEMO_CAPACITIES, Plan
from tests.support.campaigns.synthetic.verdict import GENERATED_AT

from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.definitions.reference import dump_definition


def synthetic_campaign(definition: Definition, plan: Plan) -> CampaignData:
    """Return the stored results of every cell, in the form in which the store returns them."""
    attempts = [
        attempt
        for cell in grid(resolve(definition))
        if cell.id not in plan.not_run
        for attempt in attempts_at(definition, plan, cell)
    ]
    return CampaignData(
        campaign_id=f"{definition.name}-20260301",
        definition=definition,
        attempts=tuple(attempts),
        quality=plan.quality,
        generated_at=GENERATED_AT,
        definition_yaml=dump_definition(definition),
    )


def azul_campaign(seed: int = 1) -> CampaignData:
    """Return a campaign of 275 cells: two are invalid, one ran twice, one did not run, one has another kernel."""
    plan = Plan(
        AZUL_CAPACITIES,
        invalid={"shenandoah-060k-r4", "zgc-100k-r2"},
        retried={"g1-040k-r3"},
        not_run={"cms-120k-r5"},
        odd_kernels={"zgc-030k-r2"},
        seed=seed,
    )
    return synthetic_campaign(azul_definition(), plan)


def demo_campaign(seed: int = 1) -> CampaignData:
    """Return a campaign of four valid cells with nine intervals each. G1 misses at the higher load."""
    return synthetic_campaign(demo_definition(), Plan(DEMO_CAPACITIES, saturation_ops_s=4_000.0, seed=seed))


def with_log_lines(data: CampaignData) -> CampaignData:
    """Return the same campaign, in which node2 logged a warning in every interval."""

    def lines(attempt: AttemptData) -> pd.DataFrame:
        starts = attempt.intervals["start_s"].drop_duplicates()
        return pd.DataFrame(
            {
                "start_s": starts,
                "at_s": starts + 1,
                "host": "node2",
                "process": "cassandra",
                "text": "WARN GCInspector <G1>",
            }
        )

    return replace(data, attempts=tuple(replace(one, log_lines=lines(one)) for one in data.attempts))
