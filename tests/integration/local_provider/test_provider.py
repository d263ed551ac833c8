"""Clusters of this machine with real processes in them."""

import errno
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.support.processes import end_marked, marked, python_job, until

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.hosts.onhost import cleaning
from plimsoll.adapters.providers.local import LocalProvider, folders, subnets
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.host import Job

SLEEP = "import time; time.sleep(600)"
FORKS = f"import os, time; os.fork(); os.setsid() if os.fork() == 0 else None; {SLEEP}"


def key(cell: str = "g1-040k-r1", attempt: int = 1) -> Any:
    return ClusterId(campaign_id="demo-1", name=f"{cell}/{attempt}")


def request_for(wanted: ClusterId, nodes: int = 3, ports: tuple[int, ...] = (9042,)) -> Any:
    expires = datetime.now(UTC) + timedelta(hours=1)
    return ClusterRequest(id=wanted, owner="run-7", nodes=nodes, expires_at=expires, ports=ports)


@pytest.fixture
def claims(tmp_path: Path) -> Any:
    return tmp_path / "claims"


@pytest.fixture
def provider(tmp_path: Path, claims: Path) -> Iterator[Any]:
    """Provide a provider whose every process is ended after the test."""
    yield LocalProvider(tmp_path / "work", SystemClock(), claims=claims)
    end_marked("PLIMSOLL_WORK", str(tmp_path / "work"))


def start(provider: LocalProvider, cluster: Any, code: Any = SLEEP) -> None:
    """A job on the first node and one on the load host."""
    for info in (cluster.nodes[0], cluster.load_host):
        provider.host(cluster, info).start(python_job("sleeper", code))


def processes(provider: LocalProvider) -> Any:
    return marked("PLIMSOLL_WORK", str(provider.work))


def test_a_cluster_has_its_own_addresses_and_is_found_again(provider: LocalProvider, tmp_path: Path) -> None:
    cluster = provider.ensure(request_for(key()))
    subnet = cluster.load_host.address.removesuffix(".10")
    assert [host.address for host in cluster.nodes] == [f"{subnet}.{number}" for number in (1, 2, 3)]
    assert provider.find(key()) == cluster
    assert provider.clusters() == [cluster]
    assert len({host.facts["machine"] for host in cluster.hosts}) == 1
    assert provider.host(cluster, cluster.nodes[1]).root.is_relative_to(tmp_path / "work" / "demo-1")


def test_asking_again_gives_the_same_cluster(provider: LocalProvider) -> None:
    assert provider.ensure(request_for(key())) == provider.ensure(request_for(key()))


