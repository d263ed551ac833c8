"""Hosts that are kept for a campaign, through a real Airflow: over all its cells, and not beyond.

Over the rounds of a search they are kept in test_search.py.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from tests.fakes.gated import LOADING, Gates
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import PATIENCE_S, until
from tests.support.suite.requirements import long

from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.local.client import DagRun

pytestmark = [
    pytest.mark.timeout(900),
    long("hosts are kept, cancelled and given back in reliability"),
]

SECOND = "v1-002k-r1"


@pytest.fixture
def held(shared_airflow: StackUnderTest, gates: Gates) -> Iterator[DagRun]:
    """Provide a campaign of two cells on kept hosts whose second one is under load; ended by the test."""
    shared_airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    gates.close(f"held-mine~{SECOND}", LOADING)
    shared_airflow.client.unpause("held")
    run = shared_airflow.client.trigger("held", {"campaign_id": "held-mine"})
    _until(lambda: any(one.cell == f"held-mine~{SECOND}" for one in gates.arrivals()), "the second cell's load")
    yield run
    with suppress(FileNotFoundError):
        gates.open(f"held-mine~{SECOND}", LOADING)


def test_cancelled_and_destroyed_hosts_are_gone_and_the_campaign_goes_on_with_others(
    shared_airflow: StackUnderTest, installation: Installation, gates: Gates, held: DagRun
) -> None:
    """*Cancel* with a cell under load; then *Destroy* with the same cell under load again; then to the end."""
    airflow = shared_airflow
    assert _alive(installation) == ["held-mine/hosts/1"]
    assert _post(airflow, "held-mine/cancel")["attempts"] == [f"held-mine/{SECOND}/1"]
    assert airflow.wait_for(held, timeout_s=300).state == "failed"
    _until(lambda: not _alive(installation), "the end of the hosts of the cancelled campaign")

    seen = len(gates.arrivals())
    again = airflow.client.trigger("held", {"campaign_id": "held-mine"})
    _until(lambda: len(gates.arrivals()) > seen, "the load of the second attempt")
    assert _alive(installation) == ["held-mine/hosts/2"]
    reaper = _post(airflow, "held-mine/destroy")
    _until(lambda: airflow.client.dag_run("reaper", reaper["run_id"]).is_final, "the end of the reaper's run")
    assert not _alive(installation)
    assert airflow.wait_for(again, timeout_s=300).state == "failed"

    gates.open(f"held-mine~{SECOND}", LOADING)
    assert airflow.run_to_end("held", {"campaign_id": "held-mine"}, timeout_s=300).state == "success"
    campaign = CampaignStore(installation.toolkit.store, "held-mine")
    clusters = [
        layout.FINGERPRINT.read(campaign.store, verdict.key) for verdict in campaign.verdicts() if verdict.valid
    ]
    assert sorted((one.cluster, one.replaces) for one in clusters if one) == [
        ("hosts/1", ""),
        ("hosts/3", "hosts of it were gone"),
    ]
    assert not _alive(installation)


def _alive(installation: Installation) -> list[str]:
    return [str(one.id) for one in installation.provider.clusters() if one.id.campaign_id == "held-mine"]


def _post(airflow: StackUnderTest, path: str) -> Any:
    """Post to Plimsoll's JSON API as the administrator."""
    with httpx.Client(base_url=f"http://127.0.0.1:{airflow.running.port}", timeout=PATIENCE_S, trust_env=False) as http:
        login = {"username": "admin", "password": airflow.stack.home.password_of("admin")}
        token = http.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        answer = http.post(f"/plimsoll/api/v1/campaigns/{path}", headers={"Authorization": f"Bearer {token}"})
        return answer.raise_for_status().json()


def _until(condition: Callable[[], bool], what: str) -> None:
    until(condition, what, patience_s=300)
