"""A group of existing hosts for the provider `ssh`. All of them are this machine, behind a real sshd."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.processes import end_marked
from tests.support.ssh.sshd import CONNECTION, KeyPair, Sshd, make_key, running_sshd
from tests.support.ssh.subnets import claimed_subnet

from plimsoll.adapters.providers.local.subnets import load_addresses, node_addresses

_GLANCE_S = 0.05


@dataclass(frozen=True)
class StaticHosts:
    """Nodes and two load hosts in one group, with the key for their login.

    `folder` holds the clusters' files. Their database listens on addresses in `subnet`.
    """

    server: Sshd
    key: KeyPair
    folder: Path
    subnet: str
    nodes: int

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of the provider for these hosts."""
        reached = {"host_key": self.server.host_key, "ssh_address": self.server.address, "port": self.server.port}
        first, second = load_addresses(self.subnet, 2)
        group = {
            "name": "here",
            "nodes": [{**reached, "address": address} for address in node_addresses(self.subnet, self.nodes)],
            "load": {**reached, "address": first},
            "further_load_hosts": [{**reached, "address": second}],
        }
        return {"connection": CONNECTION, "folder": str(self.folder), "disk_per_host": "1G", "groups": [group]}

    def holder(self) -> str:
        """Return the attempt that holds the group; empty where none does."""
        try:
            return str(json.loads((self.folder / "lease.json").read_text())["key"])
        except FileNotFoundError:
            return ""

    @contextmanager
    def holders(self) -> Iterator[set[str]]:
        """Provide the attempts that hold the group at any time inside the block."""
        seen, over = set[str](), threading.Event()

        def look() -> None:
            while not over.wait(_GLANCE_S):
                seen.add(self.holder())

        watch = threading.Thread(target=look)
        watch.start()
        try:
            yield seen
        finally:
            over.set()
            watch.join()


@contextmanager
def running_hosts(folder: Path, nodes: int = 1) -> Iterator[StaticHosts]:
    """Run hosts that can be reached inside the block. All processes of clusters have ended after it."""
    key, place = make_key(folder, "user"), folder / "hosts"
    with (
        claimed_subnet(folder / "addresses", nodes=nodes) as subnet,
        running_sshd(folder / "sshd", [key.public]) as server,
    ):
        try:
            yield StaticHosts(server, key, place, subnet, nodes)
        finally:
            end_marked("PLIMSOLL_WORK", str(place / "clusters"))
