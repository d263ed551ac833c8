"""Names of clusters, and records of them."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo

KEY = AttemptKey(campaign_id="demo-1", cell_id="g1-040k-r3", attempt=2)
HOST = HostInfo(name="node1", role="node", address="10.0.0.1")
MOMENT = "2026-01-31T12:00:00Z"


def test_the_cluster_of_one_attempt_is_named_as_the_attempt_is() -> None:
    cluster_id = ClusterId.of_attempt(KEY)
    assert str(cluster_id) == str(KEY) == "demo-1/g1-040k-r3/2"
    assert (cluster_id.attempt, cluster_id.is_kept) == (KEY, False)
    assert ClusterId.parse(str(cluster_id)) == cluster_id


@pytest.mark.parametrize(("variant", "name"), [("", "hosts/2"), ("g1", "g1-hosts/2")])
def test_hosts_that_are_kept_are_named_by_what_they_are_kept_for(variant: Any, name: str) -> None:
    cluster_id = ClusterId.kept("demo-1", variant, 2)
    assert (cluster_id.name, cluster_id.number, cluster_id.is_kept) == (name, 2, True)
    assert cluster_id.attempt is None
    assert ClusterId.parse(f"demo-1/{name}") == cluster_id


@pytest.mark.parametrize("text", ["demo-1/g1/0", "demo-1/g1/01", "demo-1/g1", "demo-1/../1", "demo-1/g1/1/2", "a/G1/1"])
def test_what_is_no_name_of_a_cluster_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ClusterId.parse(text)


def test_what_is_written_now_is_read_again_and_what_is_half_is_not() -> None:
    cluster = Cluster(
        id=ClusterId.kept("demo-1", "", 1),
        owner="run-7",
        provider="local",
        hosts=(HOST,),
        created_at=MOMENT,
        expires_at=MOMENT,
    )
    assert Cluster.model_validate_json(cluster.model_dump_json()) == cluster
    with pytest.raises(ValidationError):
        Cluster.model_validate({"key": None})
