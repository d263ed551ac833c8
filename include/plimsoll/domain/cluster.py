"""A cluster: the database nodes and the load generator's host of one attempt."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.errors import ProviderError

Role = Literal["node", "load"]


class HostInfo(Model):
    """One host of a cluster, as its provider names it."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9-]+$", description="Unique within the cluster: node1, load")]
    role: Role
    address: Annotated[str, Field(description="Where other hosts of the cluster reach it")]
    facts: Annotated[dict[str, str], Field(description="What the provider knows: instance id, type, zone")] = {}
    since: Annotated[AwareDatetime | None, Field(description="Since when it is paid for; none: it never was")] = None
    until: Annotated[AwareDatetime | None, Field(description="Until when; none: it still is, as far as known")] = None
    usd_per_hour: Annotated[float | None, Field(description="What it costs; none: nothing, or nobody knows")] = None


class Cluster(Model):
    """Hosts that belong to one attempt and die with it."""

    key: AttemptKey
    owner: str
    provider: str
    hosts: tuple[HostInfo, ...]
    created_at: AwareDatetime
    expires_at: AwareDatetime
    resources: Annotated[
        tuple[str, ...], Field(description="All that is there of it, in the provider's words, where that was listed")
    ] = ()

    @property
    def nodes(self) -> tuple[HostInfo, ...]:
        """The database nodes, seed first."""
        return tuple(host for host in self.hosts if host.role == "node")

    @property
    def load_host(self) -> HostInfo:
        """Where the load generator runs."""
        return next(host for host in self.hosts if host.role == "load")


class ClusterRequest(Model):
    """What a provider is asked for."""

    key: AttemptKey
    owner: str
    nodes: Annotated[int, Field(ge=1)]
    expires_at: AwareDatetime
    options: dict[str, object] = {}


class PartlySeen(ProviderError):
    """Some of what is alive could not be looked at; `clusters` are those that could."""

    def __init__(self, what: str, clusters: Sequence[Cluster], *, where: str = "", mend: str = "") -> None:
        super().__init__(what, where=where, mend=mend)
        self.clusters = tuple(clusters)
