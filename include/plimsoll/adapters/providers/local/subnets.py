"""Loopback subnets, 127.A.B.0/24, one for each cluster of this machine, whichever work folder it belongs to.

A claim is a file named after the subnet that holds the cluster's folder; it lasts as long as that folder does.
"""

import errno
import hashlib
import os
import socket
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import psutil

from plimsoll.adapters.providers.local.folders import subnets_in_use, write_whole
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import HostsLost, ProviderError

MOST_NODES = 200
# Nodes end at .201, so that further load hosts have room from .211 on
_LOAD_HOST, _FURTHER_LOAD_HOST = 10, 210
_MOST_LOAD_HOSTS = 40
_ANY_PORT = 0
_TRIES = 64
# 127.0.x stays free for everything else of the machine.
_FIRST, _LAST = 16, 250


def default_claims() -> Path:
    """Return the folder in which this user's clusters claim subnets."""
    return Path(tempfile.gettempdir()) / f"plimsoll-{os.getuid()}"


def node_addresses(subnet: str, nodes: int) -> tuple[str, ...]:
    """Return `.1`, `.2`, … without the load host's address."""
    numbers = (number for number in range(1, nodes + 2) if number != _LOAD_HOST)
    return tuple(f"{subnet}.{number}" for number, _ in zip(numbers, range(nodes), strict=False))


def load_addresses(subnet: str, load_hosts: int) -> tuple[str, ...]:
    """Return `.10`, then `.211`, `.212`, … beyond the addresses of nodes."""
    further = (f"{subnet}.{_FURTHER_LOAD_HOST + number}" for number in range(1, load_hosts))
    return (f"{subnet}.{_LOAD_HOST}", *further)


def with_others(
    hosts: Sequence[HostInfo], lost: Collection[str], unfit: Collection[str], ports: Sequence[int]
) -> tuple[HostInfo, ...]:
    """Return the cluster's hosts.

    Hosts named in `lost` get other addresses of the subnet, with free ports and not in `unfit`. Raises HostsLost if no
    address is left.
    """
    taken = {*unfit, *(info.address for info in hosts)}
    found = []
    for info in hosts:
        address = _other_address(info, taken, ports) if info.name in lost else info.address
        taken.add(address)
        found.append(info.model_copy(update={"address": address}))
    return tuple(found)


def _other_address(info: HostInfo, taken: Collection[str], ports: Sequence[int]) -> str:
    subnet = info.address.rpartition(".")[0]
    several = load_addresses(subnet, _MOST_LOAD_HOSTS) if info.role == "load" else node_addresses(subnet, MOST_NODES)
    free = (address for address in several if address not in taken and _obstacle([address], ports) is None)
    found = next(free, None)
    if found is None:
        mend = "destroy the cluster: the next one is in another subnet"
        raise HostsLost(f"no address is left in {subnet} in the place of {info.address}", where=info.name, mend=mend)
    return found


def claim(claims: Path, folder: Path, nodes: int, load_hosts: int = 1, ports: Sequence[int] = ()) -> str:
    """Claim a subnet that nobody uses for the cluster in that folder. Only for the holder of the claims' lock.

    Starts at a place that follows from the folder's name. ProviderError when none of 64 is free.
    """
    # A try that was interrupted may have claimed one
    release(claims, folder)
    living = set()
    for path in _files(claims):
        claimant = _claimant(path)
        if claimant is not None and claimant.is_dir():
            living.add(path.name)
        else:
            path.unlink(missing_ok=True)
    subnet = free_subnet(frozenset(living), str(folder), nodes, load_hosts, ports)
    write_whole(claims / subnet, str(folder))
    return subnet


def claimed(claims: Path) -> frozenset[str]:
    """Return the subnets that living clusters, and maybe some that are gone, have claimed."""
    return frozenset(path.name for path in _files(claims))


def release(claims: Path, folder: Path) -> None:
    """Give back what the cluster in that folder claimed. Only for the holder of the claims' lock."""
    for path in claims_of(claims, folder):
        path.unlink(missing_ok=True)


def claims_of(claims: Path, folder: Path) -> list[Path]:
    """Return the claims of the cluster in that folder. May be asked without the lock, while others give back theirs."""
    return [path for path in _files(claims) if _claimant(path) == folder]


def free_subnet(taken: frozenset[str], seed: str, nodes: int, load_hosts: int = 1, ports: Sequence[int] = ()) -> str:
    """Return a subnet in which these ports are free at each address. Raises ProviderError with the last obstacle."""
    used = taken | subnets_in_use()
    obstacle = "every subnet that was tried is claimed by another cluster"
    for subnet in candidates(seed):
        if subnet in used:
            continue
        found = _obstacle((*node_addresses(subnet, nodes), *load_addresses(subnet, load_hosts)), ports)
        if found is None:
            return subnet
        obstacle = found
    raise ProviderError(
        f"no free loopback subnet among {_TRIES}: {obstacle}",
        where="loopback addresses",
        mend="stop what listens on all addresses at that port (`ss -ltnp` names it), and make sure that "
        "all of 127.0.0.0/8 is local, as it is on Linux unless it was narrowed",
    )


def _files(claims: Path) -> Sequence[Path]:
    """Return the claims. Without the lock, the folder may be removed by its last user at any time."""
    try:
        return sorted(path for path in claims.iterdir() if path.name.startswith("127."))
    except FileNotFoundError:
        return ()


def _claimant(path: Path) -> Path | None:
    """Return the folder of the cluster whose claim this is; None where it is given back meanwhile."""
    try:
        return Path(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def candidates(seed: str) -> Iterator[str]:
    """Yield subnets to try, in their order: neighbours from a place that follows from the seed."""
    # Not by `hash`, which differs from process to process
    start = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big")
    for step in range(_TRIES):
        high, low = divmod((start + step) % ((_LAST - _FIRST) * 256), 256)
        yield f"127.{_FIRST + high}.{low}"


def _obstacle(addresses: Sequence[str], ports: Sequence[int]) -> str | None:
    """Tell what keeps a cluster from these addresses: a port in use, or an address that can't be bound at all."""
    for address in addresses:
        for port in ports or (_ANY_PORT,):
            if (reason := _bind(address, port)) is not None:
                return reason
    return None


def _bind(address: str, port: int) -> str | None:
    with socket.socket() as probe:
        # As servers do: connections that linger from a cluster of before are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return f"{address}:{port} can't be bound: {error.strerror}"
            return f"{address}:{port} is in use{_by(address, port)}"
        return None


def _by(address: str, port: int) -> str:
    """Return the process that listens there, as far as this user may know it."""
    for connection in psutil.net_connections("tcp"):
        local = connection.laddr
        if local and local.port == port and local.ip in (address, "0.0.0.0", "::") and connection.pid:  # noqa: S104
            try:
                name = psutil.Process(connection.pid).name()
            except psutil.Error:  # it has ended since it was seen
                name = "an unknown program"
            return f" by {name} (process {connection.pid}, on {local.ip})"
    return ""
