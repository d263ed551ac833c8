"""Many loads followed by one event loop, as a triggerer does it, on AWS's API and real sshds: is the loop ever held up?

    .venv/bin/python -m benchmarks.load_triggers [--cells N] [--seconds N]

Each cell has four hosts: addresses of one real sshd on this machine, with a folder each and a detached job that the
product's own code has started. The triggers are Plimsoll's own, at the pace of the published campaign (a look every
10 s). Told are the loop's lateness (a timer of 20 ms), CPU of this process alone, its connections and threads, and the
longest time between two looks at a cell; then all that with every third connection frozen.
"""

import argparse
import asyncio
import json
import os
import signal
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import boto3
import psutil
from tests.cloud.process import CloudProcess, cloud_process
from tests.processes import end_marked
from tests.sshd import CONNECTION, KeyPair, OneKey, Sshd, make_key, running_sshd

from plimsoll.adapters.cassandra.layout import JOB
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.ec2 import Ec2Provider
from plimsoll.adapters.object_store import ObjectStore
from plimsoll.adapters.plimsoll_stress.command import PROGRESS
from plimsoll.adapters.ssh import Connections, SshHost, Target
from plimsoll.bootstrap import load_definition, local_toolkit
from plimsoll.domain.cell import grid
from plimsoll.domain.cluster import HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.ports.host import Host, Job
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.ports.secrets import AwsAccess
from plimsoll.services import phases
from plimsoll.services.attempts import Work, begin
from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.provider_options import StoredOptions
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings
from plimsoll_airflow.triggers import load

_CAMPAIGN = "many"
_MARK = "PLIMSOLL_BENCHMARK"
_TICK_S = 0.02
_AN_HOUR = timedelta(hours=1)


def main() -> None:
    """Print the figures of both rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=55, help="55 at most")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each round")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-triggers-") as folder, _site(Path(folder)) as site:
        works = site.started(arguments.cells)
        print(_told(f"{arguments.cells} cells", asyncio.run(_followed(site, works, arguments.seconds))))
        with site.every_third_frozen():
            print(_told("every third frozen", asyncio.run(_followed(site, works, arguments.seconds))))


@dataclass(frozen=True)
class Account(OneKey):
    """Keys for the sshd and for the test cloud."""

    endpoint: str = ""

    def aws(self, connection_id: str) -> AwsAccess:  # noqa: ARG002 - there is one account
        """The test cloud's."""

        def client(service: str, region: str | None) -> Any:
            session = boto3.session.Session("benchmark", "benchmark", region_name=region or "us-east-1")
            return session.client(service, endpoint_url=self.endpoint)  # type: ignore[call-overload]

        return AwsAccess(client)


@dataclass
class Site:
    """The cloud, the sshd behind its hosts, and the product's own toolkit wired to both."""

    folder: Path
    cloud: CloudProcess
    sshd: Sshd
    account: Account
    connections: Connections
    definition: Definition
    looks: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def toolkit(self) -> Toolkit:
        """As `bootstrap` wires it, but for where hosts are."""
        settings = Settings(store=str(self.folder / "store"), work=self.folder / "work")
        store = ObjectStore(settings.store)
        provider = Ec2Provider(
            secrets=self.account,
            options=StoredOptions(store),
            clock=SystemClock(),
            connect=self.host,
            store=settings.store,
            say=print,
        )
        wired = local_toolkit(settings)
        return Toolkit(
            store=store,
            clock=wired.clock,
            providers={provider.name: provider},
            databases=wired.databases,
            load_generators=wired.load_generators,
            sampler=wired.sampler,
        )

    def host(self, info: HostInfo, target: Target) -> Host:
        """At a loopback address of its own, all of which this sshd listens on."""
        root = self.folder / "hosts" / info.facts["instance_id"]
        root.mkdir(parents=True, exist_ok=True)
        (root / "prepared").write_text("ok\n")
        *_, third, fourth = target.address.split(".")
        reached = Target(f"127.77.{third}.{fourth}", self.sshd.host_key, CONNECTION, self.sshd.port)
        bundles = PurePosixPath(self.folder / "bundles")
        marks = {_MARK: str(self.folder)}
        return SshHost(info, PurePosixPath(root), self.connections.to(reached), marks=marks, bundles=bundles)

    def started(self, cells: int) -> list[Work]:
        """So many cells whose database and load run, each a job that sleeps."""
        toolkit = self.toolkit()
        CampaignStore(toolkit.store, _CAMPAIGN).open(self.definition)
        with ThreadPoolExecutor(8) as pool:
            works = list(pool.map(lambda cell: self._start(toolkit, cell.id), grid(self.definition)[:cells]))
        self.connections.close()
        return works

    @contextmanager
    def every_third_frozen(self) -> Iterator[None]:
        """Those connections stay open and say nothing."""
        frozen = self.sshd.sessions()[::3]
        _signal(frozen, signal.SIGSTOP)
        try:
            yield
        finally:
            _signal(frozen, signal.SIGCONT)

    def _start(self, toolkit: Toolkit, cell_id: str) -> Work:
        work = begin(toolkit, _CAMPAIGN, cell_id, "benchmark")
        cluster = phases.provision(work)
        for info in cluster.nodes:
            work.provider.host(cluster, info).start(Job(JOB, ["sleep", "3600"], _AN_HOUR))
        load = work.provider.host(cluster, cluster.load_host)
        load.write(PurePosixPath("load", "plan.json"), json.dumps({"job_id": phases.LOAD_JOB, "duration_s": 9000}))
        line = {"phase": "measure", "elapsed_s": 60, "planned_s": 9000, "achieved_ops_s": 2e4, "errors": {}}
        load.write(PurePosixPath("load", PROGRESS), json.dumps(line) + "\n")
        load.start(Job(phases.LOAD_JOB, ["sleep", "3600"], _AN_HOUR))
        return work


