"""Cells on real hosts of the test cloud, over real SSH: processes that sleep stand for a database and a load."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.cloud.cloud import Cloud
from tests.fakes.instant import Faults
from tests.integration.reliability.struck import Moments, Place, StruckLoadGenerator, StruckProduct, place_on
from tests.support.cloud.account import Account
from tests.support.ssh.command import keygen

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.ec2 import Connect
from plimsoll.adapters.providers.ec2.launch_plan import ROOT
from plimsoll.adapters.providers.ec2.readiness import SharedHost
from plimsoll.adapters.providers.ssh import Connections, SshHost, Target
from plimsoll.domain.hosts.cluster import ClusterId, HostInfo
from plimsoll.ports.host import Host, Job
from plimsoll.ports.load_generator import LoadRequest, LoadStatus

SLEEP = ("sleep", "3600")


class SleepingProduct(StruckProduct):
    """A process on every node, beside so much data on its disk."""

    data_mib = 1

    def deploy(self, spec: Any, nodes: Any, load: Host, expires: timedelta) -> None:
        for node in nodes:
            fill = ["dd", "if=/dev/zero", "of=data", "bs=1M", f"count={self.data_mib}"]
            node.run(fill, timeout=timedelta(seconds=60), check=False)
            node.start(Job("database", SLEEP, expires))
        super().deploy(spec, nodes, load, expires)

    def down(self, nodes: Any) -> list[str]:
        return [f"{node.info.name} is down" for node in nodes if node.status("database").state != "running"]


class SleepingLoad(StruckLoadGenerator):
    """A process on the load host; the load is over when the test says so."""

    over = False

    def start(self, host: Host, request: LoadRequest) -> None:
        super().start(host, request)
        host.start(Job("load", SLEEP, request.expires))

    def status(self, host: Host, job_id: str) -> LoadStatus:
        if host.status("load").state != "running":
            return LoadStatus("failed", reason="the load was killed")
        status = super().status(host, job_id)
        return status if self.over else LoadStatus("running", "load", achieved_ops_s=1.0, seconds_left=1.0)

    def stop(self, host: Host, job_id: str) -> None:
        host.stop("load", grace=timedelta(seconds=1))


class SkippingClock(SystemClock):
    """The time, and as much more as a test does not want to wait. Notes when somebody pauses.

    What a pause has beyond `longest_pause_s` is skipped.
    """

    def __init__(self, moments: Moments) -> None:
        self.longest_pause_s = float("inf")
        self._ahead, self._moments = timedelta(), moments

    def now(self) -> datetime:
        return super().now() + self._ahead

    def sleep(self, seconds: float) -> None:
        self._moments.reached("pause")
        waited = min(seconds, self.longest_pause_s)
        super().sleep(waited)
        self.skip(timedelta(seconds=seconds - waited))

    def skip(self, span: timedelta) -> None:
        """Move the time on."""
        self._ahead += span


class WatchedHost(SshHost):
    """Notes when somebody first asks whether it is ready, which is in the middle of `provision`."""

    def __init__(self, info: HostInfo, root: PurePosixPath, connection: Any, moments: Moments) -> None:
        super().__init__(info, root, connection)
        self._moments = moments

    def read_tail(self, path: PurePosixPath, *, max_bytes: int) -> str:
        self._moments.reached(f"provision, a {self.info.role}")
        return super().read_tail(path, max_bytes=max_bytes)


def quick_silence(monkeypatch: pytest.MonkeyPatch, seconds: float = 10.0) -> None:
    """Let silence count after so many seconds, at once: a minute is for other machines."""
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.login.CONNECT_S", 3.0)
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.login.HANDSHAKE_S", seconds)
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.connection.OPEN_S", seconds)
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.connection.TRYING_S", 0.8 * seconds)


@dataclass
class RealPlace(Place):
    """One node and the load's host. Its parts are there for tests to turn."""

    clock: SkippingClock
    product: SleepingProduct
    load: SleepingLoad

    def strike(self, role: str, verb: str) -> Callable[[], None]:
        """Freeze, thaw, cut or heal the host of that role, once it is called."""

        def do() -> None:
            getattr(self.cloud.host(self.instance(role)), verb)()

        return do


@contextmanager
def real_place(cloud: Cloud, folder: Path) -> Iterator[RealPlace]:
    """Provide a campaign in a store, an account and connections of its own."""
    folder.mkdir(exist_ok=True)
    moments = Moments()
    clock, account = SkippingClock(moments), Account(cloud.endpoint, keygen(folder / "id"))
    faults, connections = Faults(folder / "faults"), Connections(account)
    product, load = SleepingProduct(faults, moments), SleepingLoad(faults, moments)
    connect = _watched(connections, moments)
    made = place_on(cloud, account, clock, connect, product=product, load=load, nodes=1)
    yield RealPlace(cloud, made.toolkit, moments, clock, product, load)
    connections.close()


def _watched(connections: Connections, moments: Moments) -> Connect:
    def connect(key: ClusterId, info: HostInfo, target: Target) -> SharedHost:
        return WatchedHost(info, PurePosixPath(ROOT), connections.to(target), moments)

    return connect
