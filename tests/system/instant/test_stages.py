"""A campaign in stages through a real Airflow: the second runs in a run that follows, and then comes the report."""

import pytest
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.services.campaign.state.completeness import completeness
from plimsoll.services.store.campaigns import CampaignStore

pytestmark = [
    pytest.mark.timeout(900),
    long("rounds follow in tests/airflow"),
]


def test_a_stage_takes_its_loads_from_the_one_before_and_runs_in_a_run_that_follows(
    shared_airflow: StackUnderTest, installation: Installation
) -> None:
    airflow, store = shared_airflow, installation.toolkit.store
    airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    first = airflow.run_to_end("staged", {"campaign_id": "staged-mine"}, timeout_s=300)
    report = "staged-mine/report/report.html"
    until(lambda: store.exists(report), lambda: f"the report: {airflow.client.dag_runs('staged')}", patience_s=500)

    assert first.state == "success"
    assert completeness(CampaignStore(store, "staged-mine")).is_complete
    assert installation.attempts("staged-mine") == {
        "maximum-v1-001k-r1": [1],
        "share-v1-70pct-r1": [1],
    }
    assert store.exists("staged-mine/stages/share.json")
