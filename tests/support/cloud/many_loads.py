"""Many cells' loads on AWS's API and one real sshd: for triggers that follow them.

Each cell has four hosts: addresses of the sshd on this machine, with a folder each and a detached job that the
product's own code has started. The jobs sleep; what a load says of itself stands in its progress file from the start.
"""

import json
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import psutil
from tests.cloud.process import cloud_process
from tests.support.processes import end_marked
from tests.support.ssh.sshd import CONNECTION, OneKey, Sshd, make_key, running_sshd

from plimsoll.adapters.aws import new_session
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.generators.plimsoll_stress.command import PROGRESS
from plimsoll.adapters.products.cassandra.node_files import JOB
from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.readiness import SharedHost
from plimsoll.adapters.providers.ssh import Connections, SshHost, Target
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.bootstrap import full_toolkit, load_definition
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId, HostInfo
from plimsoll.ports.host import Job
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.ports.secrets import AwsAccess
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.hosts.places import StoredPlaces
from plimsoll.services.retries import Outage
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings
from plimsoll_airflow.triggers.load import LoadTrigger

_CAMPAIGN = "many"
_MARK = "PLIMSOLL_TEST"
_AN_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Account(OneKey):
    """Keys for the sshd and for the test cloud."""

    endpoint: str = ""

    def aws(self, connection_id: str) -> AwsAccess:
        """Return the test cloud's."""

        def client(service: str, region: str | None) -> Any:
            session: Any = new_session(aws_access_key_id="tests", aws_secret_access_key="tests", region_name=region)
            return session.client(service, endpoint_url=self.endpoint)

        return AwsAccess(client)


@dataclass
class Site:
    """The sshd behind the cloud's hosts, and the product's own toolkit wired to both.

    `connections` are those of whoever follows the loads.
    """

    folder: Path
    sshd: Sshd
    account: Account
    connections: Connections
    definition: Definition
    works: list[AttemptContext] = field(default_factory=list)

    def toolkit(self) -> Toolkit:
        """Return the toolkit as `bootstrap` wires it, with other addresses of hosts."""
        settings = Settings(store=str(self.folder / "store"), work=self.folder / "work")
        store, wired = ObjectStore(settings.store), full_toolkit(settings)
        clock, outage = SystemClock(), Outage(wired.clock)
        provider = Ec2Provider(
            secrets=self.account,
            clock=clock,
            connect=self._host,
            store=settings.store,
            log=print,
            launches=StoredLaunches(store, outage),
        )
        return Toolkit(
            store=store,
            clock=wired.clock,
            providers={provider.name: provider},
            products=wired.products,
            load_generators=wired.load_generators,
            sampler=wired.sampler,
            places=StoredPlaces(store, outage),
        )

    def start(self, cells: int) -> None:
        """Start that many cells, whose database and load then run."""
        toolkit = self.toolkit()
        CampaignStore(toolkit.store, _CAMPAIGN).open(self.definition)
        with ThreadPoolExecutor(8) as pool:
            self.works = list(pool.map(lambda cell: _started(toolkit, cell.id), grid(resolve(self.definition))[:cells]))
        self.renew()

    def renew(self) -> None:
        """Close all connections, so that triggers open new ones from now on."""
        self.connections.close()

    def connected(self) -> set[str]:
        """Return the addresses that this process is connected to."""
        every = psutil.Process().net_connections("tcp")
        open_ = (one.raddr for one in every if one.raddr and one.status == psutil.CONN_ESTABLISHED)
        return {address.ip for address in open_ if address.port == self.sshd.port}

    @contextmanager
    def silent(self, work: AttemptContext) -> Iterator[None]:
        """Keep that cell's load host from answering inside the block, and the sshd from answering new connections."""
        cluster = work.cluster()
        silenced = [*self._sessions_of(_here(cluster.load_host.address)), self.sshd.process]
        assert len(silenced) > 1, "nobody is connected to it"
        for process in silenced:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in silenced:
                process.send_signal(signal.SIGCONT)

    def _sessions_of(self, address: str) -> list[Any]:
        every = self.sshd.sessions()
        return [one for one in every if any(to.laddr.ip == address for to in one.net_connections("tcp"))]

    def _host(self, key: ClusterId, info: HostInfo, target: Target) -> SharedHost:
        """Return a host at a loopback address of its own, on which the sshd listens. User data has prepared it."""
        root = self.folder / "hosts" / info.facts["instance_id"]
        root.mkdir(parents=True, exist_ok=True)
        (root / "prepared").write_text("ok\n")
        reached = Target(_here(target.address), self.sshd.host_key, CONNECTION, self.sshd.port)
        return SshHost(
            info,
            PurePosixPath(root),
            self.connections.to(reached),
            tags={_MARK: str(self.folder)},
            bundles=PurePosixPath(self.folder / "bundles"),
        )


