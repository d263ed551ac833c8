"""What crashes leave behind is found by its tags and removed; what has none of them is never touched."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.cloud.cloud import REGION
from tests.fakes.clock import SteppingClock
from tests.integration.ec2.campaign import STORE
from tests.integration.ec2.watched_account import WatchedAccount
from tests.support.cloud.resources import census, leave, make_one_of_each, tagged

from plimsoll.adapters.providers.ec2 import Ec2Provider, remnants
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest, PartlySeen
from plimsoll.domain.text.errors import ProviderError

KEY = ClusterId(campaign_id="azul", name="zgc-020k-r1/1")


@pytest.fixture
def ec2(account: WatchedAccount) -> Any:
    return account.client("ec2", REGION)


def test_every_kind_is_found_as_what_is_left_of_a_cluster_and_removed(provider: Ec2Provider, ec2: Any) -> None:
    before = census(ec2)
    leave(ec2, STORE, KEY)
    assert all(len(now) > len(then) for now, then in zip(census(ec2).values(), before.values(), strict=True))
    (left,) = provider.clusters()
    assert (left.id, left.owner) == (KEY, "cli-1")
    provider.destroy(KEY)
    assert provider.clusters() == []
    assert census(ec2) == before


def test_a_single_volume_is_enough_to_be_found(provider: Ec2Provider, ec2: Any) -> None:
    ec2.create_volume(AvailabilityZone="us-east-1a", Size=8, TagSpecifications=tagged("volume", STORE, KEY))
    assert [cluster.id for cluster in provider.clusters()] == [KEY]


def test_what_others_have_is_neither_seen_nor_touched(
    provider: Ec2Provider, ec2: Any, ask: Callable[..., ClusterRequest]
) -> None:
    before = census(ec2)
    mine = provider.ensure(ask())
    with_mine = census(ec2)
    leave(ec2, "s3://somebody-else/runs", mine.id, "theirs")
    make_one_of_each(ec2, "untagged")
    others = {kind: set(ids) - set(with_mine[kind]) for kind, ids in census(ec2).items()}
    assert [cluster.id for cluster in provider.clusters()] == [mine.id]
    assert len(provider.clusters()[0].hosts) == 4

    provider.destroy(mine.id)
    assert {kind: set(ids) - set(before[kind]) for kind, ids in census(ec2).items()} == others


def test_a_campaign_that_the_store_has_lost_is_looked_for_everywhere(provider: Ec2Provider, ec2: Any) -> None:
    lost = KEY.model_copy(update={"campaign_id": "lost"})
    ec2.create_volume(AvailabilityZone="us-east-1a", Size=8, TagSpecifications=tagged("volume", STORE, lost))
    provider.destroy(lost)
    assert provider.clusters() == []


def test_what_can_not_be_removed_is_named(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remnants, "PATIENCE", timedelta(seconds=20))
    key = provider.ensure(ask()).id
    account.faults = {"DeletePlacementGroup": ["InvalidPlacementGroup.InUse"] * 1000}
    with pytest.raises(ProviderError, match=r"placement group plimsoll-\w+-azul-g1-040k-r3-1-us-east-1a: .*InUse"):
        provider.destroy(key)


def test_a_refusal_to_destroy_names_the_action_to_allow(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, clock: SteppingClock
) -> None:
    key = provider.ensure(ask()).id
    account.faults = {"TerminateInstances": ["UnauthorizedOperation"] * 99}
    with pytest.raises(ProviderError, match="allow the action ec2:TerminateInstances"):
        provider.destroy(key)
    assert clock.slept == []  # waiting would not mend it


def test_what_may_not_be_listed_hides_nothing_else(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    mine = provider.ensure(ask())
    account.faults = {"DescribeVolumes": ["UnauthorizedOperation"]}
    with pytest.raises(PartlySeen, match="allow the action ec2:DescribeVolumes") as caught:
        provider.clusters()
    (seen,) = caught.value.clusters
    assert (seen.id, len(seen.hosts)) == (mine.id, 4)
    assert any(resource.startswith("placement group") for resource in seen.resources)
