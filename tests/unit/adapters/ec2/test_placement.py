from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock

from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.adapters.providers.ec2.placement import Placement, patiently, preferred
from plimsoll.adapters.providers.requested import pauses
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.text.errors import ProviderError
from plimsoll.services.hosts.places import StoredFullZones

A, B = Subnet("subnet-a", "us-east-1a", "vpc-1", 9), Subnet("subnet-b", "us-east-1b", "vpc-1", 9)
HOSTS = [{"InstanceId": "i-1"}]


class FakeLauncher:
    """Answers launches in the order given: AWS's error codes, or None for success."""

    def __init__(self, wanted: Any, *answers: Any, begun: Any = (), serves: Any = ()) -> None:
        self.wanted, self.answers, self._begun, self._serves = wanted, list(answers), set(begun), set(serves)
        self.log = []

    def begun_in(self) -> Any:
        return self._begun

    def serves_in(self) -> Any:
        return self._serves

    def launch(self, subnet: Any) -> Any:
        self.log.append(subnet.zone)
        code = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if code:
            raise CloudError("no room", where="AWS", mend="name further zones", code=code)
        return HOSTS

    def undo(self) -> None:
        self.log.append("undo")


def place(launcher: Any, clock: Any = None) -> tuple[Any, list[Any]]:
    said, clock = [], clock or SteppingClock()
    deadline = clock.now() + launcher.wanted.options.patience
    return Placement(launcher, clock, said.append).placed([A, B], deadline), said


def test_the_first_zone_is_taken_where_it_has_room(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, None)
    assert place(launcher)[0] == HOSTS
    assert launcher.log == ["us-east-1a"]


@pytest.mark.parametrize("code", ["InsufficientInstanceCapacity", "InsufficientFreeAddressesInSubnet"])
def test_a_full_zone_moves_the_whole_cell_to_the_next(wanted: LaunchPlan, code: str) -> None:
    launcher = FakeLauncher(wanted, code, None)
    _, said = place(launcher)
    assert launcher.log == ["us-east-1a", "undo", "us-east-1b"]
    assert code in said[0]


@pytest.mark.parametrize("code", ["Plimsoll.NotStarted", "Server.InternalError"])
def test_hosts_that_never_start_or_break_while_they_do_move_the_cell_too(wanted: LaunchPlan, code: str) -> None:
    launcher = FakeLauncher(wanted, code, None)
    place(launcher)
    assert launcher.log == ["us-east-1a", "undo", "us-east-1b"]


def test_where_every_zone_is_full_the_cell_waits_and_begins_again(wanted: LaunchPlan) -> None:
    full, clock = "InsufficientInstanceCapacity", SteppingClock()
    launcher = FakeLauncher(wanted, full, full, full, None)
    place(launcher, clock)
    assert [step for step in launcher.log if step != "undo"] == ["us-east-1a", "us-east-1b"] * 2
    assert clock.passed > timedelta(seconds=5)


def test_a_quota_holds_in_every_zone_so_the_cell_waits_for_its_share(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, "VcpuLimitExceeded", "VcpuLimitExceeded", None)
    place(launcher)
    assert launcher.log == ["us-east-1a", "undo"] * 2 + ["us-east-1a"]


def test_patience_ends_with_the_reason_and_nothing_is_left(wanted: LaunchPlan) -> None:
    launcher, clock = FakeLauncher(wanted, "VcpuLimitExceeded"), SteppingClock()
    with pytest.raises(ProviderError, match=r"no room within 0:30:00: no room") as caught:
        place(launcher, clock)
    assert caught.value.mend == "name further zones"
    assert timedelta(minutes=20) < clock.passed <= wanted.options.patience
    assert launcher.log[-1] == "undo"


def test_a_zone_that_lacks_the_type_moves_the_cell_to_the_next(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, "Unsupported", None)
    place(launcher)
    assert launcher.log == ["us-east-1a", "undo", "us-east-1b"]


def test_where_no_zone_has_the_type_waiting_mends_nothing(wanted: LaunchPlan) -> None:
    launcher, clock = FakeLauncher(wanted, "Unsupported"), SteppingClock()
    with pytest.raises(CloudError):
        place(launcher, clock)
    assert launcher.log == ["us-east-1a", "undo", "us-east-1b", "undo"]
    assert clock.naps == 0


def test_where_one_zone_lacks_the_type_and_another_is_full_the_cell_waits(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, "InsufficientInstanceCapacity", "Unsupported", None)
    place(launcher)
    assert launcher.log == ["us-east-1a", "undo", "us-east-1b", "undo", "us-east-1a"]


def test_a_zone_that_was_full_for_one_cell_comes_last_for_all_others_for_some_minutes(
    wanted: LaunchPlan, tmp_path: Path
) -> None:
    clock = SteppingClock()

    def placed_by_another_process(launcher: Any) -> None:
        memory = StoredFullZones(ObjectStore(str(tmp_path)), clock)
        Placement(launcher, clock, print, memory).placed([A, B], clock.now() + wanted.options.patience)

    first, second, third = (
        FakeLauncher(wanted, *codes) for codes in (["InsufficientInstanceCapacity", None], [None], [None])
    )
    placed_by_another_process(first)
    placed_by_another_process(second)
    clock.at += timedelta(minutes=6)
    placed_by_another_process(third)
    assert [each.log[-1] for each in (first, second, third)] == ["us-east-1b", "us-east-1b", "us-east-1a"]
    assert second.log == ["us-east-1b"]


