"""A short check of what hosts can do."""

from collections.abc import Sequence
from typing import Protocol

from plimsoll.domain.canary import HostFigures
from plimsoll.ports.host import Host


class HostCanary(Protocol):
    """Measures CPU, disk and network of a cluster's hosts in some seconds, before anything runs there."""

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        """The figures of each, in that order. HostError where one can't be measured."""
