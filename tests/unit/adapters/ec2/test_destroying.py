"""What keeps AWS from ending one host or from answering for one place keeps no other host alive."""

from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.unit.adapters.ec2.fake_cloud import FakeCloud, Records

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan, run_instances
from plimsoll.adapters.providers.ec2.launched import LAG
from plimsoll.adapters.providers.ec2.launching import Launcher
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import ProviderError, SecretError

NO_CONNECTION = SecretError("there is no such connection", where="connection 'aws_west'")


@pytest.fixture
def launched(launcher: Launcher, subnet: Subnet) -> list[Any]:
    return launcher.launch(subnet)


def test_a_protected_host_keeps_no_other_alive(
    provider: Ec2Provider, launched: list[Any], east: FakeCloud, key: ClusterId, clock: SteppingClock
) -> None:
    protected = launched[1]["InstanceId"]
    east.protected = {protected}
    with pytest.raises(ProviderError, match=f"instance {protected} lives; .*protected") as caught:
        provider.destroy(key)
    assert east.living() == [protected]
    assert "termination protection" in caught.value.mend
    assert clock.passed < timedelta(minutes=1)


def test_a_protected_host_keeps_no_other_of_a_zone_that_is_given_up_alive(
    launcher: Launcher, launched: list[Any], east: FakeCloud
) -> None:
    protected = launched[0]["InstanceId"]
    east.protected = {protected}
    with pytest.raises(CloudError, match="protected"):
        launcher.undo()
    assert east.living() == [protected]


def test_throttling_of_a_call_for_several_hosts_is_not_answered_by_more_calls(
    provider: Ec2Provider, launched: list[Any], east: FakeCloud, key: ClusterId, said: list[str]
) -> None:
    east.answers["terminate_instances"] = ["RequestLimitExceeded"] * 3
    provider.destroy(key)
    assert east.called.count("terminate_instances") == 4
    assert east.living() == []
    assert len(said) == 1


@pytest.mark.parametrize("trouble", ["UnauthorizedOperation", "RequestExpired", NO_CONNECTION], ids=str)
@pytest.mark.parametrize("is_away", [True, False])
def test_a_place_that_can_not_be_used_keeps_no_host_elsewhere_alive(
    provider: Ec2Provider,
    launched: list[Any],
    east: FakeCloud,
    west: FakeCloud,
    records: Records,
    key: ClusterId,
    clock: SteppingClock,
    trouble: Any,
    is_away: bool,
) -> None:
    """The cluster was found, so that the other place says nothing about it, and is not waited for."""
    records.is_away = is_away
    clock.sleep(3600)
    west.answers = {name: [trouble] * 99 for name in ("describe_instances", "describe_volumes")}
    began = clock.passed
    provider.destroy(key)
    assert east.living() == []
    assert clock.passed - began < timedelta(minutes=1)


def test_where_nothing_of_a_cluster_shows_the_place_that_can_not_be_used_is_told(
    provider: Ec2Provider, east: FakeCloud, west: FakeCloud, records: Records, key: ClusterId
) -> None:
    records.is_away = True
    west.answers = {"describe_instances": [NO_CONNECTION] * 99}
    with pytest.raises(ProviderError, match="no such connection"):
        provider.destroy(key)
    assert east.called.count("describe_instances") > 2  # the other place was looked at until nothing can show there


def test_a_place_whose_credentials_are_refused_for_long_keeps_no_other_from_being_verified(
    provider: Ec2Provider, east: FakeCloud, west: FakeCloud, records: Records, key: ClusterId, clock: SteppingClock
) -> None:
    records.is_away = True
    west.answers = {"describe_instances": ["AuthFailure"] * 999}
    looks: list[timedelta] = []
    shown = east.instances

    def look(*asked: Any) -> list[Any]:
        looks.append(clock.passed)
        return shown(*asked)

    east.instances = look  # type: ignore[method-assign,assignment]
    with pytest.raises(ProviderError, match="refused"):
        provider.destroy(key)
    assert LAG <= looks[-1] < 2 * LAG


def test_a_place_that_can_not_be_used_hides_no_cluster_elsewhere(
    provider: Ec2Provider, launched: list[Any], west: FakeCloud, key: ClusterId
) -> None:
    west.answers = {"describe_instances": [NO_CONNECTION] * 99}
    found = provider.find(key)
    assert found is not None
    assert len(found.hosts) == 4


