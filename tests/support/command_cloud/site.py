"""An installation whose hosts are made by the programs beside this file: sshd processes on loopback addresses."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.processes import end_marked
from tests.support.ssh.sshd import CONNECTION, SSHD, OneKey, make_key
from tests.support.ssh.subnets import claimed_subnet
from tests.support.suite.requirements import leave_out

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.command import CommandProvider, FolderPrograms, Reach
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.ports.provider import Places
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.retries import Outage

PROGRAMS = Path(__file__).parent
NAMESPACES = "namespace-cloud"
"""The program whose hosts have networks of their own."""


class HastyClock(SystemClock):
    """Real time, but whoever waits for a cloud waits for a moment only, and finds that the time has passed."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self._skipped)

    def sleep(self, seconds: float) -> None:
        time.sleep(min(seconds, 0.05))
        self._skipped += max(0.0, seconds - 0.05)


@dataclass(frozen=True)
class CommandSite:
    """The provider, and the options by which definitions choose these programs."""

    provider: CommandProvider
    options: dict[str, Any]
    clock: HastyClock
    folder: Path

    def bound(self, **faults: str) -> CommandProvider:
        """Return the provider for programs with these faults."""
        return self.provider.at(Places((self.with_faults(**faults),)))

    def with_faults(self, **faults: str) -> dict[str, Any]:
        changed = {**self.options, "options": {**self.options["options"], "faults": faults}}
        return {**changed, **{name: ["faulty-cloud", name] for name in faults}}

    def request(self, cluster_id: ClusterId, **faults: str) -> ClusterRequest:
        expires = self.clock.now() + timedelta(hours=2)
        return ClusterRequest(
            id=cluster_id, owner="test", nodes=1, expires_at=expires, options=dict(self.with_faults(**faults))
        )


@contextmanager
def command_site(tmp: Path, program: str = "loopback-cloud") -> Iterator[CommandSite]:
    """Provide it, by that program. Whatever its hosts have started has ended after the block."""
    if not SSHD.exists():
        leave_out("needs a real sshd: install openssh-server")
    key, clock = make_key(tmp, "user"), HastyClock()
    secrets, folder = OneKey(key.private), tmp / "cloud"
    connections = Connections(secrets)
    with claimed_subnet(tmp / "addresses", nodes=5) as subnet:
        cloud = {"folder": str(folder), "subnet": subnet, "port": _free_port(f"{subnet}.1")}
        if program == NAMESPACES:  # where no loopback addresses are
            cloud["subnet"] = subnet.replace("127.", "10.", 1)
        commands = {name: [program, name] for name in ("launch", "list", "end")}
        options = {**commands, "options": cloud, "connection": CONNECTION, "folder": str(tmp / "work")}
        provider = CommandProvider(
            programs=FolderPrograms(PROGRAMS),
            ssh=SshProvider(connections, clock),
            reach=Reach(connections, clock),
            secrets=secrets,
            clock=clock,
            store="test:/store",
            log=print,
            launches=StoredLaunches(ObjectStore(str(tmp / "store")), Outage(clock)),
        )
        site = CommandSite(provider, options, clock, folder)
        try:
            yield site
        finally:
            for cluster in (honest := provider.at(Places((options,)))).clusters():
                honest.destroy(cluster.id)
            connections.close()
            end_marked("PLIMSOLL_WORK", str(tmp / "work" / "clusters"))


def _free_port(address: str) -> int:
    with socket.socket() as holder:
        holder.bind((address, 0))
        port: int = holder.getsockname()[1]
        return port
