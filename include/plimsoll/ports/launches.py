"""The record of what was launched for a cluster: what a cloud does not show yet is known by it."""

from collections.abc import Sequence
from typing import Protocol

from plimsoll.domain.cluster import ClusterId
from plimsoll.domain.launch import Launch


class Launches(Protocol):
    """Launches of every cluster, by token. Each method raises StoreError when the record can't be reached."""

    def of(self, cluster_id: ClusterId) -> Sequence[Launch]:
        """The cluster's launches, in the order in which they were asked for."""

    def note(self, launch: Launch) -> None:
        """Put it on record, over what was known of it."""
