"""Where clusters come from."""

from collections.abc import Sequence
from typing import Protocol

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, ClusterRequest, HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.ports.host import Host


class Provider(Protocol):
    """Clusters by attempt. Its truth is what is really there (processes, instances), never a memory of its own."""

    name: str
    is_local: bool
    """Whether its clusters are processes of this machine, which belong to nobody elsewhere."""

    def check(self, definition: Definition) -> Sequence[Problem]:
        """Everything that would keep the definition's clusters from being provided, found without providing any."""

    def ensure(self, request: ClusterRequest) -> Cluster:
        """The cluster of that attempt, made if it is not there yet. ProviderError when it can't be had."""

    def find(self, key: AttemptKey) -> Cluster | None:
        """The living cluster of that attempt."""

    def clusters(self) -> Sequence[Cluster]:
        """Every cluster alive now, of any campaign, whole or half destroyed.

        PartlySeen where that can't be told of all; it carries the clusters that could be seen.
        """

    def destroy(self, key: AttemptKey) -> None:
        """Remove everything of that cluster and verify that it is gone; ProviderError otherwise. Idempotent."""

    def host(self, cluster: Cluster, info: HostInfo) -> Host:
        """Access to one host of a cluster."""
