"""What EC2's eventual consistency and used-up tokens do to a launch; the API itself is asked in integration tests."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.unit.adapters.ec2.fake_cloud import FakeCloud, Records

from plimsoll.adapters.providers.ec2 import tags
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan, client_token, run_instances
from plimsoll.adapters.providers.ec2.launched import LAG, Launched
from plimsoll.adapters.providers.ec2.launching import NOT_STARTED, Launcher, retry_until_known
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.adapters.providers.ec2.options import ROLES
from plimsoll.domain.hosts.cluster import ClusterId


def launcher_on(cloud: Any, clock: Any, wanted: Any) -> Launcher:
    return Launcher(cloud, clock, wanted, Launched.read(Records(), wanted.id, cloud.place, clock))


def test_hosts_that_answers_do_not_show_yet_are_waited_for(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    cloud = FakeCloud(clock, lag_s=20)
    assert len(launcher_on(cloud, clock, wanted).launch(subnet)) == 4
    assert clock.passed >= timedelta(seconds=20)


def test_a_launch_that_answers_do_not_show_yet_is_not_repeated(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    cloud = FakeCloud(clock, lag_s=20)
    cloud.call("run_instances", **run_instances(wanted, "node", subnet, 0))  # its answer was lost
    assert len(launcher_on(cloud, clock, wanted).launch(subnet)) == 4
    assert len(cloud.made) == 4


def test_an_earlier_launch_with_other_parameters_is_taken_as_it_is(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    cloud = FakeCloud(clock, lag_s=20)
    cloud.call("run_instances", **run_instances(wanted, "node", subnet, 0))
    cloud.refusals = ["IdempotentParameterMismatch"]
    assert len(launcher_on(cloud, clock, wanted).launch(subnet)) == 4
    assert len(cloud.made) == 4


def test_an_earlier_launch_that_does_not_show_is_followed_by_the_next_token_once_answers_can_not_lag(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    """Its hosts ended more than an hour ago, and nothing is on record of them."""
    cloud = FakeCloud(clock)
    cloud.refusals = ["IdempotentParameterMismatch"]
    assert len(launcher_on(cloud, clock, wanted).launch(subnet)) == 4
    assert set(cloud.tokens) == {
        client_token(wanted, "load", subnet.zone, 1),
        client_token(wanted, "node", subnet.zone, 0),
    }
    assert clock.passed >= LAG


@pytest.mark.parametrize("answer", ["refused", "terminated"])
def test_a_used_up_token_is_followed_by_the_next(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock, answer: str
) -> None:
    cloud = FakeCloud(clock)
    if answer == "refused":
        cloud.refusals = ["IdempotentInstanceTerminated"]
    else:
        cloud.state = "terminated"
        cloud.call("run_instances", **run_instances(wanted, "load", subnet, 0))
        cloud.state = "running"
    launcher_on(cloud, clock, wanted).launch(subnet)
    assert client_token(wanted, "load", subnet.zone, 1) in cloud.tokens


def test_hosts_are_paid_for_from_the_last_time_that_they_were_seen_to_be_pending(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AWS bills from the moment at which they run, which lies between two looks."""
    cloud, records, pending_at = FakeCloud(clock), Records(), []
    cloud.state, runs_from, shown = "pending", clock.now() + timedelta(minutes=1), cloud.instances

    def look(*asked: Any) -> list[Any]:
        asked_at = clock.now()
        clock.sleep(5)  # the answer takes so long
        if clock.now() < runs_from:
            pending_at.append(asked_at)
        else:
            for one in cloud.made:
                one["State"] = {"Name": "running"}
        return shown(*asked)

    monkeypatch.setattr(cloud, "instances", look)
    launched = Launched.read(records, wanted.id, cloud.place, clock)
    Launcher(cloud, clock, wanted, launched).launch(subnet)  # type: ignore[arg-type]
    hosts = [host for launch in records.of(wanted.id) for host in launch.hosts]
    assert {host.since for host in hosts} == {pending_at[-1]}


