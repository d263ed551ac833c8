"""Clusters of real processes on this machine: provided, found, and destroyed whatever became of their owners."""

import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.local import LocalProvider
from plimsoll.adapters.local.subnets import Subnets
from plimsoll.adapters.local.sweep import kill_all, marked_processes
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import ClusterRequest
from plimsoll.domain.errors import ProviderError
from plimsoll.ports.host import Job

KEY = AttemptKey(campaign_id="demo-1", cell_id="g1-040k-r1", attempt=1)
SLEEP = Job(id="sleep", argv=("sleep", "300"), expires=timedelta(seconds=300))


def request(key: AttemptKey = KEY) -> ClusterRequest:
    return ClusterRequest(key=key, owner="test", nodes=3, expires_at=datetime.now(UTC) + timedelta(minutes=5))


@pytest.fixture
def provider(tmp_path):
    work = tmp_path / "work"
    yield LocalProvider(work, SystemClock(), Subnets(tmp_path / "subnets"))
    assert kill_all(lambda mark: mark.work == work) == []


def processes_of(key: AttemptKey) -> list[psutil.Process]:
    return [process for process, mark in marked_processes() if mark.key == key]


def start_on_all_hosts(provider, cluster):
    for info in cluster.hosts:
        provider.host(cluster, info).start(SLEEP)


def test_a_cluster_is_provided_once_and_found_again(provider):
    cluster = provider.ensure(request())
    assert provider.ensure(request()) == cluster == provider.find(KEY)
    assert [info.name for info in cluster.hosts] == ["node1", "node2", "node3", "load"]
    assert len({info.address for info in cluster.hosts}) == 4
    assert list(provider.clusters()) == [cluster]


def test_nothing_is_found_where_nothing_is(provider):
    assert provider.find(KEY) is None
    assert list(provider.clusters()) == []
    provider.destroy(KEY)


def test_destroy_leaves_no_process_and_no_folder(provider, tmp_path):
    cluster = provider.ensure(request())
    start_on_all_hosts(provider, cluster)
    assert len(processes_of(KEY)) >= 4
    provider.destroy(KEY)
    assert processes_of(KEY) == []
    assert provider.find(KEY) is None
    assert [path.name for path in (tmp_path / "work").iterdir()] == [".lock"]


def test_two_clusters_live_side_by_side_and_die_apart(provider):
    other_key = KEY.model_copy(update={"attempt": 2})
    one, other = provider.ensure(request()), provider.ensure(request(other_key))
    assert one.nodes[0].address != other.nodes[0].address
    start_on_all_hosts(provider, one)
    start_on_all_hosts(provider, other)
    provider.destroy(KEY)
    assert list(provider.clusters()) == [other]
    assert len(processes_of(other_key)) >= 4


def test_clusters_of_another_work_folder_are_left_alone(provider, tmp_path):
    elsewhere = LocalProvider(tmp_path / "elsewhere", SystemClock(), Subnets(tmp_path / "subnets"))
    cluster = elsewhere.ensure(request())
    start_on_all_hosts(elsewhere, cluster)
    provider.destroy(KEY)
    assert list(provider.clusters()) == []
    assert list(elsewhere.clusters()) == [cluster]
    elsewhere.destroy(KEY)


def test_what_is_left_of_a_cluster_without_its_folder_is_found_by_its_processes(provider, tmp_path):
    cluster = provider.ensure(request())
    start_on_all_hosts(provider, cluster)
    subprocess.run(["rm", "-rf", str(tmp_path / "work" / "demo-1")], check=True)
    assert provider.find(KEY) is None
    assert [(left.key, left.owner) for left in provider.clusters()] == [(KEY, "test")]
    provider.destroy(KEY)
    assert list(provider.clusters()) == []


def test_what_a_killed_process_left_is_found_and_destroyed(provider, tmp_path):
    script = f"""
from datetime import UTC, datetime, timedelta
from pathlib import Path
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.local import LocalProvider
from plimsoll.adapters.local.subnets import Subnets
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import ClusterRequest
from plimsoll.ports.host import Job
provider = LocalProvider(Path({str(tmp_path / "work")!r}), SystemClock(), Subnets(Path({str(tmp_path / "subnets")!r})))
key = AttemptKey.parse({str(KEY)!r})
cluster = provider.ensure(
    ClusterRequest(key=key, owner="test", nodes=1, expires_at=datetime.now(UTC) + timedelta(minutes=5)))
provider.host(cluster, cluster.nodes[0]).start(Job("sleep", ("sleep", "300"), timedelta(seconds=300)))
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", script], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert [cluster.key for cluster in provider.clusters()] == [KEY]
    assert processes_of(KEY)
    provider.destroy(KEY)
    assert processes_of(KEY) == []


def test_a_subnet_on_which_someone_listens_is_not_chosen(tmp_path):
    subnets = Subnets(tmp_path / "subnets")
    (tmp_path / "cluster").mkdir()
    first = subnets.reserve(tmp_path / "cluster")
    (tmp_path / "subnets" / first).unlink()
    with socket.socket() as taken:
        taken.bind((f"{first}.1", 9042))
        taken.listen()
        assert subnets.reserve(tmp_path / "cluster") not in (first, None)


def test_a_reservation_ends_with_its_folder(tmp_path):
    subnets = Subnets(tmp_path / "subnets")
    (tmp_path / "cluster").mkdir()
    first = subnets.reserve(tmp_path / "cluster")
    assert subnets.reserve(tmp_path / "cluster") != first
    (tmp_path / "cluster").rmdir()
    (tmp_path / "again").mkdir()
    subnets.reserve(tmp_path / "again")
    assert [path.read_text() for path in (tmp_path / "subnets").glob("127.*")] == [str(tmp_path / "again")]


def test_a_machine_without_a_free_subnet_is_told(tmp_path):
    class AllTaken(Subnets):
        def reserve(self, folder):
            return None

    provider = LocalProvider(tmp_path / "work", SystemClock(), AllTaken(tmp_path / "subnets"))
    with pytest.raises(ProviderError, match="ss -ltnp"):
        provider.ensure(request())


def test_a_work_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "work").write_text("a file in the way")
    provider = LocalProvider(tmp_path / "work", SystemClock(), Subnets(tmp_path / "subnets"))
    with pytest.raises(ProviderError, match=str(KEY)):
        provider.ensure(request())


def test_no_mark_is_mistaken(provider):
    environment = {**os.environ, "PLIMSOLL_CLUSTER": "not a key", "PLIMSOLL_WORK": str(Path.cwd())}
    with subprocess.Popen(["sleep", "30"], env=environment) as stranger:
        assert stranger.pid not in [process.pid for process, _ in marked_processes()]
        stranger.kill()
