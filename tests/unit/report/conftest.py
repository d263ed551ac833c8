from collections.abc import Mapping

import pytest
from tests.support.campaigns.synthetic import Plan, azul_definition, demo_campaign, synthetic_campaign

from plimsoll.analysis.campaign import CampaignData
from plimsoll.report import build_report
from plimsoll.report.findings import Findings, analyse


@pytest.fixture(scope="session")
def demo_files() -> Mapping[str, bytes]:
    """The demo's whole report: drawn once, it takes seconds."""
    return build_report(demo_campaign()).files


@pytest.fixture(scope="session")
def demo() -> Findings:
    return analyse(demo_campaign())


@pytest.fixture(scope="session")
def patchy() -> Findings:
    """Two variants, two loads, three repeats, with an invalid, a retried, a missing and an oddly hosted cell."""
    return analyse(patchy_campaign())


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