def _here(address: str) -> str:
    """Return the loopback address that is used in place of that address."""
    *_, third, fourth = address.split(".")
    return f"127.77.{third}.{fourth}"


@contextmanager
def running_site(folder: Path) -> Iterator[Site]:
    """Provide a site on which no cell runs yet. All processes end with the block, and no trigger may run after it."""
    key = make_key(folder / "keys", "user")
    with (
        cloud_process("--mode", "instant") as cloud,
        running_sshd(folder / "sshd", [key.public], address="0.0.0.0") as sshd,
    ):
        account = Account(key.private, endpoint=cloud.about["endpoint"])
        connections = Connections(account)
        try:
            yield Site(folder, sshd, account, connections, _definition(cloud.about["landscape"]))
        finally:
            connections.close()
            end_marked(_MARK, str(folder))


def _definition(landscape: dict[str, Any]) -> Definition:
    """Return one repeat of the published campaign: 55 cells."""
    published = load_definition(Settings(), "azul-2022")
    options = {**published.provider.options, "security_group": landscape["security_group"]}
    provider = published.provider.model_copy(update={"options": options})
    return published.model_copy(update={"repeats": 1, "provider": provider, "budget": None})


def _started(toolkit: Toolkit, cell_id: str) -> AttemptContext:
    work = begin(toolkit, _CAMPAIGN, cell_id, "tests")
    cluster = actions.provision(work)
    for info in cluster.nodes:
        work.provider.host(cluster, info).start(Job(JOB, ["sleep", "3600"], _AN_HOUR))
    load = work.provider.host(cluster, cluster.load_host)
    load.write(
        PurePosixPath("load", "plan.json"), json.dumps({"job_id": loading.load_job(work.key), "duration_s": 9000})
    )
    line = {"phase": "measure", "elapsed_s": 60, "planned_s": 9000, "achieved_ops_s": 2e4, "errors": {}}
    load.write(PurePosixPath("load", PROGRESS), json.dumps(line) + "\n")
    load.start(Job(loading.load_job(work.key), ["sleep", "3600"], _AN_HOUR))
    return work


class Looks:
    """The times at which polls of loads were answered, on the monotonic clock."""

    def __init__(self) -> None:
        self.at: defaultdict[str, list[float]] = defaultdict(list)
        self._poll = loading.poll_load

    def __call__(self, work: AttemptContext) -> LoadStatus:
        """Poll the load in place of the function that the step `load` declares, and note the time."""
        status = self._poll(work)
        self.at[str(work.key)].append(time.monotonic())
        return status

    def of(self, work: AttemptContext) -> list[float]:
        """Return the times of one load's polls."""
        return self.at[str(work.key)]


def trigger_of(toolkit: Toolkit, work: AttemptContext) -> LoadTrigger:
    """Make Plimsoll's own trigger of the load, as a triggerer makes it, with that toolkit."""
    trigger = LoadTrigger(str(work.key), "run", "load", toolkit.clock.now().isoformat())
    trigger.work = AttemptContext(toolkit, work.key)
    return trigger
