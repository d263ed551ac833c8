"""A short performance check of hosts."""

from collections.abc import Sequence
from typing import Protocol

from plimsoll.domain.host_bounds import HostFigures
from plimsoll.ports.host import Host


class HostCanary(Protocol):
    """A check of CPU, disk and network of a cluster's hosts within seconds, before anything else runs there."""

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        """Return the figures of each host, in the order given. Raises HostError where a host can't be measured."""
