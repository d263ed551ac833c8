"""A synthetic campaign with cells of every kind."""

from tests.support.campaigns.synthetic import Plan, azul_definition, synthetic_campaign

from plimsoll.analysis.campaign.cell_results import CampaignData


def patchy_campaign() -> CampaignData:
    definition = azul_definition(loads=["20000/s", "60000/s"], repeats=3, timing={"duration": "200s", "warmup": "50s"})
    definition = definition.model_copy(
        update={"variants": definition.variants[:1] + definition.variants[3:4], "control": None}
    )
    plan = Plan(
        {"prime": 60_000, "shenandoah": 20_000},
        invalid={"prime-060k-r2"},
        retried={"prime-020k-r1"},
        not_run={"shenandoah-060k-r3"},
        odd_kernels={"shenandoah-020k-r2"},
    )
    return synthetic_campaign(definition, plan)
