"""What lives though EC2 does not list it: hosts on record, and launches without an answer."""

from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.unit.adapters.ec2.fake_cloud import FakeCloud, Records

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan, run_instances
from plimsoll.adapters.providers.ec2.launched import DOUBT, LAG, Launched
from plimsoll.adapters.providers.ec2.launching import Launcher
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.domain.hosts.cluster import ClusterId, PartlySeen, RecordsUnread
from plimsoll.domain.hosts.cost import total
from plimsoll.ports.provider import Places


@pytest.fixture
def hidden(east: FakeCloud, launcher: Launcher, wanted: LaunchPlan, subnet: Subnet) -> FakeCloud:
    """Provide a place with three nodes that nobody lists yet, as their launch alone was answered."""
    east.lag = timedelta(minutes=2)
    launcher._launch_role("node", subnet)
    return east


def test_hosts_that_do_not_show_yet_are_listed_from_their_launches_with_owner_and_price(
    provider: Ec2Provider, hidden: FakeCloud, clock: SteppingClock, key: ClusterId, wanted: LaunchPlan
) -> None:
    (found,) = provider.clusters()
    assert (found.id, found.owner, found.expires_at) == (key, wanted.owner, wanted.expires)
    assert [host.name for host in found.hosts] == ["node1", "node2", "node3"]
    assert found.resources[0] == "instance i-us0, not listed yet"
    assert total(found.hosts, clock.now() + timedelta(hours=1)).usd == pytest.approx(3 * 0.576)


def test_hosts_that_show_and_hosts_that_do_not_are_one_cluster(
    provider: Ec2Provider, hidden: FakeCloud, clock: SteppingClock
) -> None:
    clock.sleep(130)
    hidden.made[1]["LaunchTime"] += timedelta(minutes=1)
    (found,) = provider.clusters()
    assert sorted(host.identity for host in found.hosts) == ["i-us0", "i-us1", "i-us2"]
    assert sorted(host.name for host in found.hosts) == ["node1", "node2", "node3"]


def test_what_does_not_show_once_it_would_is_gone(
    provider: Ec2Provider, hidden: FakeCloud, clock: SteppingClock
) -> None:
    hidden.made.clear()
    clock.sleep(LAG.total_seconds() + 1)
    assert provider.clusters() == []


def test_a_launch_without_an_answer_is_listed_until_its_hosts_would_show(
    provider: Ec2Provider, east: FakeCloud, launcher: Launcher, subnet: Subnet, clock: SteppingClock, key: ClusterId
) -> None:
    east.refusals = [""]
    with pytest.raises(Exception, match="refused"):
        launcher._launch_role("node", subnet)
    (found,) = provider.clusters()
    assert found.id == key
    assert found.resources == ("a launch whose answer was lost, which may show until 12:05:00 UTC",)
    clock.sleep(LAG.total_seconds() + 1)
    assert provider.clusters() == []


def test_where_instances_may_not_be_listed_those_on_record_are(
    provider: Ec2Provider, hidden: FakeCloud, clock: SteppingClock
) -> None:
    clock.sleep(3600)
    hidden.answers["describe_instances"] = ["UnauthorizedOperation"]
    with pytest.raises(PartlySeen) as caught:
        provider.clusters()
    (found,) = caught.value.clusters
    assert len(found.hosts) == 3


def test_a_record_that_can_not_be_read_is_told(provider: Ec2Provider, records: Records) -> None:
    records.is_away = True
    with pytest.raises(PartlySeen, match="hosts that EC2 does not list yet are not known: the store is away"):
        provider.clusters()


@pytest.mark.parametrize("is_away", [True, False])
def test_one_answer_without_a_host_is_doubted(  # what is asked, and of whom
    provider: Ec2Provider,
    launcher: Launcher,
    subnet: Subnet,
    east: FakeCloud,
    records: Records,
    clock: SteppingClock,
    key: ClusterId,
    is_away: bool,
) -> None:
    """It has shown for an hour, and the next answer has it again."""
    launcher.launch(subnet)
    clock.sleep(3600)
    records.is_away, shown, missed = is_away, east.instances, []

    def look(*asked: Any) -> list[Any]:
        found = shown(*asked)
        return found if missed else missed.append(found.pop()) or found  # type: ignore[func-returns-value]

    east.instances = look  # type: ignore[method-assign,assignment]
    found = provider.at(Places(provider.places.options[1:])).find(key)
    assert found is not None
    assert len(found.hosts) == 4
    assert clock.now() - BEGAN < timedelta(hours=1) + DOUBT


def test_one_answer_without_a_host_replaces_it_not(
    launcher: Launcher, subnet: Subnet, east: FakeCloud, clock: SteppingClock
) -> None:
    before = {one["InstanceId"] for one in launcher.launch(subnet)}
    clock.sleep(3600)
    shown, missed = east.instances, []

    def look(*asked: Any) -> list[Any]:
        found = shown(*asked)
        return found if len(missed) > 2 else missed.append(found.pop()) or found  # type: ignore[func-returns-value]

    east.instances = look  # type: ignore[method-assign,assignment]
    assert {one["InstanceId"] for one in launcher.launch(subnet)} == before
    assert east.terminated == []


