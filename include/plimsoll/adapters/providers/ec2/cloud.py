"""The API of one region through one connection, with errors in words and pages joined. Instances are terminated by
their ids, also those that EC2 does not know yet.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from operator import itemgetter
from typing import Any, Literal
from urllib.parse import urlsplit

from botocore.session import get_session
from botocore.utils import get_environ_proxies

from plimsoll.adapters.aws import REFUSED_CREDENTIALS, RenewedClient
from plimsoll.adapters.providers.ec2.errors import CAPACITY, DENIED, THROTTLED, CloudError, explained
from plimsoll.ports.secrets import Secrets

Filter = dict[str, Any]
Answer = dict[str, Any]
"""An answer, or a part of one, as boto3 gives it."""

OWNER_ID = "OwnerId"
"""The key of the account in a reservation."""

LIVING = ("pending", "running", "stopping", "stopped")
"""States of instances that exist; `shutting-down` and `terminated` ones are gone, or will be whatever happens."""
NOT_GONE = (*LIVING, "shutting-down")
"""States of instances that still hold disks, addresses and their placement group."""
STATES = (*NOT_GONE, "terminated")
"""All states. What has terminated is shown for about an hour."""

UNKNOWN = "InvalidInstanceID.NotFound"
"""EC2's error code for an instance that is gone, or that EC2 does not know yet."""

# What AWS says to every call, whichever instances it names; no answer has no code.
_OF_ALL = THROTTLED | REFUSED_CREDENTIALS | {""}


@dataclass(frozen=True)
class CloudRegion:
    connection: str
    region: str

    def __str__(self) -> str:
        return f"AWS {self.region} (connection {self.connection})"


@dataclass(frozen=True)
class Ended:
    """The result of one try: `accepted` instances with their earlier states, the rest unknown to EC2 or refused."""

    accepted: dict[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    refused: dict[str, CloudError] = field(default_factory=dict)


class Cloud:
    """EC2 and related services in one place. The clients' own retries absorb throttling."""

    def __init__(self, secrets: Secrets, place: CloudRegion) -> None:
        self.place = place
        self.where = str(place)
        self._secrets = secrets
        self._ec2 = RenewedClient(self._made)

    def account(self) -> str:
        """Return the id of the account that the connection leads to. Raises CloudError and SecretError."""
        with explained("sts", self.where):
            return str(self.client("sts").get_caller_identity()["Account"])

    def client(self, service: str) -> Any:
        """Return a new client. The connection is read for each: one that can't be read is an error of calls by it."""
        return self._secrets.aws(self.place.connection).client(service, self.place.region)

    def require_endpoint(self) -> None:
        """Raise CloudError, with regions of similar names, where the region's endpoint has no address.

        boto3 itself would retry for long. Behind a proxy this check is not possible.
        """
        client = self._ec2()
        url = client.meta.endpoint_url
        with explained("ec2", self.where):  # signed only: without credentials nobody is asked
            client.generate_presigned_url("describe_availability_zones")
        if get_environ_proxies(url):
            return
        name = urlsplit(url).hostname
        try:
            socket.getaddrinfo(name, None)
        except OSError as error:
            mend, known = "check this machine's network", get_session().get_available_regions("ec2")
            if self.place.region not in known:
                alike = get_close_matches(self.place.region, known, n=1)
                mend = f"name a region that there is{f', such as {alike[0]}' if alike else ''}; or {mend}"
            raise CloudError(f"{name} can't be found: {error}", where=self.where, mend=mend) from error

    def call(self, operation: str, **parameters: Any) -> Answer:
        """Make one call to EC2. Raises CloudError when it is refused."""
        with explained("ec2", self.where):
            answer: Answer = self._ec2.ask(lambda client: getattr(client, operation)(**parameters))
            return answer

    def pages(self, operation: str, key: str, **parameters: Any) -> list[Answer]:
        """Return the entries below `key` of every page. Operations without pages work too."""

        def fetch(client: Any) -> list[Answer]:
            return [entry for page in client.get_paginator(operation).paginate(**parameters) for entry in page[key]]

        if not self._ec2().can_paginate(operation):
            return list(self.call(operation, **parameters)[key])
        with explained("ec2", self.where):
            entries: list[Answer] = self._ec2.ask(fetch)
            return entries

    def instances(self, filters: Sequence[Filter], states: Sequence[str] = LIVING) -> list[Answer]:
        """Return the instances in those states, in the order of their launch."""
        in_states = [*filters, {"Name": "instance-state-name", "Values": list(states)}]
        reservations = self.pages("describe_instances", "Reservations", Filters=in_states)
        instances = [instance for reservation in reservations for instance in reserved(reservation)]
        return sorted(instances, key=itemgetter("LaunchTime", "AmiLaunchIndex", "InstanceId"))

    def of_ids(self, ids: Sequence[str]) -> list[Answer]:
        """Return the instances with these ids that EC2 knows, whatever their tags and states."""
        # By a filter: where EC2 does not know one of `InstanceIds`, it refuses the whole call
        by_id = [{"Name": "instance-id", "Values": list(ids)}]
        return [instance for instance in self.instances(by_id, STATES) if instance["InstanceId"] in ids] if ids else []

    def _made(self) -> Any:
        client = self.client("ec2")
        # Before boto3's own handler: the first answer counts, and False means no.
        client.meta.events.register_first("needs-retry.ec2.RunInstances", _refused_for_now)
        return client


def reserved(reservation: Answer) -> list[Answer]:
    """Return the instances of an answer that launched or describes them, each with the account that they are in."""
    return [{**instance, OWNER_ID: reservation.get(OWNER_ID, "")} for instance in reservation["Instances"]]


def ids_of(instances: Iterable[Answer]) -> list[str]:
    return [instance["InstanceId"] for instance in instances]


def is_living(instance: Answer) -> bool:
    return instance["State"]["Name"] in LIVING


def _refused_for_now(response: tuple[Any, Answer] | None, **_: Any) -> Literal[False] | None:
    """Ask a full zone only once. EC2 reports it as a server error (HTTP 500), which boto3 would retry."""
    code = response[1].get("Error", {}).get("Code") if response else None
    return False if code in CAPACITY else None


def end(cloud: Cloud, ids: Sequence[str], may_lag: Callable[[str], bool] = lambda _: False) -> Ended:
    """Try once to terminate the instances.

    One unknown or protected instance makes EC2 reject the whole call, or the part of it in that instance's zone. Then
    each instance is terminated by a call of its own, unless AWS would refuse every call now. Where the policy requires
    tags, an instance that EC2 does not know yet (`may_lag`) has none, so that EC2 may report missing rights.
    """
    if not ids:
        return Ended()
    try:
        answer = cloud.call("terminate_instances", InstanceIds=list(ids))
    except CloudError as error:
        if len(ids) > 1 and error.code not in _OF_ALL:
            return _joined([end(cloud, [instance], may_lag) for instance in ids])
        if error.code == UNKNOWN or (error.code in DENIED and may_lag(ids[0])):
            return Ended(unknown=tuple(ids))
        return Ended(refused=dict.fromkeys(ids, error))
    changes = answer.get("TerminatingInstances", ())
    before = {change["InstanceId"]: change["PreviousState"]["Name"] for change in changes}
    return Ended(accepted={instance: before.get(instance, "running") for instance in ids})


def _joined(tries: Sequence[Ended]) -> Ended:
    accepted = {instance: state for ended in tries for instance, state in ended.accepted.items()}
    refused = {instance: error for ended in tries for instance, error in ended.refused.items()}
    return Ended(accepted, tuple(instance for ended in tries for instance in ended.unknown), refused)
