"""How long the end of a cluster is waited for; the API itself is asked in integration tests."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from tests.fakes.clock import SteppingClock

from plimsoll.adapters.providers.ec2.cloud import CloudRegion
from plimsoll.adapters.providers.ec2.launched import Launched
from plimsoll.adapters.providers.ec2.remnants import Removal, remove
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.services.steps.steps import step

PLACE = CloudRegion("aws_default", "us-east-1")


class NeverGone:
    """A cloud with an instance that shuts down for ever."""

    where = "AWS us-east-1"
    place = PLACE

    def instances(self, *_: object) -> list[dict[str, Any]]:
        return [{"InstanceId": "i-1", "State": {"Name": "shutting-down"}}]

    def of_ids(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        assert not ids
        return []


class NoRecords:
    """Implements the Launches port: nothing was launched."""

    def of(self, _: ClusterId) -> list[Any]:
        return []


def test_the_wait_for_an_end_is_over_before_the_step_that_waits_is_ended(key: ClusterId) -> None:
    cloud: Any = NeverGone()
    records: Any = NoRecords()
    clock = SteppingClock()
    removal = Removal(cloud, clock, "s3://results/runs", Launched.read(records, key, PLACE, clock), key)
    (error,) = remove([removal], clock, print)
    assert "instance i-1 is shutting-down" in str(error)
    assert timedelta(minutes=30) < clock.passed
    assert clock.passed + timedelta(minutes=5) < step("destroy").timeout  # calls take time, and so do accounts
