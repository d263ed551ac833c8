"""Wait until new hosts prove their identity and report that they are prepared, with pauses between the looks.

Hosts that are kept from cell to cell: a folder for each environment, its removal, and a later end of the hosts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from pathlib import PurePath, PurePosixPath
from typing import Protocol, TypeVar

from plimsoll.adapters.hosts.processes import process_tags_of
from plimsoll.adapters.providers.ec2.user_data import PREPARED, PROLONG, TIME
from plimsoll.adapters.providers.requested import looks
from plimsoll.adapters.providers.ssh import WrongHostKey
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import HostError, ProviderError, SecretError
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host, at_once

_MOST_BYTES = 4096

# Soon at first, for what is quick; not often later, for the sake of the API's limits.
_LOOKS_S, _LATER_S = (0.5, 1.0, 1.0, 2.0, 3.0), 5.0
# For what may take a quarter of an hour.
_SELDOM_S, _LONGEST_S = (5.0, 5.0, 5.0, 10.0, 10.0, 20.0), 30.0


def await_hosts(hosts: Sequence[Host], clock: Clock, patience: timedelta, require_alive: Callable[[], None]) -> None:
    """Wait until all hosts are prepared. `require_alive` raises ProviderError once one of them is gone.

    Raises ProviderError when a host is not prepared within `patience`, or reports a fault; HostError when something
    else answers at its address.
    """
    left = list(hosts)
    for _ in looks(clock, poll_pauses(), patience):
        # All are asked at once, since an unreachable host answers late
        waiting = [(host, why) for host, why in zip(left, at_once(left, _not_ready), strict=True) if why]
        if not waiting:
            return
        require_alive()
        left = [host for host, _ in waiting]
    reasons = "; ".join(f"{_name(host)}: {why}" for host, why in waiting)
    mend = "let the controller reach the hosts' private addresses by SSH, and see that the image runs cloud-init"
    raise ProviderError(f"hosts were not ready within {patience}: {reasons}", mend=mend)


def _not_ready(host: Host) -> str:
    """Explain why the host can't be used yet; empty once it can."""
    try:
        report = host.read_tail(PurePosixPath(PREPARED), max_bytes=_MOST_BYTES).strip()
    except WrongHostKey:  # time does not mend that
        raise
    except HostError as error:
        return error.what
    if not report:
        return "it answers, but is not prepared yet"
    if report != "ok":
        mend = "see /var/log/cloud-init-output.log on such a host; another image may do"
        raise ProviderError(f"the host could not be prepared: {report}", where=_name(host), mend=mend)
    return ""


def _name(host: Host) -> str:
    return f"{host.info.name} ({host.info.facts.get('instance_id', host.info.address)})"


def poll_pauses() -> Iterator[float]:
    """Yield the seconds until the next look, without end."""
    return chain(_LOOKS_S, repeat(_LATER_S))


def patient_pauses() -> Iterator[float]:
    """Yield the seconds until the next look at something slow: growing, up to 30 s."""
    return chain(_LOOKS_S, _SELDOM_S, repeat(_LONGEST_S))


_FOLDER = PurePosixPath("environments")
_PROLONG_TIMEOUT = timedelta(minutes=1)

_T = TypeVar("_T")


class SharedHost(Host, Protocol):
    """A host on which several environments may have a folder each, one after another."""

    def within(self, folder: PurePosixPath, tags: Mapping[str, str]) -> Host:
        """Return the host with a folder below its own as root. What starts there has the tags. Raises HostError."""

    def clear(self, folder: PurePosixPath, cluster: str, keep: frozenset[str]) -> Sequence[str]:
        """End and remove environments in that folder but those in `keep`. Returns what remains. Raises HostError."""


def in_environment(host: SharedHost, cluster: Cluster, environment: str) -> Host:
    """Return the host with the folder of that environment as root. Its whole folder for a cluster of one attempt."""
    if not environment:
        return host
    return host.within(_FOLDER / environment, process_tags_of(cluster, host.info, PurePath(host.root), environment))


def clear(hosts: Sequence[SharedHost], cluster: Cluster, keep: frozenset[str]) -> None:
    """End and remove every environment but those in `keep` on all hosts at once. Raises ProviderError for remains."""

    def on(host: SharedHost) -> list[str]:
        return [f"{host.info.name}: {left}" for left in host.clear(_FOLDER, str(cluster.id), keep)]

    left = list(chain.from_iterable(_on_all(hosts, on)))
    if left:
        mend = "destroy the cluster: other hosts take its place"
        raise ProviderError(f"hosts are not clear: {'; '.join(left)}", where=str(cluster.id), mend=mend)


def prolong(hosts: Sequence[SharedHost], until: datetime) -> None:
    """Set the time at which the hosts end themselves. Raises ProviderError."""
    argv = ["sudo", "-n", PROLONG, until.astimezone(UTC).strftime(TIME)]
    _on_all(hosts, lambda host: host.run(argv, timeout=_PROLONG_TIMEOUT))


def _on_all(hosts: Sequence[SharedHost], work: Callable[[SharedHost], _T]) -> Iterable[_T]:
    try:
        return at_once(hosts, work)
    except (HostError, SecretError) as error:
        raise ProviderError(error.what, where=error.where, mend=error.mend) from error
