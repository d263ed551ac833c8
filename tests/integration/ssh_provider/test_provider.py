"""Groups of hosts behind a real sshd, with real processes on them."""

import getpass
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.support.processes import end_marked, marked, oldest_python, python_job, until
from tests.support.ssh.sshd import CONNECTION, OneKey, make_key, running_sshd

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.domain.campaign.resolve import hosts_spec, resolve
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest, HostsSilent
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.provider import Places

SLEEP = "import time; time.sleep(600)"
FORKS = f"import os, time; os.fork(); os.setsid() if os.fork() == 0 else None; {SLEEP}"


def key(cell: str = "g1-040k-r1", attempt: int = 1) -> Any:
    return ClusterId(campaign_id="demo-1", name=f"{cell}/{attempt}")


@pytest.fixture
def user_key(tmp_path: Path) -> Any:
    return make_key(tmp_path / "keys", "user")


@pytest.fixture
def sshd(tmp_path: Path, user_key: Any) -> Iterator[Any]:
    with running_sshd(tmp_path / "sshd", [user_key.public], python=oldest_python()) as server:
        yield server


@pytest.fixture
def group(sshd: Any, tmp_path: Path) -> Any:
    """Options of a group: all hosts are this machine, reached in two ways, in a folder of the group's own."""

    def made(name: str, nodes: int = 2, server: Any = None, **changes: Any) -> Any:
        reached = server or sshd
        host = {"host_key": reached.host_key, "ssh_address": reached.address, "port": reached.port}
        node = {**host, "user": getpass.getuser()}
        return {
            "name": name,
            "folder": str(tmp_path / name),
            "nodes": [{**node, "address": f"127.20.0.{number}"} for number in range(1, nodes + 1)],
            "load": {**host, "address": "127.20.0.10", "facts": {"model": "made up"}, **changes},
        }

    return made


def spec_of(options: Any, **changes: Any) -> HostsSpec:
    """Of nodes with one JVM each."""
    asked = definition_of(options, **changes)
    return hosts_spec(resolve(asked), NodeNeeds(heaps={one.id: one.jvm.heap for one in asked.variants if one.jvm}))


@pytest.fixture
def with_groups(user_key: Any, tmp_path: Path) -> Iterator[Any]:
    """Provide a provider of these groups; every process of theirs is ended after the test."""
    pools, folders = [], []

    def made(*groups: Any) -> Any:
        pools.append(Connections(OneKey(user_key.private)))
        folders.extend(one["folder"] for one in groups)
        options = {"connection": CONNECTION, "groups": list(groups), "disk_per_host": "1M"}
        return SshProvider(pools[-1], SystemClock()).at(Places((options,)))

    yield made
    for pool in pools:
        pool.close()
    for folder in folders:
        end_marked("PLIMSOLL_WORK", f"{folder}/clusters")


@pytest.fixture
def provider(with_groups: Any, group: Any) -> Any:
    return with_groups(group("rack1"), group("rack2"))


def request_for(
    provider: Any, wanted: ClusterId, nodes: int = 2, lasts: timedelta = timedelta(hours=1)
) -> ClusterRequest:
    options = dict(provider.places.options[0])
    expires = datetime.now(UTC) + lasts
    return ClusterRequest(id=wanted, owner="run-7", nodes=nodes, expires_at=expires, options=options)


def start(provider: SshProvider, cluster: Any, code: Any = SLEEP) -> None:
    for info in (cluster.nodes[0], cluster.load_host):
        provider.host(cluster, info).start(python_job("sleeper", code))


def processes(tmp_path: Path, name: str = "rack1") -> Any:
    return marked("PLIMSOLL_WORK", str(tmp_path / name / "clusters"))


def left_in(folder: Any) -> Any:
    return sorted(path.name for path in Path(folder).iterdir())


