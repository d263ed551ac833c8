"""The API of one region through one connection: calls explained, pages joined."""

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal
from urllib.parse import urlsplit

from botocore.session import get_session
from botocore.utils import get_environ_proxies

from plimsoll.adapters.ec2.errors import CAPACITY, CloudError, explained
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


_KEPT_S = 600.0


class Cloud:
    """EC2 and its neighbours in one place. Throttling is absorbed by the clients' own retries."""

    def __init__(self, access: AwsAccess, place: Place) -> None:
        self.place = place
        self.where = str(place)
        self._access = access

    def client(self, service: str) -> Any:
        """A client of another service of the place."""
        return self._access.client(service, self.place.region)

    def require_endpoint(self) -> None:
        """CloudError, with regions of a like name, where the region's endpoint has no address; boto3 tries for long.

        Behind a proxy that can't be told from here.
        """
        url = self._ec2.meta.endpoint_url
        with explained("ec2", self.where):  # signed only: without credentials nobody is asked
            self._ec2.generate_presigned_url("describe_availability_zones")
        if get_environ_proxies(url):
            return
        name = urlsplit(url).hostname
        try:
            socket.getaddrinfo(name, None)
        except OSError as error:
            raise CloudError(
                f"{name} can't be found: {error}", where=self.where, mend=_region_mend(self.place)
            ) from error

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
        client = self.client("ec2")
        # Before boto3's own handler: the first answer counts, and False means no.
        client.meta.events.register_first("needs-retry.ec2.RunInstances", _refused_for_now)
        return client


def _refused_for_now(response: tuple[Any, Answer] | None, **_: Any) -> Literal[False] | None:
    """Ask a full zone once. EC2 says so as a server error (HTTP 500), which boto3 would repeat; other zones may do."""
    code = response[1].get("Error", {}).get("Code") if response else None
    return False if code in CAPACITY else None


def clouds(secrets: Secrets) -> Callable[[Place], Cloud]:
    """The cloud of a place.

    Kept for a while, since making a client takes a good part of a second; not for ever, so that changed credentials
    count; and by this process alone, since connections do not survive a fork.
    """
    known: dict[tuple[int, Place], tuple[float, Cloud]] = {}

    def cloud(place: Place) -> Cloud:
        kept, now = (os.getpid(), place), time.monotonic()
        if kept not in known or now - known[kept][0] > _KEPT_S:
            known[kept] = now, Cloud(secrets.aws(place.connection), place)
        return known[kept][1]

    return cloud


def _region_mend(place: Place) -> str:
    known = get_session().get_available_regions("ec2")
    if place.region in known:
        return "check this machine's network"
    alike = get_close_matches(place.region, known, n=1)
    return f"name a region that there is{f', such as {alike[0]}' if alike else ''}; or check this machine's network"
