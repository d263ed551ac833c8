"""Hosts that OpenTofu makes, with a state for each launch: found, used, listed and ended by its outputs."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.provider_command.test_programs import CELL, SECOND, servers
from tests.support.command_cloud.site import CommandSite, command_site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[CommandSite]:
    if shutil.which("tofu") is None:
        pytest.skip("needs OpenTofu, whose program is in no registry: build it from its Go module")
    with command_site(tmp_path, "tofu-cloud") as made:
        yield made


def test_hosts_are_made_used_listed_and_ended(site: CommandSite) -> None:
    provider = site.bound()
    cluster = provider.ensure(site.request(CELL))
    assert [host.name for host in cluster.hosts] == ["node1", "load"]
    assert provider.ensure(site.request(CELL)).hosts == cluster.hosts
    host = provider.host(cluster, cluster.nodes[0])
    assert host.run(["echo", "here"], timeout=SECOND).stdout == "here\n"
    assert [found.id for found in provider.clusters()] == [CELL]
    provider.destroy(CELL)
    assert servers(site) == []
    assert provider.clusters() == []
    assert not list(site.folder.glob("*/terraform.tfstate"))
