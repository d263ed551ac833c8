"""The record of launches for a cluster. It shows hosts that the cloud does not list yet."""

from collections.abc import Sequence
from typing import Protocol

from plimsoll.domain.cluster import ClusterId, Launch


class Launches(Protocol):
    """The launches of every cluster, by token. Each method raises StoreError when the record can't be reached."""

    def of(self, cluster_id: ClusterId) -> Sequence[Launch]:
        """Return the cluster's launches, in the order of the requests."""

    def unsettled(self) -> Sequence[ClusterId]:
        """Return the clusters of all campaigns whose account is open, so that they may have hosts that nobody lists."""

    def note(self, launch: Launch) -> None:
        """Record a launch, over any earlier record of it."""
