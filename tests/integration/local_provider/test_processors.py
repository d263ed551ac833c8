"""Nodes with processors of their own: real groups of this machine's kernel, where root may make them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.processes import end_marked, python_job, until

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.adapters.providers.local.processors import Groups
from plimsoll.domain.hosts.cluster import PROCESSORS, Cluster, ClusterId, ClusterRequest
from plimsoll.domain.text.errors import HostError

pytestmark = pytest.mark.skipif(bool(Groups(Path("/")).obstacle()), reason="this machine's user can't make groups")

WHERE = "print(open('/proc/self/cgroup').read(), flush=True)"
BUSY = f"import time\n{WHERE}\nwhile True: pass"
ID = ClusterId(campaign_id="demo-1", name="g1-040k-r1/1")


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[LocalProvider]:
    provider = LocalProvider(tmp_path / "work", SystemClock(), claims=tmp_path / "claims")
    yield provider
    end_marked("PLIMSOLL_WORK", str(tmp_path / "work"))
    provider.destroy(ID)


def made(provider: LocalProvider, cluster_id: ClusterId = ID) -> Cluster:
    expires = datetime.now(UTC) + timedelta(hours=1)
    options: dict[str, object] = {"processors_per_node": 0.1}
    return provider.ensure(
        ClusterRequest(id=cluster_id, owner="run-7", nodes=2, expires_at=expires, ports=(9042,), options=options)
    )


def group(provider: LocalProvider, cluster: Cluster) -> Path:
    return Groups(provider.work.parent / "claims").members(cluster.nodes[0].address).parent


def throttled(folder: Path) -> int:
    figures = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
    return int(figures["nr_throttled"])


def test_all_that_runs_on_a_node_gets_its_share_and_no_more_and_nothing_of_it_is_left(provider: LocalProvider) -> None:
    cluster = made(provider)
    assert [host.facts.get(PROCESSORS) for host in cluster.hosts] == ["0.1", "0.1", None]
    node, load = (provider.host(cluster, info) for info in (cluster.nodes[0], cluster.load_host))
    own = group(provider, cluster)
    node.start(python_job("busy", BUSY))
    log = node.root / "jobs" / "busy.log"
    until(lambda: own.name in node.read_tail(log, max_bytes=1 << 16), "the job has told its group")
    until(lambda: throttled(own) > 0, "the node has used up its share")
    late = f"import time; time.sleep(1); {WHERE}"  # a command is put into its group while it begins
    assert own.name in node.run(["python3", "-c", late], timeout=timedelta(seconds=60)).stdout
    assert own.name not in load.run(["python3", "-c", WHERE], timeout=timedelta(seconds=60)).stdout
    provider.destroy(cluster.id)
    assert not list(own.parent.glob(f"{own.name.rpartition('.')[0]}*"))


def test_a_group_that_is_gone_is_made_again_before_anything_starts_in_it(provider: LocalProvider) -> None:
    cluster = made(provider)
    own, node = group(provider, cluster), provider.host(cluster, cluster.nodes[0])
    own.rmdir()
    with pytest.raises(HostError, match="did not start"):
        node.start(python_job("early", "pass"))
    assert made(provider) == cluster
    node.start(python_job("late", "pass"))
    until(lambda: node.status("late").state == "exited", "the job has ended")


def test_what_a_lost_work_folder_left_goes_with_the_next_cluster(provider: LocalProvider, tmp_path: Path) -> None:
    lost = group(provider, made(provider))
    (tmp_path / "work").rename(tmp_path / "moved")
    other = ID.numbered(2)
    kept = group(provider, made(provider, other))
    assert (lost.exists(), kept.exists()) == (False, True)
    provider.destroy(other)
    assert not kept.exists()
