"""An attempt on the test cloud whose hosts fetch and bring everything by themselves, also when one of them dies."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cloud.cloud import Cloud
from tests.fakes import instant
from tests.fakes.installation import instant_definition
from tests.support.campaigns.ec2_definition import ec2_options
from tests.support.cloud.account import Account
from tests.support.ssh.command import keygen
from tests.support.ssh.quick_canary import QUICK

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.hosts.canary import ScriptCanary
from plimsoll.adapters.providers.ec2 import Ec2Provider, over_ssh
from plimsoll.adapters.providers.ssh import Connections, Depot
from plimsoll.adapters.stores.s3_store import S3Store
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

CELL = "v1-001k-r1"


@pytest.fixture
def definition(cloud: Cloud) -> Definition:
    """Provide one cell of two nodes, everything but the hosts instant."""
    content = instant_definition(variants=1, loads=1).model_dump(mode="json")
    content["system"]["nodes"], content["workload"]["replication_factor"] = 2, 2
    content["provider"] = {"name": "ec2", "options": ec2_options(cloud.landscape)}
    return Definition.model_validate(content)


@pytest.fixture
def work(cloud: Cloud, definition: Definition, tmp_path: Path) -> Iterator[AttemptContext]:
    """Provide an attempt whose load is complete on hosts of the cloud."""
    account = Account(cloud.endpoint, keygen(tmp_path / "id"))
    connections = Connections(account)
    url = f"s3://{cloud.landscape.bucket}/{tmp_path.name}"
    store = S3Store(url, lambda: account.client("s3"))
    depot = Depot(store, layout.BUNDLES.folder, tmp_path / "locks")
    clock = SystemClock()
    records = StoredLaunches(store, Outage(clock))
    provider = Ec2Provider(account, clock, over_ssh(connections, depot), url, lambda _: None, records)
    faults = instant.Faults(tmp_path)
    toolkit = Toolkit(
        store=store,
        clock=SystemClock(),
        providers={"ec2": provider},
        products={"instant": instant.InstantProduct(faults)},
        load_generators={"instant": instant.InstantLoadGenerator(faults)},
        sampler=instant.NoSampler(),
    )
    campaign = CampaignStore(store, tmp_path.name.replace("_", "-"))
    campaign.open(definition)
    work = begin(toolkit, campaign.campaign_id, CELL, "test")
    try:
        for phase in (actions.provision, actions.deploy, loading.start_load):
            phase(work)
        yield work
    finally:
        actions.destroy(work)
        connections.close()
    assert cloud.nothing_left(), cloud.leftovers()


def refused(*_: object) -> None:
    raise AssertionError("went over SSH, through the controller")


def test_hosts_fetch_and_bring_everything_themselves_also_those_that_survive_another(
    work: AttemptContext, cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("providers.ssh.bundles.send", "providers.ssh.host.SshHost.fetch", "stores.s3_store.S3Store.upload"):
        monkeypatch.setattr(f"plimsoll.adapters.{place}", refused)
    cluster = work.cluster()
    (tmp_path / "jdk").mkdir()
    (tmp_path / "jdk" / "modules").write_bytes(b"x" * 100_000)
    for info in cluster.hosts:
        assert work.provider.host(cluster, info).install(tmp_path / "jdk").name.startswith("jdk-")
    reached = ScriptCanary(QUICK).examine([work.provider.host(cluster, info) for info in cluster.hosts])
    assert [(one.host, one.network_bytes_s > 0) for one in reached] == [(info.name, True) for info in cluster.hosts]
    cloud.kill(cluster.nodes[0].facts["instance_id"])
    manifest = collect(work)
    assert {Path(entry.path).parts[1] for entry in manifest.files} == {"load", "node2"}
    assert manifest.failure is not None
    assert "nothing was collected from node1" in manifest.failure
    verdict = judge(work)
    assert (verdict.valid, verdict.reasons) == (False, (manifest.failure,))
