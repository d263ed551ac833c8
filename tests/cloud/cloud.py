"""A running test cloud: moto behind the front door, hosts behind its instances."""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import MotoRequestHandler
from tests.cloud import ec2, landscape, lookups, namespaces, slots
from tests.cloud.admin import Admin
from tests.cloud.census import Census
from tests.cloud.clock import ManualClock, RealClock
from tests.cloud.faults import Fault, Faults
from tests.cloud.front import Front
from tests.cloud.hosts import Host, HostLog, HostMode, Hosts, InstantHosts
from tests.cloud.lag import Lag
from tests.cloud.landscape import Landscape
from tests.cloud.lifecycle import Delays, Life, Lifecycle
from tests.cloud.placement_groups import PlacementGroups
from werkzeug.serving import make_server

_TICK_S = 0.1
REGION = "us-east-1"


class Cloud:
    """The cloud as a test sees it, beside AWS's own API at `endpoint`."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        groups: PlacementGroups,
        clock: RealClock | ManualClock,
        hosts: Hosts,
        lag: Lag,
    ) -> None:
        self.lifecycle, self.faults, self.census = lifecycle, lifecycle.faults, lifecycle.census
        self.mode = hosts.mode
        self.lag = lag
        self.endpoint = ""
        self.landscape: Landscape
        self._groups, self._clock = groups, clock

    def fault(self, fault: Fault) -> int:
        """Put a fault in force; returns the number to clear it by."""
        return self.faults.add(fault)

    def clear(self, number: int | None = None) -> None:
        """Lift one fault or all."""
        self.faults.clear(number)

    def skip(self, seconds: float) -> None:
        """Move the time on, with the states and the timers of hosts."""
        self._clock.skip(seconds)
        for life in self._lives():
            if life.host is not None and life.state == "running":
                life.host.skip(seconds)
        self.lifecycle.tick()

    def host(self, instance_id: str) -> Host:
        """Return the host of an instance. LookupError where it has none (yet)."""
        life = self.lifecycle.lives[instance_id]
        if life.host is None:
            raise LookupError(f"{instance_id} is {life.state}, its host was not started: {life.error or 'no reason'}")
        return life.host

    def log(self, instance_id: str) -> HostLog:
        """Return the host's reports."""
        return self.host(instance_id).log

    def kill(self, instance_id: str) -> None:
        """Let the instance be gone at once, as when its hardware fails."""
        with self.lifecycle.lock:
            life = self.lifecycle.lives[instance_id]
            self.lifecycle.terminate(life.instance, "Server.InternalError")
            life.due = self.lifecycle.clock.now()
            self.lifecycle.tick()

    def summary(self) -> dict[str, Any]:
        """Return counts of everything that ever lived."""
        with self.lifecycle.lock:
            return self.census.summary(self.lifecycle.clock.now())

    def leftovers(self) -> dict[str, list[str]]:
        """Return what costs money or clutters and still exists, in all regions, except for what the account had
        before.
        """
        with self.lifecycle.lock:
            backends = list(ec2_backends[DEFAULT_ACCOUNT_ID].values())
            known = {self.landscape.security_group}
            return {
                "instances": [one.id for each in backends for one in each.all_instances() if one.state != "terminated"],
                "volumes": [one for each in backends for one in each.volumes],
                "interfaces": [one for each in backends for one in each.enis],
                "key_pairs": [one for each in backends for one in each.key_pairs],
                "placement_groups": [group.name for group in self._groups.all()],
                "security_groups": sorted({group.id for each in backends for group in _groups(each)} - known),
            }

    def nothing_left(self) -> bool:
        """Tell whether there are no leftovers."""
        return not any(self.leftovers().values())

    def _lives(self) -> list[Life]:
        with self.lifecycle.lock:
            return list(self.lifecycle.lives.values())


def _groups(backend: Any) -> Iterator[Any]:
    for groups in backend.groups.values():
        yield from (group for group in groups.values() if group.name != "default")


@contextmanager
def running_cloud(
    mode: HostMode = "namespaces",
    *,
    delays: Delays | None = None,
    manual: bool = False,
    lag: Lag | None = None,
) -> Iterator[Cloud]:
    """Provide a test cloud until the end of the block; one at a time in a process, for moto's memory is the process's.

    `manual`: its time stops but for `skip`. `lag`: how far EC2's answers are behind what was done.
    """
    clock = ManualClock() if manual else RealClock()
    lifecycle, behind = Lifecycle(clock, delays or Delays(), Faults(), Census()), lag or Lag()
    groups = PlacementGroups(lifecycle, behind)
    with ExitStack() as end:
        hosts = end.enter_context(_hosts(mode, lifecycle))
        lifecycle.hosts = hosts
        end.enter_context(lookups.kept())
        moto_api_backend.reset()
        end.callback(moto_api_backend.reset)
        end.enter_context(ec2.changed(lifecycle, groups, behind))
        cloud = Cloud(lifecycle, groups, clock, hosts, behind)
        cloud.landscape = landscape.build(REGION, hosts.network, hosts.gateway)
        front = Front(lookups.Services(), Admin(cloud), lifecycle, behind)
        cloud.endpoint = end.enter_context(_served(front, hosts.gateway))
        end.callback(_end_instances, lifecycle)
        if not manual:
            end.enter_context(_ticking(lifecycle))
        yield cloud


@contextmanager
def _hosts(mode: HostMode, lifecycle: Lifecycle) -> Iterator[Hosts]:
    if mode == "instant":
        yield InstantHosts()
        return
    with slots.held() as slot:
        hosts = namespaces.NamespaceHosts(slot, lifecycle.report)
        try:
            yield hosts
        finally:
            hosts.close()


@contextmanager
def _served(app: Front, address: str) -> Iterator[str]:
    server = make_server(address, 0, app, threaded=True, request_handler=_Handler)
    server.daemon_threads = True  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{address}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(MotoRequestHandler):
    """Prints no line for each request, and closes connections that the application drops."""

    def connection_dropped(self, error: BaseException, environ: dict[str, Any] | None = None) -> None:
        """Ignore an answer that is lost on purpose, or a caller that is gone."""
        self.close_connection = True

    def log_request(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def _ticking(lifecycle: Lifecycle) -> Iterator[None]:
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(_TICK_S):
            lifecycle.tick()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _end_instances(lifecycle: Lifecycle) -> None:
    for life in lifecycle.lives.values():
        if life.host is not None:
            life.host.stop()


def aws_environment(endpoint: str) -> dict[str, str]:
    """Return variables that make any AWS client of another process use the cloud."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": ",".join(filter(None, (os.environ.get("NO_PROXY"), urlsplit(endpoint).hostname))),
    }
