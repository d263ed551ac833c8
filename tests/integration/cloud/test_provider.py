"""Plimsoll's own EC2 provider on the test cloud: real hosts over real SSH, and nothing of it left."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cloud.cloud import Cloud
from tests.cloud.faults import LoseAnswer, NoCapacity, NoDisks
from tests.support.campaigns.ec2_definition import ec2_options
from tests.support.cloud.account import Account
from tests.support.cloud.clients import eventually
from tests.support.ssh.command import keygen

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.ec2 import Ec2Provider, over_ssh
from plimsoll.adapters.providers.ssh import Connections
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.host import Job
from plimsoll.ports.provider import Places
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.retries import Outage

FIND_DISK = ["findmnt", "-n", "-o", "SOURCE", "--target", "/var/lib/plimsoll"]
_attempts = itertools.count(1)


@pytest.fixture
def options(cloud: Cloud) -> dict[str, object]:
    return ec2_options(cloud.landscape, startup="1m")


@pytest.fixture
def provider(cloud: Cloud, options: dict[str, object], tmp_path: Path) -> Iterator[Ec2Provider]:
    account = Account(cloud.endpoint, keygen(tmp_path / "id"))
    connections, clock = Connections(account), SystemClock()
    yield Ec2Provider(
        secrets=account,
        places=Places((options,)),
        clock=clock,
        connect=over_ssh(connections),
        store=f"s3://{cloud.landscape.bucket}",
        log=lambda _: None,
        launches=StoredLaunches(ObjectStore(str(tmp_path / "records")), Outage(clock)),
    )
    cloud.clear()
    connections.close()
    for instance in cloud.leftovers()["instances"]:
        cloud.kill(instance)


@pytest.fixture
def request_(options: dict[str, object]) -> ClusterRequest:
    """Provide two nodes and the load generator's host, for three hours.

    An attempt of its own, for tokens are used once.
    """
    key = ClusterId(campaign_id="azul", name=f"g1-040k-r1/{next(_attempts)}")
    until = datetime.now(UTC) + timedelta(hours=3)
    return ClusterRequest(id=key, owner="test", nodes=2, expires_at=until, options=options)


def test_a_cluster_comes_up_tuned_and_goes(provider: Ec2Provider, request_: ClusterRequest, cloud: Cloud) -> None:
    cluster = provider.ensure(request_)
    for info in cluster.hosts:
        shown = provider.host(cluster, info).run(FIND_DISK, timeout=timedelta(seconds=20))
        assert shown.stdout.strip() == ("/dev/nvme1n1" if info.role == "node" else "/dev/nvme0n1p1")
        log = cloud.log(info.facts["instance_id"])
        assert set(log.executed.values()) == {0}
        assert ["swapoff", "--all"] in log.calls
    provider.destroy(request_.id)
    assert cloud.nothing_left(), cloud.leftovers()


def test_a_host_that_shows_none_of_its_disks_is_not_prepared(
    provider: Ec2Provider, request_: ClusterRequest, cloud: Cloud
) -> None:
    cloud.fault(NoDisks(instance_type="r5d.2xlarge", times=1))
    with pytest.raises(ProviderError, match=r"has disks of its own \(instance store\): 1, and the host shows 0"):
        provider.ensure(request_)
    provider.destroy(request_.id)
    assert cloud.nothing_left(), cloud.leftovers()


def test_a_host_of_an_older_type_has_its_data_on_the_disk_that_its_launch_mapped(
    provider: Ec2Provider, request_: ClusterRequest, cloud: Cloud
) -> None:
    older = {**request_.options, "instance_types": {"node": "r3.2xlarge", "load": "c5.2xlarge"}}
    cluster = provider.ensure(request_.model_copy(update={"options": older, "nodes": 1}))
    facts = [provider.host(cluster, info).facts() for info in cluster.hosts]
    assert [one.data_disk_device for one in facts] == ["/dev/xvdb", "/dev/nvme0n1p1"]
    provider.destroy(request_.id)
    assert cloud.nothing_left(), cloud.leftovers()


def test_its_dead_mans_switch_ends_it(provider: Ec2Provider, request_: ClusterRequest, cloud: Cloud) -> None:
    provider.ensure(request_)
    assert len(cloud.leftovers()["instances"]) == 3
    cloud.skip(timedelta(hours=6).total_seconds())
    eventually(lambda: cloud.leftovers()["instances"] == [])
    assert {entry.why for entry in cloud.census.entries.values() if entry.tags}.issuperset(
        {"Client.InstanceInitiatedShutdown"}
    )
    provider.destroy(request_.id)
    assert cloud.nothing_left(), cloud.leftovers()


def test_a_lost_answer_and_a_full_zone_cost_no_second_host(
    provider: Ec2Provider, request_: ClusterRequest, cloud: Cloud
) -> None:
    before = cloud.summary()["launched"]
    cloud.fault(NoCapacity(zone="us-east-1a"))
    cloud.fault(LoseAnswer(action="RunInstances", times=1))
    cluster = provider.ensure(request_)
    assert {host.facts["zone"] for host in cluster.hosts} == {"us-east-1b"}
    assert cloud.summary()["launched"] - before == 3
    provider.destroy(request_.id)
    assert cloud.nothing_left(), cloud.leftovers()


def test_hosts_that_are_kept_live_on_with_each_cell_and_swap_what_runs_on_them(
    provider: Ec2Provider, request_: ClusterRequest, cloud: Cloud
) -> None:
    """With real processes and a real sudo: one cell's go, the next one's stay, and the hosts end after the last."""
    first = request_.model_copy(update={"id": ClusterId.kept("azul", "", next(_attempts))})
    cluster = provider.ensure(first)
    old, new = (provider.host(cluster, cluster.load_host, name) for name in ("v1-001k-r1-1", "v2-001k-r1-1"))
    for host in (old, new):
        host.start(Job("load", ("sleep", "3600"), timedelta(hours=1)))
    later = first.model_copy(update={"owner": "other", "expires_at": first.expires_at + timedelta(hours=6)})
    assert provider.ensure(later).hosts == cluster.hosts
    provider.clear(cluster, keep=frozenset({"v2-001k-r1-1"}))
    assert [host.status("load").state for host in (old, new)] == ["missing", "running"]

    cloud.skip(timedelta(hours=6).total_seconds())
    assert provider.find(cluster.id) is not None
    assert new.status("load").state == "running"
    cloud.skip(timedelta(hours=6).total_seconds())
    eventually(lambda: cloud.leftovers()["instances"] == [])
    provider.destroy(cluster.id)
    assert cloud.nothing_left(), cloud.leftovers()