def test_a_cluster_is_a_group_and_is_found_again_by_anyone(
    provider: SshProvider, with_groups: Any, group: Any, tmp_path: Path
) -> None:
    cluster = provider.ensure(request_for(provider, key()))
    assert [(host.name, host.role, host.address) for host in cluster.hosts] == [
        ("node1", "node", "127.20.0.1"),
        ("node2", "node", "127.20.0.2"),
        ("load", "load", "127.20.0.10"),
    ]
    assert cluster.load_host.facts == {"model": "made up", "group": "rack1"}
    another = with_groups(group("rack1"), group("rack2"))
    assert another.find(key()) == cluster
    assert another.clusters() == [cluster]
    assert provider.host(cluster, cluster.nodes[1]).root.is_relative_to(tmp_path / "rack1" / "clusters" / "demo-1")
    assert provider.host(cluster, cluster.load_host).run(["echo", "here"], timeout=timedelta(minutes=1)).exit_code == 0


def test_asking_again_gives_the_same_cluster_and_disturbs_nothing(provider: SshProvider, tmp_path: Path) -> None:
    cluster = provider.ensure(request_for(provider, key()))
    start(provider, cluster)
    running = len(processes(tmp_path))
    assert provider.ensure(request_for(provider, key())) == cluster
    assert len(processes(tmp_path)) == running == 4


def test_each_attempt_has_a_group_of_its_own_and_the_last_comer_hears_who_has_them(provider: SshProvider) -> None:
    groups = [provider.ensure(request_for(provider, key(attempt=number))).load_host.facts["group"] for number in (1, 2)]
    assert groups == ["rack1", "rack2"]
    with pytest.raises(ProviderError, match=r"rack1: is in use by demo-1/g1-040k-r1/1 of run-7 until") as refused:
        provider.ensure(request_for(provider, key(attempt=3)))
    assert "max_parallel" in refused.value.mend
    assert provider.find(key(attempt=3)) is None


