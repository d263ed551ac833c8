"""A request to a cloud for hosts, and its answer: known before the cloud's own lists show the hosts."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model
from plimsoll.domain.cluster import ClusterId, HostInfo, Role


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
    def living(self) -> tuple[HostInfo, ...]:
        """Return the hosts of the request without a recorded end."""
        return tuple(host for host in self.hosts or () if host.until is None)