def test_an_interrupted_launch_is_gone_on_with_although_its_zone_was_full(wanted: LaunchPlan, tmp_path: Path) -> None:
    clock = SteppingClock()
    memory = StoredFullZones(ObjectStore(str(tmp_path)), clock)
    first: Any = FakeLauncher(wanted, "InsufficientInstanceCapacity", None)
    Placement(first, clock, print, memory).placed([A, B], clock.now())
    launcher: Any = FakeLauncher(wanted, None, begun=["subnet-a"])
    Placement(launcher, clock, print, memory).placed([A, B], clock.now())
    assert launcher.log == ["us-east-1a"]


def test_any_other_refusal_is_no_reason_to_wait(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, "UnauthorizedOperation")
    with pytest.raises(CloudError):
        place(launcher)
    assert launcher.log == ["us-east-1a"]


def test_an_interrupted_launch_is_gone_on_with_where_it_began(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, None, begun=["subnet-b"])
    place(launcher)
    assert launcher.log == ["us-east-1b"]
    assert preferred([A, B], []) == [A, B]


def test_hosts_that_have_served_are_kept_while_one_that_died_is_waited_for(wanted: LaunchPlan) -> None:
    full = "InsufficientInstanceCapacity"
    launcher = FakeLauncher(wanted, full, full, None, begun=["subnet-b"], serves=["subnet-b"])
    place(launcher)
    assert launcher.log == ["us-east-1b"] * 3


def test_only_after_half_of_the_patience_all_hosts_come_up_in_another_zone(wanted: LaunchPlan) -> None:
    class FullInOneZone(FakeLauncher):
        def launch(self, subnet: Any) -> Any:
            self.answers = [None if subnet == A else "InsufficientInstanceCapacity"]
            return super().launch(subnet)

    clock, launcher = SteppingClock(), FullInOneZone(wanted, begun=["subnet-b"], serves=["subnet-b"])
    found, said = place(launcher, clock)
    assert found == HOSTS
    assert launcher.log[:3] == ["us-east-1b"] * 3
    assert set(launcher.log[:-2]) == {"us-east-1b"}
    assert launcher.log[-2:] == ["undo", "us-east-1a"]
    assert timedelta(minutes=10) < clock.passed <= wanted.options.patience / 2
    assert any("all are launched in another zone" in one for one in said)


def test_a_quota_ends_no_hosts_that_have_served(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, "VcpuLimitExceeded", begun=["subnet-b"], serves=["subnet-b"])
    clock = SteppingClock()
    with pytest.raises(ProviderError, match="no room within"):
        place(launcher, clock)
    assert "undo" not in launcher.log
    assert wanted.options.patience / 2 < clock.passed <= wanted.options.patience


def test_where_no_zone_has_room_for_kept_hosts_either_patience_ends_once(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, "InsufficientInstanceCapacity", begun=["subnet-b"], serves=["subnet-b"])
    clock = SteppingClock()
    with pytest.raises(ProviderError, match="no room within"):
        place(launcher, clock)
    assert launcher.log[-1] == "undo"
    assert clock.passed <= wanted.options.patience


def test_hosts_of_two_zones_are_given_up(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, None, begun=["subnet-a", "subnet-b"])
    place(launcher)
    assert launcher.log[0] == "undo"


def test_pauses_grow_to_a_bound_and_differ_between_cells() -> None:
    first, other = list(islice(pauses("a"), 12)), list(islice(pauses("b"), 12))
    assert first == list(islice(pauses("a"), 12))
    assert first != other
    assert max(first) <= 240
    assert first[0] <= 15 < first[-1]


class Failing:
    """A step that AWS refuses with these codes, one after the other, before it succeeds."""

    def __init__(self, *codes: str) -> None:
        self.codes, self.times = list(codes), 0

    def __call__(self) -> str:
        self.times += 1
        if self.codes:
            raise CloudError("refused", code=self.codes.pop(0))
        return "hosts"


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "ThrottlingException", "InternalFailure", "503"])
def test_throttling_and_failures_of_aws_are_waited_for_as_room_is(code: str) -> None:
    clock, said = SteppingClock(), []
    deadline = clock.now() + timedelta(minutes=30)
    assert patiently(Failing(*[code] * 7), "a cell", clock, deadline, said.append) == "hosts"
    assert timedelta(minutes=5) < clock.passed < timedelta(minutes=30)
    assert said[0].startswith("a cell: refused; next try in ")


def test_throttling_without_an_end_is_waited_for_until_the_patience_is_over() -> None:
    clock, step = SteppingClock(), Failing(*["RequestLimitExceeded"] * 999)
    with pytest.raises(CloudError, match="refused"):
        patiently(step, "a cell", clock, clock.now() + timedelta(minutes=30), print)
    assert timedelta(minutes=25) < clock.passed <= timedelta(minutes=30)


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "InvalidParameterValue", ""])
def test_what_waiting_does_not_mend_is_raised_at_once(code: str) -> None:
    clock = SteppingClock()
    with pytest.raises(CloudError, match="refused"):
        patiently(Failing(code), "a cell", clock, clock.now() + timedelta(minutes=30), print)
    assert clock.naps == 0


def test_a_zone_is_not_given_up_for_throttling(wanted: LaunchPlan) -> None:
    launcher = FakeLauncher(wanted, "RequestLimitExceeded")
    with pytest.raises(CloudError):
        place(launcher)
    assert launcher.log == ["us-east-1a"]
