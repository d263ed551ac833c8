"""Hosts that OpenTofu makes, with a state for each launch: found, used, listed and ended by its outputs."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.provider_command.test_programs import require_whole_life
from tests.support.command_cloud.site import CommandSite, command_site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[CommandSite]:
    if shutil.which("tofu") is None:
        pytest.skip("needs OpenTofu, whose program is in no registry: build it from its Go module")
    with command_site(tmp_path, "tofu-cloud") as made:
        yield made


def test_hosts_are_made_used_listed_and_ended(site: CommandSite) -> None:
    require_whole_life(site.bound(), site)
    assert not list(site.folder.glob("*/terraform.tfstate"))
