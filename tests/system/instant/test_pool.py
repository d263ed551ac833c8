"""Two campaigns and one cluster: the second one waits and says for whom, the first one ends without a slot again."""

from collections.abc import Iterator

import httpx
import pytest
from tests.fakes.gated import LOADING, Gates
from tests.support.airflow.rest import logged_in
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import until
from tests.support.suite.requirements import long

CELL = "v1-001k-r1"
END_S = 600.0

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def airflow(shared_airflow: StackUnderTest) -> StackUnderTest:
    shared_airflow.client.set_pool("clusters", 1, "How many clusters may live at once")
    for dag_id in ("early", "late"):
        shared_airflow.client.unpause(dag_id)
    return shared_airflow


@pytest.fixture
def http(airflow: StackUnderTest) -> Iterator[httpx.Client]:
    with logged_in(airflow) as client:
        yield client


def waits_for(http: httpx.Client, campaign_id: str) -> tuple[str, str]:
    """Return the state and what it waits for; empty before `plan` has created the campaign."""
    answer = http.get(f"/plimsoll/api/v1/campaigns/{campaign_id}")
    status = answer.json() if answer.is_success else {}
    return status.get("state", ""), status.get("waits_for", "")


@long("what a campaign waits for is told in tests/airflow")
def test_the_second_campaign_waits_for_the_cluster_and_the_first_ends_without_it(
    airflow: StackUnderTest, gates: Gates, http: httpx.Client
) -> None:
    for campaign_id in ("first", "second"):
        gates.close(f"{campaign_id}~{CELL}", LOADING)
    first = airflow.client.trigger("early", {"campaign_id": "first"})
    until(lambda: waits_for(http, "first")[0] == "running", "the first campaign's cell", patience_s=END_S)
    second = airflow.client.trigger("late", {"campaign_id": "second"})
    expected = ("waiting", f"waiting for a cluster (held by first with {CELL})")
    until(lambda: waits_for(http, "second") == expected, "the second campaign to wait", patience_s=END_S)

    gates.open(f"first~{CELL}", LOADING)
    until(lambda: airflow.client.dag_run("early", first.run_id).is_final, "the first campaign's end", patience_s=END_S)
    assert airflow.client.dag_run("early", first.run_id).state == "success"
    until(lambda: waits_for(http, "second")[0] == "running", "the second campaign's cell", patience_s=END_S)
    gates.open(f"second~{CELL}", LOADING)
    until(lambda: airflow.client.dag_run("late", second.run_id).is_final, "the second campaign's end", patience_s=END_S)
    assert airflow.client.dag_run("late", second.run_id).state == "success"
