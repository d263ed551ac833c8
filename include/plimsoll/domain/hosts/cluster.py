"""A cluster: hosts with a name and a life of their own, used by one attempt or by several in turn.

A launch, which is a request to a cloud and its answer, is known before the cloud's own lists show the hosts.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field

from plimsoll.domain.campaign.cell import CAMPAIGN_ID, LONGEST_CAMPAIGN_ID, AttemptKey
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import ProviderError

Role = Literal["node", "load", "observed"]
OBSERVED: Role = "observed"
"""The role of a machine of a database that somebody else runs, on which nothing is deployed."""
RUNS_AS = "runs_as"
"""The fact of such a machine with the user as whom the database runs there."""

PROCESSORS = "processors"
"""The fact of a host whose processes get so many processors of its machine, and never more."""

_KEPT = "hosts"


def kept_for(variant: str) -> str:
    """Return the purpose in the name of kept hosts: the hosts of one variant, or of the campaign if none is given."""
    return f"{variant}-{_KEPT}" if variant else _KEPT


class ClusterId(Model):
    """Names a cluster. While its campaign is in the store, no other cluster gets the same name.

    `name` has two parts: the cluster's purpose and a number. For the cluster of one attempt these are the cell and the
    attempt's number: `g1-040k-r3/1`. Hosts that are kept from cell to cell are named `hosts/2` (the second set of hosts
    that the campaign had), or `g1-hosts/1` where each variant has its own. No cell's id ends with `hosts`.
    """

    campaign_id: Annotated[str, Field(pattern=CAMPAIGN_ID, max_length=LONGEST_CAMPAIGN_ID)]
    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*/[1-9][0-9]*$", max_length=100)]

    def __str__(self) -> str:
        """Return the text form `demo-1/g1-040k-r3/1`. It is also the cluster's folder and the tag on its processes."""
        return f"{self.campaign_id}/{self.name}"

    @classmethod
    def of(cls, campaign_id: str, purpose: str, number: int) -> Self:
        return cls(campaign_id=campaign_id, name=f"{purpose}/{number}")

    @classmethod
    def of_attempt(cls, key: AttemptKey) -> Self:
        return cls.of(key.campaign_id, key.cell_id, key.attempt)

    @classmethod
    def kept(cls, campaign_id: str, variant: str, number: int) -> Self:
        """Return the id of the kept cluster with that number, of one variant, or of the campaign if none is given."""
        return cls.of(campaign_id, kept_for(variant), number)

    def numbered(self, number: int) -> Self:
        return self.of(self.campaign_id, self.purpose, number)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text form of an id. Raises ValueError when the text is not an id."""
        campaign_id, purpose, number = text.split("/")
        return cls(campaign_id=campaign_id, name=f"{purpose}/{number}")

    @property
    def purpose(self) -> str:
        """Return the first part of the name: a cell's id, or what the hosts are kept for."""
        return self.name.partition("/")[0]

    @property
    def number(self) -> int:
        """Return the second part of the name: the attempt's number, or a count of the kept clusters."""
        return int(self.name.partition("/")[2])

    @property
    def is_kept(self) -> bool:
        """Tell whether the cluster lives on when an attempt ends."""
        return self.purpose == _KEPT or self.purpose.endswith(f"-{_KEPT}")

    @property
    def attempt(self) -> AttemptKey | None:
        """Return the one attempt that the cluster serves; None for kept hosts."""
        if self.is_kept:
            return None
        return AttemptKey(campaign_id=self.campaign_id, cell_id=self.purpose, attempt=self.number)


def load_host_name(number: int) -> str:
    """Return the name of the load host of that number, counted from 1, within its cluster: `load`, `load2`, `load3`."""
    return "load" if number == 1 else f"load{number}"


def is_load_host(name: str) -> bool:
    return re.fullmatch(r"load\d*", name) is not None


class SetUp(Model):
    """What a cluster makes in an endpoint: `own` is the name that only it has there."""

    own: Annotated[str, Field(pattern=r"^plimsoll_[0-9a-f]{12}$")]
    addresses: Annotated[tuple[str, ...], Field(description="Of the endpoint, as the definition has them")]


