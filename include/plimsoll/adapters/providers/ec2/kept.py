"""Hosts that are kept from cell to cell: a folder for each environment, its removal, and a later end of the hosts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import PurePath, PurePosixPath
from typing import Protocol, TypeVar

from plimsoll.adapters.hosts.processes import process_tags_of
from plimsoll.adapters.providers.ec2.user_data import PROLONG, TIME
from plimsoll.domain.cluster import Cluster
from plimsoll.domain.errors import HostError, ProviderError, SecretError
from plimsoll.ports.host import Host

_FOLDER = PurePosixPath("environments")
_PROLONG_TIMEOUT = timedelta(minutes=1)

_T = TypeVar("_T")


class SharedHost(Host, Protocol):
    """A host on which several environments may have a folder each, one after another."""

    def within(self, folder: PurePosixPath, tags: Mapping[str, str]) -> Host:
        """Return the host with a folder below its own as root. What starts there has the tags. Raises HostError."""

    def clear(self, folder: PurePosixPath, cluster: str, keep: frozenset[str]) -> Sequence[str]:
        """End and remove everything of the cluster in that folder except the environments in `keep`.

        Returns a sentence for each remainder. Raises HostError.
        """


def in_environment(host: SharedHost, cluster: Cluster, environment: str) -> Host:
    """Return the host with the folder of that environment as root. Its whole folder for a cluster of one attempt."""
    if not environment:
        return host
    return host.within(_FOLDER / environment, process_tags_of(cluster, host.info, PurePath(host.root), environment))


def clear(hosts: Sequence[SharedHost], cluster: Cluster, keep: frozenset[str]) -> None:
    """End and remove every environment but those in `keep` on all hosts at once. Raises ProviderError for remains."""

    def on(host: SharedHost) -> list[str]:
        return [f"{host.info.name}: {left}" for left in host.clear(_FOLDER, str(cluster.id), keep)]

    left = [sentence for each in _on_all(hosts, on) for sentence in each]
    if left:
        mend = "destroy the cluster: other hosts take its place"
        raise ProviderError(f"hosts are not clear: {'; '.join(left)}", where=str(cluster.id), mend=mend)


def prolong(hosts: Sequence[SharedHost], until: datetime) -> None:
    """Set the time at which the hosts end themselves. Raises ProviderError."""
    argv = ["sudo", "-n", PROLONG, until.astimezone(UTC).strftime(TIME)]
    _on_all(hosts, lambda host: host.run(argv, timeout=_PROLONG_TIMEOUT))


def _on_all(hosts: Sequence[SharedHost], work: Callable[[SharedHost], _T]) -> Iterable[_T]:
    try:
        with ThreadPoolExecutor(max(1, len(hosts))) as pool:
            return list(pool.map(work, hosts))
    except (HostError, SecretError) as error:
        raise ProviderError(error.what, where=error.where, mend=error.mend) from error