def test_a_host_that_is_gone_for_good_is_doubted_for_a_minute_alone(
    provider: Ec2Provider, launcher: Launcher, subnet: Subnet, east: FakeCloud, clock: SteppingClock, key: ClusterId
) -> None:
    launcher.launch(subnet)
    clock.sleep(3600)
    east.made.pop()
    assert provider.find(key) is None
    assert DOUBT <= clock.passed - timedelta(hours=1) < 2 * DOUBT


def test_why_hosts_are_gone_is_told_in_aws_s_words_and_of_no_host_that_was_given_up(
    provider: Ec2Provider, launcher: Launcher, subnet: Subnet, east: FakeCloud, key: ClusterId, clock: SteppingClock
) -> None:
    launcher.launch(subnet)
    launcher._end([east.made[0]["InstanceId"]])
    assert provider.why_gone(key) == ""
    spot = "Server.SpotInstanceTermination: Spot instance termination"
    east.made[1].update(State={"Name": "terminated"}, StateReason={"Code": "Server.Spot", "Message": spot})
    stop = "Server.ScheduledStop: Stopped due to a scheduled retirement"
    east.made[2].update(
        State={"Name": "stopped"},
        StateReason={"Message": stop},
        StateTransitionReason="Server.ScheduledStop (2026-01-31 12:00:00 GMT)",
    )
    assert provider.why_gone(key) == (
        f"i-us1 is terminated: {spot}; i-us2 is stopped: {stop}, Server.ScheduledStop (2026-01-31 12:00:00 GMT)"
    )


def test_hosts_whose_launch_was_never_answered_are_billed_by_their_tags(
    provider: Ec2Provider, east: FakeCloud, records: Records, wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    east.call("run_instances", **run_instances(wanted, "node", subnet, 0))
    clock.sleep(600)
    provider.destroy(wanted.id)
    hosts = records.hosts().values()
    assert {host.usd_per_hour for host in hosts} == {0.576}
    assert {(host.since, host.until) for host in hosts} == {(BEGAN, BEGAN + timedelta(minutes=10))}
    assert len(hosts) == 3


def test_hosts_of_an_unanswered_launch_that_are_ended_beside_others_are_billed(
    launcher: Launcher, east: FakeCloud, records: Records, wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    east.call("run_instances", **run_instances(wanted, "node", subnet, 7))
    clock.sleep(60)
    launcher.launch(subnet)
    strays = [host for host in records.hosts().values() if host.until]
    assert len(strays) == 3
    assert {host.since for host in strays} == {BEGAN}


@pytest.mark.parametrize("by", ["itself", "a call whose first answer was lost"])
def test_hosts_that_may_have_run_before_they_ended_cost_something(  # which host, and who ends it
    provider: Ec2Provider,
    launcher: Launcher,
    east: FakeCloud,
    records: Records,
    subnet: Subnet,
    clock: SteppingClock,
    key: ClusterId,
    by: str,
) -> None:
    east.state = "pending"
    ids = launcher._launch_role("node", subnet)
    if by == "itself":
        east.set_state("terminated", reason="Server.InternalError: Internal error on launch")
        with pytest.raises(Exception, match="ended while it started: Server"):
            launcher._await_running(ids)
    else:
        shown, call = east.instances, east.call

        def stale(*asked: Any) -> list[Any]:
            return [{**one, "State": {"Name": "pending"}} for one in shown(*asked)] if east.living() else []

        def twice(operation: str, **parameters: Any) -> Any:
            if operation == "terminate_instances":
                call(operation, **parameters)
            return call(operation, **parameters)

        east.instances, east.call = stale, twice  # type: ignore[method-assign,assignment]
    provider.destroy(key)
    assert {host.since for host in records.hosts().values()} == {BEGAN}
    assert all(host.until for host in records.hosts().values())


def test_hosts_that_are_terminated_while_they_are_pending_cost_nothing(
    provider: Ec2Provider, launcher: Launcher, east: FakeCloud, records: Records, subnet: Subnet, key: ClusterId
) -> None:
    east.state = "pending"
    launcher._launch_role("node", subnet)
    provider.destroy(key)
    assert {host.since for host in records.hosts().values()} == {None}


def test_a_refusal_after_a_first_answer_was_lost_leaves_the_launch_unanswered(
    launcher: Launcher, east: FakeCloud, records: Records, subnet: Subnet, clock: SteppingClock, key: ClusterId
) -> None:
    """The client sends a request again by itself, and the second one is throttled: hosts may have been launched."""
    east.answers["run_instances"] = [CloudError("refused", code="RequestLimitExceeded", repeated=True)]
    with pytest.raises(CloudError):
        launcher._launch_role("node", subnet)
    assert Launched.read(records, key, east.place, clock).unknown_until() == BEGAN + LAG
    east.answers["run_instances"] = [CloudError("refused", code="InsufficientInstanceCapacity", repeated=True)]
    with pytest.raises(CloudError):  # of hosts that were launched, the same token would have told
        launcher._launch_role("node", subnet)
    assert Launched.read(records, key, east.place, clock).unknown_until() is None


def test_a_record_that_is_damaged_is_named_and_hides_no_other(
    provider: Ec2Provider, launcher: Launcher, subnet: Subnet, records: Records, clock: SteppingClock, key: ClusterId
) -> None:
    launcher._launch_role("node", subnet)
    broken = key.model_copy(update={"campaign_id": "broken"})
    records.broken = {broken}
    with pytest.raises(RecordsUnread, match="launches/x is damaged") as caught:
        provider.clusters()
    assert [cluster.id for cluster in caught.value.clusters] == [key]