@pytest.mark.parametrize(
    "code", ["InternalFailure", "ExpiredToken", "RequestExpired", "AuthFailure", "RequestLimitExceeded", "503"]
)
@pytest.mark.parametrize("operation", ["describe_instances", "terminate_instances", "describe_volumes"])
def test_a_refusal_that_may_pass_is_told_and_waited_for(
    provider: Ec2Provider,
    launched: list[Any],
    east: FakeCloud,
    key: ClusterId,
    said: list[str],
    clock: SteppingClock,
    operation: str,
    code: str,
) -> None:
    east.answers[operation] = [code] * 30
    provider.destroy(key)
    assert east.living() == []
    assert timedelta(seconds=10) < clock.passed < timedelta(minutes=30)
    assert len(said) == 1
    assert "goes on until 12:30:00 UTC at most" in said[0]


def test_a_refusal_that_does_not_pass_is_waited_for_half_an_hour(
    provider: Ec2Provider, launched: list[Any], east: FakeCloud, key: ClusterId, clock: SteppingClock
) -> None:
    east.answers["terminate_instances"] = ["ExpiredToken"] * 999
    with pytest.raises(ProviderError, match=r"i-us0 lives.*refused") as caught:
        provider.destroy(key)
    assert timedelta(minutes=29) < clock.passed < timedelta(minutes=32)
    assert "renew the connection's temporary credentials" in caught.value.mend


def test_without_the_record_hosts_that_do_not_show_are_waited_for_once(
    provider: Ec2Provider, records: Records, key: ClusterId, clock: SteppingClock
) -> None:
    records.is_away = True
    provider.destroy(key)
    assert clock.passed >= LAG
    first = clock.passed
    for _ in range(3):
        clock.sleep(10)
        provider.destroy(key)
    assert clock.passed - first < timedelta(minutes=1)


def test_without_the_record_a_whole_cluster_is_not_waited_for_again_once_it_is_gone(
    provider: Ec2Provider, launched: list[Any], records: Records, key: ClusterId, clock: SteppingClock
) -> None:
    records.is_away = True
    clock.sleep(3600)
    began = clock.passed
    for _ in range(3):
        provider.destroy(key)
    assert clock.passed - began < timedelta(minutes=1)


def test_what_was_verified_does_not_count_for_hosts_that_came_later(
    provider: Ec2Provider, launched: list[Any], records: Records, key: ClusterId, clock: SteppingClock
) -> None:
    records.is_away = True
    provider.destroy(key)
    records.is_away = False
    provider.destroy(key)  # everything is known
    records.is_away = True
    began = clock.passed
    provider.destroy(key)
    assert clock.passed - began >= LAG


def test_a_host_that_was_told_to_end_and_still_shows_hides_not_the_one_that_replaces_it(
    provider: Ec2Provider,
    launcher: Launcher,
    launched: list[Any],
    east: FakeCloud,
    records: Records,
    key: ClusterId,
    clock: SteppingClock,
    wanted: LaunchPlan,
    subnet: Subnet,
) -> None:
    """The old host shows as running, and so the cluster as whole; its successor does not show yet."""
    clock.sleep(3600)
    launcher._end([launched[1]["InstanceId"]])
    shown, ended = east.instances, launched[1]["InstanceId"]
    new = east.call("run_instances", **run_instances(wanted, "node", subnet, 7, ["i-1", "i-2"]))["Instances"]
    until = clock.now() + timedelta(minutes=2)
    for one in new:
        one["LaunchTime"] = until

    def lagging(*asked: Any) -> list[Any]:
        late = [{**one, "State": {"Name": "running"}} for one in east.made if one["InstanceId"] == ended]
        return [*shown(*asked), *(late if clock.now() < until else [])]

    east.instances = lagging  # type: ignore[method-assign,assignment]
    records.is_away = True
    provider.destroy(key)
    assert east.living() == []


def test_another_account_s_not_found_is_no_end(
    launched: list[Any], records: Records, key: ClusterId, clock: SteppingClock, west: FakeCloud, provider: Ec2Provider
) -> None:
    """The region is the same, the connection is not."""
    clock.sleep(3600)
    west.place = type(west.place)("aws_west", "us-east-1")
    provider._destroyer.destroy([west], key)  # type: ignore[list-item]
    assert {host.until for host in records.hosts().values()} == {None}
