"""A search through a real Airflow: a run for each round, the same hosts in all of them, and cells that need not run.

A cell that is invalid once runs once more by itself.
"""

import pytest
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.services.campaign.state.completeness import completeness
from plimsoll.services.publish.publishing import capacity_rows
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

pytestmark = [pytest.mark.timeout(900), long("rounds follow in tests/airflow, and cells on kept hosts in reliability")]


def test_a_search_asks_again_on_the_same_hosts_until_its_capacity_is_known(
    shared_airflow: StackUnderTest, installation: Installation
) -> None:
    airflow = shared_airflow
    airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    faults = installation.faults
    with faults.planted("v1-001k-r1", "load once"), faults.planted("v1-002k-r1", "slow"):
        first = airflow.run_to_end("sought", {"campaign_id": "sought-mine"}, timeout_s=300)
        _wait_for_end(airflow)

    runs = airflow.client.dag_runs("sought")
    assert first.state == "failed"
    assert sorted(run.state for run in runs) == ["failed", *["success"] * 3]
    assert installation.attempts("sought-mine") == {"v1-001k-r1": [1, 2], "v1-001k-r2": [1], "v1-002k-r1": [1]}
    campaign = CampaignStore(installation.toolkit.store, "sought-mine")
    assert completeness(campaign).words == ("campaign complete: 3 of 6 cells have a valid attempt, 3 need not run")
    (capacity,) = capacity_rows(installation.toolkit, "sought-mine")
    assert (capacity["kind"], capacity["capacity_ops_s"]) == ("found", 1000)
    assert installation.toolkit.store.exists("sought-mine/report/report.html")
    fingerprints = [layout.FINGERPRINT.read(campaign.store, verdict.key) for verdict in campaign.verdicts()]
    assert [one and one.cluster for one in fingerprints] == ["hosts/1"] * 4
    assert installation.provider.provided("sought") == 1
    assert not installation.clusters_of("sought-mine")


def _wait_for_end(airflow: StackUnderTest) -> None:
    """Wait until no run of the search is left to follow another."""

    def has_ended() -> bool:
        runs = airflow.client.dag_runs("sought")
        return len(runs) == 4 and all(run.is_final for run in runs)

    until(has_ended, lambda: f"the end of four runs: {airflow.client.dag_runs('sought')}", patience_s=500)