def test_of_two_who_want_the_last_group_one_gets_it(with_groups: Any, group: Any) -> None:
    results = []

    def want(number: Any) -> None:
        provider = with_groups(group("rack1"))
        try:
            results.append(provider.ensure(request_for(provider, key(attempt=number))).id.number)
        except ProviderError as error:
            results.append(error.what)

    threads = [threading.Thread(target=want, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [result for result in results if isinstance(result, int)]
    (loser,) = [result for result in results if isinstance(result, str)]
    assert f"is in use by demo-1/g1-040k-r1/{winner}" in loser


def test_destroy_leaves_what_was_installed_and_nothing_else(provider: SshProvider, tmp_path: Path) -> None:
    cluster = provider.ensure(request_for(provider, key()))
    start(provider, cluster, FORKS)
    until(lambda: len(processes(tmp_path)) >= 8, "the forks")
    provider.destroy(key())
    assert processes(tmp_path) == []
    assert left_in(tmp_path / "rack1") == ["bundles", "lease.lock"]
    assert provider.find(key()) is None
    assert provider.clusters() == []
    provider.destroy(key())


def kept(provider: SshProvider, owner: str = "run-7", lasts: Any = timedelta(hours=1)) -> Any:
    wanted = request_for(provider, ClusterId.kept("demo-1", "", 1), lasts=lasts)
    return wanted.model_copy(update={"owner": owner})


def test_on_kept_hosts_one_environment_takes_the_place_of_another(provider: SshProvider, tmp_path: Path) -> None:
    cluster = provider.ensure(kept(provider))
    before, after = (provider.host(cluster, cluster.nodes[0], name) for name in ("g1-040k-r1-1", "zgc-040k-r1-1"))
    for host in (before, after):
        host.write(PurePosixPath("data/table"), "rows")
        host.start(python_job("sleeper", FORKS))
    until(lambda: len(processes(tmp_path)) >= 8, "both jobs to fork")

    provider.clear(cluster, keep=frozenset({"zgc-040k-r1-1"}))
    assert {one.environ()["PLIMSOLL_ENVIRONMENT"] for one in processes(tmp_path)} == {"zgc-040k-r1-1"}
    assert (before.status("sleeper").state, after.status("sleeper").state) == ("missing", "running")
    assert left_in(Path(after.root).parent) == ["zgc-040k-r1-1"]

    provider.clear(cluster)
    assert processes(tmp_path) == []
    assert left_in(Path(after.root).parent) == []
    assert provider.find(cluster.id) == cluster


def test_kept_hosts_that_are_asked_for_again_live_longer(provider: SshProvider, with_groups: Any, group: Any) -> None:
    first = provider.ensure(kept(provider))
    later = provider.ensure(kept(provider, "run-8", timedelta(hours=3)))
    assert (later.hosts, later.created_at, later.owner) == (first.hosts, first.created_at, "run-8")
    assert later.expires_at > first.expires_at
    assert with_groups(group("rack1"), group("rack2")).find(first.id) == later
    provider.destroy(first.id)
    assert provider.clusters() == []


def test_destroy_leaves_other_clusters_alone(provider: SshProvider, tmp_path: Path) -> None:
    for number in (1, 2):
        start(provider, provider.ensure(request_for(provider, key(attempt=number))))
    provider.destroy(key(attempt=1))
    assert processes(tmp_path, "rack1") == []
    assert len(processes(tmp_path, "rack2")) == 4
    assert [cluster.id for cluster in provider.clusters()] == [key(attempt=2)]


def test_what_another_left_behind_is_cleaned_before(provider: SshProvider, tmp_path: Path) -> None:
    work = tmp_path / "rack1" / "clusters"
    (work / "old-1" / "g1-040k-r1" / "1").mkdir(parents=True)
    environment = {"PLIMSOLL_WORK": str(work), "PLIMSOLL_CLUSTER": "old-1/g1-040k-r1/1"}
    with subprocess.Popen([sys.executable, "-c", SLEEP], env=environment) as remnant:
        until(lambda: processes(tmp_path), "the remnant")
        provider.ensure(request_for(provider, key()))
        assert remnant.wait() < 0
    assert not (work / "old-1").exists()


def test_a_group_that_was_taken_and_not_made_whole_is_completed(
    provider: SshProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plimsoll.adapters.providers.ssh.group import Group

    def dies(self: object, lease: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Group, "ready", dies)
        patched.setattr(Group, "give_up", dies)
        with pytest.raises(KeyboardInterrupt):
            provider.ensure(request_for(provider, key()))
    assert provider.find(key()) is None
    assert [cluster.id for cluster in provider.clusters()] == [key()]
    cluster = provider.ensure(request_for(provider, key()))
    assert provider.find(key()) == cluster


@pytest.mark.usefixtures("quick")
def test_a_group_that_can_not_be_reached_is_passed_over(
    with_groups: Any, group: Any, user_key: Any, tmp_path: Path
) -> None:
    with running_sshd(tmp_path / "second", [user_key.public]) as second:
        provider = with_groups(group("rack1", server=second), group("rack2"))
        second.stop()
        cluster = provider.ensure(request_for(provider, key()))
        assert cluster.load_host.facts["group"] == "rack2"
        with pytest.raises(HostsSilent, match="group rack1 can't be asked for its cluster") as told:
            provider.clusters()
        assert told.value.clusters == (cluster,)
        assert provider.find(key()) == cluster
        with pytest.raises(ProviderError, match="can't be reached"):
            provider.find(key(attempt=2))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.connection.PAUSES_S", (0.0, 0.0))


def test_nothing_stays_taken_where_a_host_is_not_as_expected(
    with_groups: Any, group: Any, sshd: Any, tmp_path: Path
) -> None:
    other = make_key(tmp_path, "other").public
    wrong = group("rack1")
    wrong["nodes"][1]["host_key"] = " ".join(other.split()[:2])
    provider = with_groups(wrong)
    with pytest.raises(ProviderError, match=r"its host key is not the expected one: expected ssh-ed25519 SHA256"):
        provider.ensure(request_for(provider, key()))
    assert provider.clusters() == []


def test_a_cluster_whose_campaign_the_store_has_lost_can_be_destroyed(provider: Any, tmp_path: Path) -> None:
    provider.ensure(request_for(provider, key()))
    everywhere = Places(provider.places.options * 2, "the store is out of reach")
    provider.at(everywhere).destroy(key())
    assert left_in(tmp_path / "rack1") == ["bundles", "lease.lock"]


def definition_of(options: Any, **changes: Any) -> Any:
    return Definition.model_validate(
        {
            "name": "small",
            "title": "Small",
            "system": {"version": "4.0.1", "nodes": 2},
            "variants": [{"id": "v", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "64M"}}],
            "loads": ["200/s"],
            "workload": {"replication_factor": 1},
            "load_generator": {"heap": "64M"},
            "timing": {"duration": "20s", "warmup": "10s"},
            "provider": {"name": "ssh", "options": options},
            **changes,
        }
    )


def test_sound_hosts_have_no_problem(provider: Any) -> None:
    assert provider.check(spec_of(provider.places.options[0])) == []


def test_every_problem_is_found_before_anything_starts(
    provider: SshProvider, with_groups: Any, group: Any, tmp_path: Path
) -> None:
    wrong = group("rack1")
    wrong["nodes"][0]["host_key"] = " ".join(make_key(tmp_path, "other").public.split()[:2])
    options = {**with_groups(wrong).places.options[0], "disk_per_host": "900000G"}
    jvm = {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "90000G"}
    asked = spec_of(options, max_parallel=2, variants=[{"id": "huge", "jvm": jvm}])
    problems = {problem.where: problem.what for problem in provider.check(asked)}
    assert "2 cells at once need as many groups" in problems["max_parallel"]
    assert "host key is not the expected one" in problems["provider.options.groups.rack1.node1"]
    assert "are needed" in problems["provider.options.groups.rack1.node2"]
    assert "larger than the memory of node2" in problems["variants.huge.jvm.heap"]


@pytest.mark.usefixtures("quick")
def test_a_host_that_can_not_be_reached_is_a_problem(with_groups: Any, group: Any, sshd: Any) -> None:
    unreachable = group("rack1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        unreachable["load"]["port"] = server.getsockname()[1]
    provider = with_groups(unreachable)
    (problem,) = provider.check(spec_of(provider.places.options[0]))
    assert problem.where == "provider.options.groups.rack1.load"
    assert "can't be reached" in problem.what
    assert problem.mend


def test_a_key_that_does_not_fit_is_a_problem_on_every_host(
    with_groups: Any, group: Any, user_key: Any, tmp_path: Path
) -> None:
    object.__setattr__(user_key, "private", make_key(tmp_path, "stranger").private)
    provider = with_groups(group("rack1"))
    found = provider.check(spec_of(provider.places.options[0]))
    assert {problem.where for problem in found} == {f"provider.options.groups.rack1.{host}" for host in HOSTS}
    assert all("does not let" in problem.what and "authorized_keys" in problem.mend for problem in found)


def test_a_folder_that_can_not_be_used_is_a_problem(with_groups: Any, group: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    broken = {**group("rack1"), "folder": str(tmp_path / "file" / "below")}
    provider = with_groups(broken)
    found = provider.check(spec_of(provider.places.options[0]))
    assert {problem.where for problem in found} == {f"provider.options.groups.rack1.{host}" for host in HOSTS}
    assert all("Not a directory" in problem.what for problem in found)


HOSTS = ("node1", "node2", "load")


def test_the_roots_of_hosts_on_one_machine_differ(provider: SshProvider) -> None:
    cluster = provider.ensure(request_for(provider, key()))
    roots = {provider.host(cluster, info).root for info in cluster.hosts}
    assert len(roots) == 3
    assert all(isinstance(root, PurePosixPath) for root in roots)