@contextmanager
def _site(folder: Path) -> Iterator[Site]:
    key: KeyPair = make_key(folder / "keys", "user")
    with (
        cloud_process("--mode", "instant") as cloud,
        running_sshd(folder / "sshd", [key.public], address="0.0.0.0") as sshd,
    ):
        account = Account(key.private, endpoint=cloud.about["endpoint"])
        published = load_definition(Settings(), "azul-2022")
        options = {**published.provider.options, "security_group": cloud.about["landscape"]["security_group"]}
        provider = published.provider.model_copy(update={"options": options})
        definition = published.model_copy(update={"repeats": 1, "provider": provider, "budget": None})
        connections = Connections(account)
        try:
            yield Site(folder, cloud, sshd, account, connections, definition)
        finally:
            load._THREADS.shutdown()  # looks that are under way would open connections again
            connections.close()
            end_marked(_MARK, str(folder))


@dataclass(frozen=True)
class Figures:
    """Of one round. Times in s."""

    late: list[float]
    cpu_share: float
    connections: int
    threads: int
    longest_pauses: list[float]


async def _followed(site: Site, works: list[Work], seconds: float) -> Figures:
    """All loads at once for that long."""
    looks = site.looks
    looks.clear()
    _count_looks(looks)
    process, toolkit = psutil.Process(), site.toolkit()
    tasks = [asyncio.ensure_future(_follow(Work(toolkit, work.key))) for work in works]
    # Connecting is not what a campaign does all the time.
    await asyncio.sleep(20)
    before, began, late = process.cpu_times(), time.monotonic(), []
    while (now := time.monotonic()) < began + seconds:
        await asyncio.sleep(_TICK_S)
        late.append(time.monotonic() - now - _TICK_S)
    after, ended = process.cpu_times(), time.monotonic()
    connected = [one for one in process.net_connections("tcp") if one.raddr and one.raddr.port == site.sshd.port]
    threads = process.num_threads()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    used = after.user + after.system - before.user - before.system
    pauses = [_longest_pause([at for at in looks[str(work.key)] if at >= began], began, ended) for work in works]
    return Figures(late, used / (ended - began), len(connected), threads, pauses)


async def _follow(work: Work) -> None:
    trigger = load.LoadTrigger(str(work.key), "run")
    trigger.__dict__["work"] = work
    async for event in trigger.run():
        print(f"{work.key} ended: {event}")


def _count_looks(looks: defaultdict[str, list[float]]) -> None:
    """Note when each look that was answered ended."""
    poll = getattr(phases.poll_load, "__wrapped__", phases.poll_load)

    def counted(work: Work) -> LoadStatus:
        status = poll(work)
        looks[str(work.key)].append(time.monotonic())
        return status

    counted.__wrapped__ = poll  # type: ignore[attr-defined]
    phases.poll_load = counted


def _longest_pause(times: list[float], began: float, ended: float) -> float:
    marks = [began, *sorted(times), ended]
    return max(later - earlier for earlier, later in pairwise(marks))


def _signal(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            os.kill(process.pid, number)


def _told(what: str, figures: Figures) -> str:
    late = sorted(figures.late)
    pauses = sorted(figures.longest_pauses)
    return (
        f"{what}: loop late by {1000 * late[len(late) // 2]:.1f} ms (median), "
        f"{1000 * late[int(0.99 * len(late))]:.1f} ms (p99), {1000 * late[-1]:.1f} ms (most); "
        f"CPU {100 * figures.cpu_share:.1f} % of a core; {figures.connections} SSH connections, "
        f"{figures.threads} threads; longest pause between two looks at a cell: {pauses[len(pauses) // 2]:.1f} s "
        f"(median cell), {pauses[-1]:.1f} s (worst)"
    )


if __name__ == "__main__":
    main()
