"""Where clusters live on hosts whose definition names no folder. The hosts are shells of this machine."""

import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.support.ssh.shell_connection import over_a_shell

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.ssh import Connections, SshProvider, Target, member
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.provider import Places

HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF"
KEY = ClusterId(campaign_id="demo-1", name="g1-040k-r1/1")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that is reached through a link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "real")
    return tmp_path / "home"


@pytest.fixture
def provider(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., SshProvider]:
    """Makes providers of one group; to each the hosts, which are this machine, are new."""

    def made(**options: str) -> SshProvider:
        opened: dict[Target, Any] = {}
        secrets: Any = None
        connections = Connections(secrets)
        monkeypatch.setattr(connections, "to", lambda target: opened.setdefault(target, over_a_shell(home)))
        hosts = [{"address": f"10.0.0.{number}", "host_key": HOST_KEY} for number in (1, 2)]
        group = {"name": "rack1", "nodes": hosts[:1], "load": hosts[1]}
        return SshProvider(connections, SystemClock()).at(Places(({"groups": [group], **options},)))

    return made


def ensured(provider: SshProvider, cluster_id: ClusterId = KEY) -> Cluster:
    expires, options = datetime.now(UTC) + timedelta(hours=1), dict(provider.places.options[0])
    wanted = ClusterRequest(id=cluster_id, owner="run-7", nodes=1, expires_at=expires, options=options)
    return provider.ensure(wanted)


def test_a_cluster_lives_below_the_home_in_a_folder_for_its_user_alone(
    provider: Callable[..., SshProvider], home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(member, "FORMER_DEFAULT", PurePosixPath(tmp_path / "former"))
    folder, first = home.resolve() / ".plimsoll", provider()
    cluster = ensured(first)
    assert {info.facts["folder"] for info in cluster.hosts} == {str(folder)}
    assert provider().find(KEY) == cluster
    host = provider().host(cluster, cluster.load_host)
    assert host.root.is_relative_to(folder / "clusters")
    assert host.run(["pwd"], timeout=timedelta(minutes=1)).stdout == f"{host.root}\n"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    first.destroy(KEY)
    assert sorted(path.name for path in folder.iterdir()) == ["bundles", "lease.lock"]


def test_a_cluster_in_the_former_default_folder_is_found_used_and_destroyed_there(
    provider: Callable[..., SshProvider], home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    former = tmp_path / "former"
    monkeypatch.setattr(member, "FORMER_DEFAULT", PurePosixPath(former))
    old = ensured(provider(folder=str(former)))
    now = provider()
    assert now.find(KEY) == old
    assert now.host(old, old.load_host).root.is_relative_to(former / "clusters")
    with pytest.raises(ProviderError, match="is in use by demo-1/g1-040k-r1/1"):
        ensured(now, ClusterId(campaign_id="demo-1", name="g1-040k-r1/2"))
    now.destroy(KEY)
    assert not (former / "lease.json").exists()
    assert ensured(provider()).load_host.facts["folder"] == f"{home.resolve()}/.plimsoll"
