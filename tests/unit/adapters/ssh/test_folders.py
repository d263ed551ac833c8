"""Where clusters live on a host whose definition names no folder."""

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from plimsoll.adapters.providers.ssh.execution import default_folder_command
from plimsoll.adapters.providers.ssh.group import SshOptions
from plimsoll.adapters.providers.ssh.member import FOLDER, FORMER_DEFAULT, folder_of
from plimsoll.domain.hosts.cluster import HostInfo


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that is reached through a link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "real")
    return tmp_path / "home"


def asked(home: Path, former: Path) -> str:
    line = default_folder_command(PurePosixPath(".plimsoll"), PurePosixPath(former))
    return subprocess.check_output(["/bin/sh", "-c", line], env={"HOME": str(home)}, text=True)


def test_it_is_below_the_home_without_links(home: Path, tmp_path: Path) -> None:
    assert SshOptions.model_fields["folder"].default == "~/.plimsoll"
    assert asked(home, tmp_path / "former") == f"{tmp_path}/real/.plimsoll"


def test_a_cluster_of_the_former_default_folder_keeps_it_until_it_is_released(home: Path, tmp_path: Path) -> None:
    former = tmp_path / "former"
    former.mkdir()
    assert asked(home, former) == f"{tmp_path}/real/.plimsoll"
    (former / "lease.json").touch()
    assert asked(home, former) == str(former)
    (tmp_path / "link").symlink_to(former)
    assert asked(home, tmp_path / "link") == f"{tmp_path}/real/.plimsoll"


def test_a_host_of_a_cluster_need_not_answer_to_say_where_the_cluster_lives() -> None:
    below_home = PurePosixPath("~/.plimsoll")
    info = HostInfo(name="node1", role="node", address="10.0.0.1", facts={FOLDER: "/home/bench/.plimsoll"})
    assert folder_of(info, below_home) == PurePosixPath("/home/bench/.plimsoll")
    before = info.model_copy(update={"facts": {}})
    assert folder_of(before, below_home) == FORMER_DEFAULT, "it began before there was a fact"
    assert folder_of(info, PurePosixPath("/srv/plimsoll")) == PurePosixPath("/srv/plimsoll")
