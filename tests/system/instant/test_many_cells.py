"""Campaigns of an instant provider through a real Airflow on PostgreSQL: everything is real but the clusters.

At full size, 275 cells, `make test-all` runs one (`benchmarks/instant_campaign.py`).
"""

import pytest
from tests.fakes.installation import Installation
from tests.support.airflow.instant_campaign import run_campaign
from tests.support.airflow.stack import StackUnderTest
from tests.support.suite.requirements import long
from tests.system.instant.definitions import DEFINITIONS

from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.matrix import running_order

MANY = DEFINITIONS["many"]

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture
def airflow(shared_airflow: StackUnderTest) -> StackUnderTest:
    return shared_airflow


@long("campaigns of two cells run")
def test_more_cells_than_may_live_at_once_to_their_report(airflow: StackUnderTest, installation: Installation) -> None:
    outcome = run_campaign(airflow, installation, MANY, parallel=3, timeout_s=1500)

    assert outcome.failures == (), "\n".join(outcome.failures)
    assert outcome.run.state == "success"
    assert outcome.clusters == len(grid(resolve(MANY))) == 4
    assert 1 < outcome.most_alive <= 3
    assert not [one for one in installation.provider.clusters() if one.id.campaign_id.startswith("many")]
    (campaign_id,) = _campaigns_of(installation, "many")
    campaign = CampaignStore(installation.toolkit.store, campaign_id)
    assert all(valid_verdict(campaign, cell.id) for cell in running_order(resolve(MANY)))
    assert installation.toolkit.store.exists(f"{campaign_id}/report/report.html")


def _campaigns_of(installation: Installation, name: str) -> list[str]:
    return [campaign for campaign in installation.toolkit.store.folders("") if campaign.startswith(name)]
