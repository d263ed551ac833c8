"""What ends the wait for hosts that are being prepared."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.unit.adapters.ec2.fake_cloud import FakeCloud

from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.launching import Launcher
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.adapters.providers.ec2.readiness import await_hosts, prolong
from plimsoll.domain.text.errors import ProviderError, Unreachable

PATIENCE = timedelta(minutes=10)


class Booting:
    """A host that does not answer before it has been asked so often."""

    def __init__(self, after: int, says: str = "ok\n") -> None:
        self.info: Any = type("Info", (), {"name": "node1", "facts": {"instance_id": "i-us1"}, "address": ""})
        self._left, self._says = after, says

    def read_tail(self, *_: object, max_bytes: int) -> str:
        self._left -= 1
        if self._left >= 0:
            raise Unreachable("does not answer")
        return self._says


class OneOfMany:
    """A host that answers only once all others are asked, too."""

    def __init__(self, asked: Barrier) -> None:
        self.info: Any = type("Info", (), {"name": "node1", "facts": {}, "address": ""})
        self._asked = asked

    def read_tail(self, *_: object, max_bytes: int) -> str:
        self._asked.wait(timeout=60)
        return "ok\n"

    def run(self, *_: object, timeout: timedelta) -> None:
        self._asked.wait(timeout=60)


def waiting(host: Any, clock: SteppingClock, require_alive: Callable[[], None]) -> None:
    await_hosts([host], clock, PATIENCE, require_alive)


@pytest.fixture
def launched(launcher: Launcher, subnet: Subnet) -> Launcher:
    launcher.launch(subnet)
    return launcher


@pytest.mark.parametrize("state", ["shutting-down", "terminated", "stopped"])
def test_a_host_that_dies_while_it_is_prepared_is_noticed_at_once_with_aws_s_reason(
    launched: Launcher, east: FakeCloud, clock: SteppingClock, state: str
) -> None:
    east.made[1].update(State={"Name": state}, StateReason={"Message": "Server.ScheduledStop: maintenance"})
    with pytest.raises(CloudError, match=r"i-us1 ended while it started: Server\.ScheduledStop: maintenance"):
        waiting(Booting(999), clock, launched.require_alive)
    assert clock.passed < timedelta(seconds=10)


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "InternalError", ""])
def test_a_look_that_aws_refuses_for_now_ends_no_wait(
    launched: Launcher, east: FakeCloud, clock: SteppingClock, code: str
) -> None:
    east.answers["describe_instances"] = [code] * 3
    waiting(Booting(3), clock, launched.require_alive)


def test_hosts_that_do_not_show_are_not_dead(launched: Launcher, east: FakeCloud, clock: SteppingClock) -> None:
    east.made.clear()
    waiting(Booting(3), clock, launched.require_alive)


def test_hosts_that_live_and_are_never_prepared_are_given_up_after_their_time(
    launched: Launcher, clock: SteppingClock
) -> None:
    with pytest.raises(ProviderError, match="hosts were not ready within 0:10:00: node1"):
        waiting(Booting(999), clock, launched.require_alive)
    assert clock.passed > PATIENCE


def test_however_many_hosts_are_asked_at_once_since_unreachable_ones_answer_late(clock: SteppingClock) -> None:
    asked = Barrier(40)
    hosts: Any = [OneOfMany(asked) for _ in range(asked.parties)]
    await_hosts(hosts, clock, PATIENCE, lambda: None)
    prolong(hosts, datetime(2026, 1, 31, tzinfo=UTC))