def test_clusters_live_side_by_side_also_of_two_work_folders(
    provider: LocalProvider, tmp_path: Path, claims: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both begin to look at the same place.
    monkeypatch.setattr(subnets, "candidates", lambda _: (f"127.31.{low}" for low in range(9)))
    other = LocalProvider(tmp_path / "other", SystemClock(), claims=claims)
    clusters = [provider.ensure(request_for(key())), provider.ensure(request_for(key(attempt=2)))]
    clusters.append(other.ensure(request_for(key())))
    addresses = [host.address for cluster in clusters for host in cluster.hosts]
    assert len(set(addresses)) == len(addresses)
    provider.destroy(key())
    assert [cluster.id for cluster in provider.clusters()] == [key(attempt=2)]
    assert len(other.clusters()) == 1


def test_a_subnet_that_a_marked_process_uses_is_passed_over(provider: LocalProvider, tmp_path: Path) -> None:
    """Also where its claim is lost: by what really runs."""
    cluster = provider.ensure(request_for(key()))
    start(provider, cluster)
    stranger = LocalProvider(tmp_path / "work", SystemClock(), claims=tmp_path / "other claims")
    folder = folders.folder_of(tmp_path / "work", key())
    folder.rename(tmp_path / "hidden")
    assert stranger.ensure(request_for(key())).load_host.address != cluster.load_host.address


def test_of_many_who_ask_at_once_all_get_the_same_cluster(provider: LocalProvider) -> None:
    found = []
    threads = [threading.Thread(target=lambda: found.append(provider.ensure(request_for(key())))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(cluster == found[0] for cluster in found)


def test_destroy_leaves_nothing(provider: LocalProvider, tmp_path: Path, claims: Path) -> None:
    cluster = provider.ensure(request_for(key()))
    start(provider, cluster, FORKS)
    until(lambda: len(processes(provider)) >= 8, "the forks")
    provider.destroy(key())
    assert processes(provider) == []
    assert list((tmp_path / "work").iterdir()) == []
    assert not claims.exists()
    assert provider.find(key()) is None
    assert provider.clusters() == []


def test_destroy_is_idempotent_and_leaves_others_alone(provider: LocalProvider) -> None:
    provider.ensure(request_for(key(attempt=2)))
    for _ in range(2):
        provider.destroy(key())
    assert provider.find(key(attempt=2)) is not None


def test_two_may_destroy_the_same_at_once(provider: LocalProvider) -> None:
    cluster = provider.ensure(request_for(key()))
    start(provider, cluster)
    errors = []

    def destroy() -> None:
        try:
            provider.destroy(key())
        except ProviderError as error:
            errors.append(error)

    threads = [threading.Thread(target=destroy) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert processes(provider) == []
    assert provider.clusters() == []


def test_processes_without_a_folder_are_a_cluster_that_can_be_destroyed(
    provider: LocalProvider, tmp_path: Path
) -> None:
    cluster = provider.ensure(request_for(key()))
    start(provider, cluster)
    shutil.rmtree(folders.folder_of(tmp_path / "work", key()))
    [remnant] = provider.clusters()
    assert (remnant.id, remnant.owner, remnant.expires_at) == (key(), "run-7", cluster.expires_at)
    assert {(host.name, host.role, host.address) for host in remnant.hosts} == {
        ("node1", "node", cluster.nodes[0].address),
        ("load", "load", cluster.load_host.address),
    }
    assert provider.find(key()) is None
    provider.destroy(key())
    assert provider.clusters() == []
    assert processes(provider) == []


@pytest.mark.parametrize("content", [None, "{"])
def test_a_folder_without_a_description_is_a_cluster_that_can_be_destroyed(
    provider: LocalProvider, tmp_path: Path, content: Any
) -> None:
    folder = folders.folder_of(tmp_path / "work", key())
    folder.mkdir(parents=True)
    if content is not None:
        (folder / "cluster.json").write_text(content)
    [remnant] = provider.clusters()
    assert remnant.id == key()
    assert remnant.nodes
    provider.destroy(key())
    assert provider.clusters() == []


def test_another_work_folders_processes_are_neither_seen_nor_touched(provider: LocalProvider, tmp_path: Path) -> None:
    cluster = provider.ensure(request_for(key()))
    start(provider, cluster)
    other = LocalProvider(tmp_path / "other", SystemClock(), claims=tmp_path / "claims")
    assert other.clusters() == []
    other.destroy(key())
    assert len(processes(provider)) == 4


def test_a_node_is_ended_by_its_expiry_even_when_nobody_comes_back(provider: LocalProvider) -> None:
    cluster = provider.ensure(request_for(key()))
    host = provider.host(cluster, cluster.nodes[0])
    host.start(Job("node", [sys.executable, "-c", SLEEP], timedelta(milliseconds=100)))
    until(lambda: processes(provider) == [], "the end of the node")


LAUNCHER = """
import os, signal, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.ports.host import Job
provider = LocalProvider(Path(sys.argv[1]), SystemClock(), claims=Path(sys.argv[2]))
key, expires = ClusterId.parse(sys.argv[3]), datetime.now(UTC) + timedelta(minutes=5)
cluster = provider.ensure(ClusterRequest(id=key, owner="run-7", nodes=1, expires_at=expires))
provider.host(cluster, cluster.nodes[0]).start(Job("sleep", ("sleep", "300"), timedelta(seconds=300)))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_launcher_left_is_found_and_destroyed(
    provider: LocalProvider, tmp_path: Path, claims: Path
) -> None:
    argv = [sys.executable, "-c", LAUNCHER, str(tmp_path / "work"), str(claims), str(key())]
    assert subprocess.run(argv, check=False, timeout=60).returncode == -signal.SIGKILL
    assert [cluster.id for cluster in provider.clusters()] == [key()]
    assert processes(provider)
    provider.destroy(key())
    assert processes(provider) == []
    assert provider.clusters() == []


def test_a_full_disk_is_said_and_leaves_nothing(
    provider: LocalProvider, tmp_path: Path, claims: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Any, *_: Any, **__: Any) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ProviderError, match=r"No space left(.|\n)*free disk space"):
        provider.ensure(request_for(key()))
    assert list((tmp_path / "work").iterdir()) == []
    assert not claims.exists()


def test_a_work_folder_that_can_not_be_made_is_said(tmp_path: Path, claims: Path) -> None:
    (tmp_path / "work").write_text("a file")
    provider = LocalProvider(tmp_path / "work", SystemClock(), claims=claims)
    with pytest.raises(ProviderError, match="work folder can't be used"):
        provider.ensure(request_for(key()))


LISTENER = """
import socket, sys
with socket.create_server(("0.0.0.0", 0)) as server:
    print(server.getsockname()[1], flush=True)
    sys.stdin.read()
"""


def test_a_port_in_use_on_all_addresses_is_said_with_who_uses_it(provider: LocalProvider, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", LISTENER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as listener:
        port = int(listener.stdout.readline())
        # A port of its own: nobody else's cluster on this machine may suffer from the test.
        with pytest.raises(ProviderError) as refused:
            provider.ensure(request_for(key(), ports=(port,)))
        listener.stdin.close()
    assert f":{port} is in use by python" in refused.value.what
    assert f"(process {listener.pid}, on 0.0.0.0)" in refused.value.what
    assert "ss -ltnp" in refused.value.mend
    assert list((tmp_path / "work").iterdir()) == []


def test_a_folder_that_resists_is_said(
    provider: LocalProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.ensure(request_for(key()))
    monkeypatch.setattr(cleaning, "PATIENCE_S", 0.1)
    monkeypatch.setattr(shutil, "rmtree", lambda path: (_ for _ in ()).throw(PermissionError(13, "no", path)))
    with pytest.raises(ProviderError, match=r"not gone: (.|\n)*demo-1/g1-040k-r1/1"):
        provider.destroy(key())
    assert provider.clusters()


def test_more_nodes_than_a_subnet_holds_are_refused(provider: LocalProvider) -> None:
    with pytest.raises(ProviderError, match="500 nodes"):
        provider.ensure(request_for(key(), nodes=500))


def test_a_port_that_a_cluster_of_before_used_is_free_at_once(provider: LocalProvider) -> None:
    """Connections that linger (TIME_WAIT) are no obstacle."""
    cluster = provider.ensure(request_for(key()))
    address = (cluster.nodes[0].address, 9042)
    with socket.create_server(address) as server, socket.create_connection(address), server.accept()[0]:
        pass
    provider.destroy(key())
    assert provider.ensure(request_for(key())).nodes[0].address == address[0]


def kept(owner: str = "run-7", lasts: Any = timedelta(hours=1)) -> Any:
    expires = datetime.now(UTC) + lasts
    return ClusterRequest(id=ClusterId.kept("demo-1", "", 1), owner=owner, nodes=1, expires_at=expires)


def test_what_an_environment_left_goes_and_the_next_ones_stays(provider: LocalProvider) -> None:
    cluster = provider.ensure(kept())
    before, after = (provider.host(cluster, cluster.nodes[0], name) for name in ("g1-040k-r1-1", "zgc-040k-r1-1"))
    for host in (before, after):
        host.write(PurePosixPath("data/table"), "rows")
        host.start(python_job("sleeper", FORKS))
    until(lambda: len(processes(provider)) >= 6, "both jobs to fork")
    left = Path(before.root)
    left.joinpath("link").symlink_to(after.root)

    provider.clear(cluster, keep=frozenset({"zgc-040k-r1-1"}))
    assert not left.exists()
    assert {one.environ()["PLIMSOLL_ENVIRONMENT"] for one in processes(provider)} == {"zgc-040k-r1-1"}
    assert (before.status("sleeper").state, after.status("sleeper").state) == ("missing", "running")
    assert after.read_tail(PurePosixPath("data/table"), max_bytes=10) == "rows"

    provider.clear(cluster)
    assert not processes(provider)
    assert not list(Path(after.root).parent.iterdir())
    assert provider.find(cluster.id) == cluster


def test_hosts_that_are_asked_for_again_live_longer_and_keep_their_addresses(provider: LocalProvider) -> None:
    first = provider.ensure(kept())
    later = provider.ensure(kept("run-8", timedelta(hours=3)))
    assert provider.find(first.id) == later
    assert (later.hosts, later.created_at, later.owner) == (first.hosts, first.created_at, "run-8")
    assert later.expires_at > first.expires_at
    assert provider.ensure(kept("run-8", timedelta(minutes=1))).expires_at == later.expires_at


def test_a_host_whose_folder_is_gone_is_lost_and_replaced_alone_at_another_address(provider: LocalProvider) -> None:
    wanted = request_for(ClusterId.kept("demo-1", "", 1))
    made = provider.ensure(wanted)
    shutil.rmtree(provider.work / str(made.id) / "node2")
    assert provider.find(made.id) is None
    assert [one.id for one in provider.clusters()] == [made.id]
    mended = provider.ensure(wanted.model_copy(update={"was_whole": True}))
    assert provider.find(made.id) == mended
    subnet = made.hosts[0].address.rpartition(".")[0]
    assert [info.address for info in mended.hosts] == [f"{subnet}.{n}" for n in (1, 4, 3, 10)]
    assert [info.name for info in mended.hosts] == [info.name for info in made.hosts]


def test_unfit_hosts_are_replaced_and_their_addresses_are_not_given_again(provider: LocalProvider) -> None:
    wanted = request_for(ClusterId.kept("demo-1", "", 1))
    made = provider.ensure(wanted)
    unfit: set[str] = set()
    for name in ("node1", "load", "node1"):
        host = next(info for info in (provider.find(made.id) or made).hosts if info.name == name)
        unfit.add(host.identity)
        mended = provider.ensure(wanted.model_copy(update={"was_whole": True, "unfit": frozenset(unfit)}))
        assert unfit.isdisjoint(info.identity for info in mended.hosts)
        assert provider.ensure(wanted.model_copy(update={"was_whole": True, "unfit": frozenset(unfit)})) == mended
    assert len({info.address for info in mended.hosts} - {info.address for info in made.hosts}) == 2


def test_what_can_not_be_removed_is_said(provider: LocalProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = provider.ensure(kept())
    provider.host(cluster, cluster.nodes[0], "g1-040k-r1-1").write(PurePosixPath("data/table"), "rows")

    def refuse(folder: Path) -> None:
        raise OSError(f"{folder} is busy")

    monkeypatch.setattr(shutil, "rmtree", refuse)
    monkeypatch.setattr(cleaning, "PATIENCE_S", 0.1)
    with pytest.raises(ProviderError, match="g1-040k-r1-1/data is busy"):
        provider.clear(cluster)


def test_a_cluster_may_have_several_load_hosts_each_with_a_place_of_its_own(provider: Any) -> None:
    cluster = provider.ensure(request_for(key()).model_copy(update={"load_hosts": 2}))
    hosts = [provider.host(cluster, info) for info in cluster.load_hosts]
    assert [host.info.name for host in hosts] == ["load", "load2"]
    assert len({info.address for info in cluster.hosts}) == 5
    assert len({host.root for host in hosts}) == 2
    for host in hosts:
        host.start(python_job("sleeper", SLEEP))
    assert len(processes(provider)) == 4  # each with its supervisor
    provider.destroy(cluster.id)
    assert not processes(provider)
    assert provider.find(cluster.id) is None
