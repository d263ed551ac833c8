"""A campaign of one cell on the test cloud, and the means to strike it in the middle of a phase."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.cloud.cloud import Cloud
from tests.fakes.installation import instant_definition
from tests.fakes.instant import INSTANT, Faults, InstantLoadGenerator, InstantProduct, NoSampler
from tests.support.campaigns.ec2_definition import ec2_options
from tests.support.campaigns.one_cell import run_cell
from tests.support.cloud.account import Account

from plimsoll.adapters.providers.ec2 import Connect, Ec2Provider
from plimsoll.adapters.providers.ec2.tags import ROLE, STORE
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.adapters.stores.s3_store import S3Store
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.hosts.places import StoredPlaces
from plimsoll.services.hosts.reaping import Reaped, reap
from plimsoll.services.retries import Outage
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

CAMPAIGN, CELL = "azul", "v1-001k-r1"
Action = Callable[[], object]


@dataclass
class Moments:
    """What to do, once each, `within` the middle of a phase or `when` words are told.

    `starts` are the hosts that loads were started on; `said` is what provider and run tell; `silent` are the instances
    that answer nobody.
    """

    within: dict[str, Action] = field(default_factory=dict)
    when: dict[str, Action] = field(default_factory=dict)
    starts: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)

    def reached(self, phase: str) -> None:
        """Do what is to be done in the middle of that phase."""
        self.within.pop(phase, lambda: None)()

    def hear(self, text: str) -> None:
        """Note what is told, and do what is to be done when somebody says so."""
        self.said.append(text)
        for words in [words for words in self.when if words in text]:
            self.when.pop(words)()


class StruckProduct(InstantProduct):
    """In the middle of its deployment something happens."""

    def __init__(self, faults: Faults, moments: Moments) -> None:
        super().__init__(faults)
        self.moments = moments

    def deploy(self, *args: Any) -> None:
        super().deploy(*args)
        self.moments.reached("deploy")


class StruckLoadGenerator(InstantLoadGenerator):
    """A load is seen running for some `looks`. At the first something happens, and when its files are asked for."""

    def __init__(self, faults: Faults, moments: Moments, looks: int = 1) -> None:
        super().__init__(faults)
        self.moments, self._looks, self._left = moments, looks, 0

    def start(self, host: Host, request: LoadRequest) -> None:
        if not self.has_started(host):
            self.moments.starts.append(host.info.facts["instance_id"])
            self._left = self._looks
        super().start(host, request)

    def status(self, host: Host, job_id: str) -> LoadStatus:
        if not self._left:
            return super().status(host, job_id)
        if self._left == self._looks:
            self.moments.reached("load")
        self._left -= 1
        return LoadStatus("running", "load", achieved_ops_s=1.0, seconds_left=1.0)

    def files(self, host: Host) -> Any:
        self.moments.reached("collect")
        return super().files(host)


@dataclass(frozen=True)
class StruckProvider(Ec2Provider):
    """Before hosts are terminated something happens."""

    moments: Moments

    def destroy(self, key: ClusterId) -> None:
        self.moments.reached("destroy")
        super().destroy(key)


@dataclass
class Place:
    """A test cloud with a campaign of one cell, and everything to run it."""

    cloud: Cloud
    toolkit: Toolkit
    moments: Moments

    @property
    def campaign(self) -> CampaignStore:
        """Return the campaign in the store."""
        return CampaignStore(self.toolkit.store, CAMPAIGN)

    def run(self) -> Verdict:
        """Run one attempt at the cell."""
        return run_cell(self.toolkit, CAMPAIGN, CELL, "owner", self.moments.hear)

    def instance(self, role: str) -> str:
        """Return a living instance of that role, of this campaign's."""
        store: Any = self.toolkit.store
        wanted = {ROLE: role, STORE: store.root}
        with self.cloud.lifecycle.lock:
            alive = self.cloud.census.alive()
        return next(one.instance_id for one in alive if wanted.items() <= one.tags.items())

    def launched(self) -> int:
        """Tell how many instances there ever were."""
        return int(self.cloud.summary()["launched"])

    def reap(self) -> Reaped:
        """Run one pass of the reaper; no run owns anything any more."""
        return reap(self.toolkit, lambda _: False)

    def assert_counts_once(self, *, attempts: int = 1) -> None:
        """Check that the last attempt alone is valid, that each host started a load once, and that nothing is left."""
        assert len(self.campaign.attempts(CELL)) == attempts
        assert [verdict.key.attempt for verdict in self.campaign.verdicts() if verdict.valid] == [attempts]
        assert len(set(self.moments.starts)) == len(self.moments.starts)
        assert self.cloud.nothing_left(), self.cloud.leftovers()


def place_on(
    cloud: Cloud,
    account: Account,
    clock: Clock,
    connect: Connect,
    *,
    product: StruckProduct,
    load: StruckLoadGenerator,
    nodes: int = 3,
    duration: str = "20s",
    store: ObjectStore | S3Store | None = None,
) -> Place:
    """Return a campaign in that store, or in one of its own in the cloud's bucket.

    Everything is the product's but database and load.
    """
    store = store or S3Store(f"s3://{cloud.landscape.bucket}/{uuid.uuid4().hex}", lambda: account.client("s3"))
    moments = load.moments
    outage = Outage(clock)
    records = StoredLaunches(store, outage)
    provider = StruckProvider(account, clock, connect, store.root, moments.hear, records, moments)
    toolkit = Toolkit(
        store=store,
        clock=clock,
        providers={provider.name: provider},
        products={INSTANT: product},
        load_generators={INSTANT: load},
        sampler=NoSampler(),
        places=StoredPlaces(store, outage),
        write_kept_records=records.write_kept,
    )
    made = Place(cloud, toolkit, moments)
    made.campaign.open(definition_on(cloud, nodes, duration))
    return made


def definition_on(cloud: Cloud, nodes: int, duration: str = "20s") -> Definition:
    """Define one cell on hosts of that cloud, every zone allowed. Longer loads are looked at more rarely."""
    options = ec2_options(cloud.landscape, startup="1m")
    cell = instant_definition("azul", variants=1, loads=1).model_dump(mode="json")
    smaller = {"system": {**cell["system"], "nodes": nodes}, "workload": {"replication_factor": nodes}}
    timing = {**cell["timing"], "duration": duration}
    changed = {**smaller, "timing": timing, "provider": {"name": "ec2", "options": options}}
    return Definition.model_validate({**cell, **changed})
