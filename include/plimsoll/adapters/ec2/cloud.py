"""The API of one region through one connection: calls explained, pages joined."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plimsoll.adapters.ec2.errors import explained
from plimsoll.adapters.ec2.tags import Filter
from plimsoll.ports.secrets import AwsAccess, Secrets

Answer = dict[str, Any]
"""An answer, or a part of one, as boto3 gives it."""

LIVING = ("pending", "running", "stopping", "stopped")
"""States of instances that exist; `shutting-down` and `terminated` ones are gone, or will be whatever happens."""
NOT_GONE = (*LIVING, "shutting-down")
"""States of instances that still hold disks, addresses and their placement group."""


@dataclass(frozen=True)
class Place:
    """Where clusters are: a region, as a connection sees it."""

    connection: str
    region: str

    def __str__(self) -> str:
        return f"AWS {self.region} (connection {self.connection})"


class Cloud:
    """EC2 and its neighbours in one place. Throttling is absorbed by the clients' own retries."""

    def __init__(self, access: AwsAccess, place: Place) -> None:
        self.place = place
        self.where = str(place)
        self._access = access

    def client(self, service: str) -> Any:
        """A client of another service of the place."""
        return self._access.client(service, self.place.region)

    def call(self, operation: str, **parameters: Any) -> Answer:
        """One call to EC2; CloudError when it is refused."""
        with explained("ec2", self.where):
            answer: Answer = getattr(self._ec2, operation)(**parameters)
            return answer

    def pages(self, operation: str, key: str, **parameters: Any) -> Iterator[Answer]:
        """The entries below `key` of every page, of operations without pages too."""
        if not self._ec2.can_paginate(operation):
            yield from self.call(operation, **parameters)[key]
            return
        with explained("ec2", self.where):
            for page in self._ec2.get_paginator(operation).paginate(**parameters):
                yield from page[key]

    def instances(self, filters: Sequence[Filter], states: Sequence[str] = LIVING) -> list[Answer]:
        """Instances in those states, in the order of their launch."""
        wanted = [*filters, {"Name": "instance-state-name", "Values": list(states)}]
        found = [
            instance
            for reservation in self.pages("describe_instances", "Reservations", Filters=wanted)
            for instance in reservation["Instances"]
        ]
        return sorted(found, key=lambda one: (one["LaunchTime"], one["AmiLaunchIndex"], one["InstanceId"]))

    @cached_property
    def _ec2(self) -> Any:
        return self.client("ec2")


def clouds(secrets: Secrets) -> Callable[[Place], Cloud]:
    """The cloud of a place. Connections are asked for their credentials each time, so that changed ones count."""

    def cloud(place: Place) -> Cloud:
        return Cloud(secrets.aws(place.connection), place)

    return cloud