class HostInfo(Model):
    """One host of a cluster, as its provider names it."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9-]+$", description="Unique within the cluster: node1, load")]
    role: Role
    address: Annotated[str, Field(description="Where other hosts of the cluster reach it")]
    facts: Annotated[dict[str, str], Field(description="What the provider knows: instance id, type, zone")] = {}
    since: Annotated[AwareDatetime | None, Field(description="Since when it is paid for; none: it never was")] = None
    until: Annotated[AwareDatetime | None, Field(description="Until when; none: it still is, as far as known")] = None
    usd_per_hour: Annotated[float | None, Field(description="What it costs; none: nothing, or nobody knows")] = None

    @property
    def identity(self) -> str:
        """Return what tells the host from one in its place, and maybe its name: instance id, else address."""
        return self.facts.get("instance_id") or self.address


class Cluster(Model):
    """Hosts that are provisioned together and destroyed together."""

    id: ClusterId
    owner: Annotated[str, Field(description="Token of whoever uses it now, or did last")]
    provider: str
    hosts: tuple[HostInfo, ...]
    created_at: AwareDatetime
    expires_at: AwareDatetime
    resources: Annotated[
        tuple[str, ...], Field(description="All that is there of it, in the provider's words, where that was listed")
    ] = ()

    @property
    def nodes(self) -> tuple[HostInfo, ...]:
        """Return the database nodes, seed first."""
        return tuple(host for host in self.hosts if host.role == "node")

    @property
    def load_hosts(self) -> tuple[HostInfo, ...]:
        """Return the hosts that run the load generator. The first one's clock is the reference of all times."""
        return tuple(host for host in self.hosts if host.role == "load")

    @property
    def observed(self) -> tuple[HostInfo, ...]:
        """Return the machines of a database that somebody else runs, as far as they are looked at."""
        return tuple(host for host in self.hosts if host.role == OBSERVED)

    @property
    def load_host(self) -> HostInfo:
        return self.load_hosts[0]


class ClusterRequest(Model):
    """A request to a provider for one cluster.

    Asking again for a kept cluster sets its life anew: where hosts cost money exactly, elsewhere to the later expiry.
    """

    id: ClusterId
    owner: str
    nodes: Annotated[int, Field(ge=0, description="None where somebody else runs them")]
    load_hosts: Annotated[int, Field(ge=1)] = 1
    expires_at: AwareDatetime
    ends_at: Annotated[
        AwareDatetime | None, Field(description="When its hosts must have ended, whatever else they are given time for")
    ] = None
    kept_beyond: Annotated[
        timedelta,
        Field(description="How much longer data on it are kept for further loads, so hosts that cost nothing"),
    ] = timedelta(0)
    options: dict[str, object] = {}
    ports: Annotated[tuple[int, ...], Field(description="TCP ports on which its nodes will listen")] = ()
    was_whole: Annotated[bool, Field(description="It has been provided before, and may have served attempts")] = False
    unfit: Annotated[
        frozenset[str], Field(description="Identities of hosts that live, but are to be replaced by others")
    ] = frozenset()
    avoided: Annotated[
        frozenset[str], Field(description="Identities of hosts that were unfit before: not to be used if others can be")
    ] = frozenset()


class PartlySeen(ProviderError):
    """Raised when a provider could list only some of the living clusters; `clusters` are the ones that it saw."""

    def __init__(self, what: str, clusters: Sequence[Cluster], *, mend: str = "") -> None:
        super().__init__(what, mend=mend)
        self.clusters = tuple(clusters)


class RecordsUnread(PartlySeen):
    """Raised when only records that can't be read may name further hosts, which nobody lists yet."""


class HostsSilent(PartlySeen):
    """Raised when only hosts that could not be asked may have further clusters. Such a cluster ends when it expires."""


class Launch(Model):
    """One request for all hosts of one role. It is recorded before it is sent, and again with its answer."""

    id: Annotated[ClusterId, Field(description="The cluster that they are of")]
    token: Annotated[str, Field(pattern=r"^[0-9a-f]{16,64}$", description="Names the request, for the cloud too")]
    role: Role
    place: Annotated[dict[str, str], Field(description="Where: connection, region, zone, subnet, placement group")]
    asked_at: Annotated[AwareDatetime, Field(description="When it was sent, for the last time")]
    expires_at: Annotated[AwareDatetime, Field(description="When its hosts should be gone")]
    ends_at: Annotated[
        AwareDatetime | None, Field(description="When its hosts end themselves; none, of older records: as they expire")
    ] = None
    owner: Annotated[str, Field(description="Token of whoever asked")]
    nodes: Annotated[int | None, Field(description="How many its cluster has; none: an older record")] = None
    load_hosts: Annotated[int | None, Field(description="How many its cluster has; none: an older record")] = None
    account: Annotated[str, Field(description="Account that its hosts are in; empty: not known")] = ""
    hosts: Annotated[
        tuple[HostInfo, ...] | None, Field(description="Empty: it was refused; none: its answer is not known")
    ] = None

    @property
    def is_of_program(self) -> bool:
        """Tell whether a program of the installation was asked. Such hosts do not end themselves."""
        return "program" in self.place

    @property
    def living(self) -> tuple[HostInfo, ...]:
        """Return the hosts of the request without a recorded end."""
        return tuple(host for host in self.hosts or () if host.until is None)