@pytest.mark.parametrize("after", ["a lost answer", "a wait before the launch"])
def test_hosts_that_were_never_seen_to_be_pending_are_paid_for_from_their_launch(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    """EC2 answers a repeated request as it answered the first: `pending`."""
    cloud, records = FakeCloud(clock), Records()
    cloud.state, call, shown = "pending", cloud.call, cloud.instances
    if after == "a lost answer":
        cloud.call("run_instances", **run_instances(wanted, "node", subnet, 0))
        clock.sleep(240)

    def wait_and_call(operation: Any, **parameters: Any) -> Any:
        if operation == "run_instances" and after == "a wait before the launch":
            clock.sleep(240)
        return call(operation, **parameters)

    def look(*asked: Any) -> list[Any]:
        return [{**one, "State": {"Name": "running"}} for one in shown(*asked)]

    monkeypatch.setattr(cloud, "call", wait_and_call)
    monkeypatch.setattr(cloud, "instances", look)
    launched = Launched.read(records, wanted.id, cloud.place, clock)
    Launcher(cloud, clock, wanted, launched).launch(subnet)  # type: ignore[arg-type]
    since = {host.facts["instance_id"]: host.since for launch in records.of(wanted.id) for host in launch.hosts}
    assert since == {one["InstanceId"]: one["LaunchTime"] for one in cloud.made}


@pytest.fixture
def kept(wanted: LaunchPlan) -> LaunchPlan:
    """Hosts that live on when their cell is over."""
    return replace(wanted, id=ClusterId.kept("campaign", "", 1))


@pytest.mark.parametrize(
    ("state", "is_shown"), [("terminated", True), ("terminated", False), ("stopping", True), ("stopped", True)]
)
def test_of_kept_hosts_those_alone_that_died_are_replaced_whether_they_still_show_or_not(
    kept: LaunchPlan, subnet: Subnet, clock: SteppingClock, state: str, is_shown: bool
) -> None:
    """AWS stops a host before it retires the machine."""
    cloud = FakeCloud(clock)
    launcher = launcher_on(cloud, clock, kept)
    before = ids(launcher.launch(subnet))
    dead = cloud.made[1]
    clock.sleep(2 * LAG.total_seconds())
    dead["State"] = {"Name": state}
    if not is_shown:
        cloud.made.remove(dead)
    found = ids(launcher.launch(subnet))
    assert len(found) == 4
    assert before - found == {dead["InstanceId"]}
    assert dead["InstanceId"] not in cloud.living()
    assert ids(launcher.launch(subnet)) == found


def test_launches_that_were_ended_for_want_of_room_for_the_other_role_are_not_counted(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    cloud, full = FakeCloud(clock), 25
    call = cloud.call

    def with_few_nodes(operation: str, **parameters: Any) -> Any:
        if operation == "run_instances" and parameters["InstanceType"] == wanted.options.instance_types.node and full:
            raise CloudError("no room", code="InsufficientInstanceCapacity")
        return call(operation, **parameters)

    cloud.call = with_few_nodes  # type: ignore[method-assign]
    launcher = launcher_on(cloud, clock, wanted)
    while full:
        with pytest.raises(CloudError, match="no room"):
            launcher.launch(subnet)
        launcher.undo()
        full -= 1
    assert len(launcher.launch(subnet)) == 4


def test_an_unfit_host_is_replaced_once_though_its_end_could_not_be_recorded(
    kept: LaunchPlan, subnet: Subnet, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud, records = FakeCloud(clock), Records()

    def launched(wanted: LaunchPlan) -> set[str]:
        return ids(Launcher(cloud, clock, wanted, Launched.read(records, kept.id, cloud.place, clock)).launch(subnet))  # type: ignore[arg-type]

    before = launched(kept)
    unfit = replace(kept, unfit=frozenset({"i-us1"}))
    with monkeypatch.context() as patched:
        patched.setattr(Launched, "ended", lambda *_: None)
        after = launched(unfit)
    assert (before - after, len(after)) == ({"i-us1"}, 4)
    assert launched(unfit) == after


def test_a_token_whose_hosts_have_all_ended_is_not_asked_for_again(
    kept: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    """EC2 shows hosts for an hour after their end, but keeps their token for a day."""
    cloud = FakeCloud(clock)
    launcher = launcher_on(cloud, clock, kept)
    before = launcher.launch(subnet)
    for generation in (1, 2):
        clock.sleep(2 * LAG.total_seconds())
        cloud.made.remove(next(one for one in cloud.made if is_load_host(one)))
        began = clock.passed
        found = launcher.launch(subnet)
        assert len(ids(before) - ids(found)) == 1
        assert client_token(kept, "load", subnet.zone, generation) in cloud.asked
        assert clock.passed - began < LAG
    assert len(cloud.asked) == len(set(cloud.asked))


def test_hosts_that_show_after_all_are_ended_beside_those_that_took_their_place(
    kept: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    cloud, records = FakeCloud(clock), Records()

    def launched(wanted: LaunchPlan) -> set[str]:
        return ids(Launcher(cloud, clock, wanted, Launched.read(records, kept.id, cloud.place, clock)).launch(subnet))  # type: ignore[arg-type]

    cloud.call("run_instances", **run_instances(kept, "load", subnet, 0))
    (late,) = cloud.made
    late["LaunchTime"] += 3 * LAG
    found = launched(replace(kept, user_data=dict.fromkeys(ROLES, "#cloud-config for another expiry")))
    assert (len(found), late["InstanceId"] in found) == (4, False)
    clock.sleep(3 * LAG.total_seconds())
    assert launched(kept) == found
    assert cloud.terminated == [late["InstanceId"]]


def test_of_hosts_of_one_attempt_all_of_a_role_come_up_anew(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    cloud = FakeCloud(clock)
    launcher = launcher_on(cloud, clock, wanted)
    before = ids(launcher.launch(subnet))
    cloud.made[1]["State"] = {"Name": "terminated"}
    assert len(before - ids(launcher.launch(subnet))) == 3


def ids(instances: Sequence[Any]) -> set[str]:
    return {one["InstanceId"] for one in instances}


def is_load_host(instance: Any) -> bool:
    return {"Key": tags.ROLE, "Value": "load"} in instance["Tags"]


def test_hosts_that_stay_pending_are_given_up(wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock) -> None:
    cloud = FakeCloud(clock)
    cloud.state = "pending"
    with pytest.raises(CloudError, match=r"did not start within 0:10:00: i-us0 is pending") as caught:
        launcher_on(cloud, clock, wanted).launch(subnet)
    assert caught.value.code == NOT_STARTED


def test_hosts_that_end_while_they_start_say_why(wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock) -> None:
    cloud = FakeCloud(clock)
    launcher = launcher_on(cloud, clock, wanted)
    cloud.state = "pending"
    code = "Server.InsufficientInstanceCapacity"

    def dies(seconds: float) -> None:
        clock.at += timedelta(seconds=seconds)
        cloud.made[0].update(State={"Name": "terminated"}, StateReason={"Code": code, "Message": "none left"})

    clock.sleep = dies  # type: ignore[method-assign]
    with pytest.raises(CloudError, match="i-us0 ended while it started: none left") as caught:
        launcher.launch(subnet)
    assert caught.value.code == code


def test_a_launch_of_which_only_a_part_shows_is_gone_on_with_whole(
    wanted: LaunchPlan, subnet: Subnet, clock: SteppingClock
) -> None:
    """The answer was lost with its process, and the list has two of three nodes."""
    cloud = FakeCloud(clock)
    cloud.call("run_instances", **run_instances(wanted, "node", subnet, 0))
    before = {one["InstanceId"] for one in cloud.made}
    clock.sleep(10)
    cloud.made[2]["LaunchTime"] += timedelta(minutes=1)
    launcher = launcher_on(cloud, clock, wanted)
    assert launcher.begun_in() == {subnet.id}
    assert before < ids(launcher.launch(subnet))
    assert cloud.terminated == []


def test_what_ec2_does_not_know_yet_is_asked_for_again_as_long_as_answers_may_lag(clock: SteppingClock) -> None:
    cloud, unknown = FakeCloud(clock), "InvalidInstanceID.NotFound"
    cloud.answers["create_tags"] = [unknown] * 5
    retry_until_known(clock, unknown, lambda: cloud.call("create_tags"))
    assert cloud.called == ["create_tags"] * 6
    cloud.answers["create_tags"] = [unknown] * 999
    with pytest.raises(CloudError):
        retry_until_known(clock, unknown, lambda: cloud.call("create_tags"))
    assert LAG < clock.passed < 2 * LAG
