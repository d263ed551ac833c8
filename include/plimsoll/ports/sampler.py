"""Samples of a host's CPU, disk, network and memory while a cell runs."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Protocol

from plimsoll.domain.host_bounds import HostActivity
from plimsoll.ports.host import Host


class HostSampler(Protocol):
    """A detached job that writes a line of figures about its host every second."""

    def start(
        self,
        host: Host,
        expires: timedelta,
        environments: frozenset[str] = frozenset(),
        database: Sequence[str] = (),
    ) -> None:
        """Start sampling that host, or leave the sampler that runs.

        `environments` are the attempt's own on kept hosts: the cluster's other processes count as other programs. Empty
        where the whole cluster is the attempt's. `database`: port and addresses of one that somebody else runs, which
        counts as the attempt's where it runs on that host.
        """

    def look(self, host: Host, environments: frozenset[str] = frozenset()) -> HostActivity | None:
        """Measure what the host is busy with now, over some seconds, besides these environments. None: unknown."""

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Return the paths of the files with the samples."""
