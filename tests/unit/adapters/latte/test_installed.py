"""Where latte is looked for: a real shell, and a latte that tells its version alone."""

from pathlib import Path

import pytest

from plimsoll.adapters.generators.latte import Installed, installed
from plimsoll.adapters.providers.local.host import LocalHost
from plimsoll.domain.hosts.cluster import HostInfo


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalHost:
    """A host whose user has a home of its own and nothing but the system's programs on the PATH."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return LocalHost(HostInfo(name="load", role="load", address="127.9.9.100"), tmp_path / "host", {})


def put(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True)
    program = folder / "latte"
    program.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && echo 'latte {version}'\n")
    program.chmod(0o755)
    return program


def test_it_is_found_in_a_home_although_that_is_not_on_the_path(host: LocalHost, tmp_path: Path) -> None:
    program = put(tmp_path / "home" / ".cargo" / "bin", "0.29.0")
    assert installed(host) == Installed(str(program), "0.29.0")


def test_the_one_on_the_path_comes_first_whatever_its_folder_is_called(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "home" / ".cargo" / "bin", "0.28.0")
    program = put(tmp_path / "my tools", "0.29.0")
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert installed(host) == Installed(str(program), "0.29.0")


@pytest.mark.skipif(Path("/usr/local/bin/latte").exists(), reason="this machine has latte in /usr/local/bin")
def test_a_host_without_it_has_none(host: LocalHost) -> None:
    assert installed(host) is None


def test_one_that_tells_no_version_is_there(host: LocalHost, tmp_path: Path) -> None:
    program = put(tmp_path / "home" / ".cargo" / "bin", "")
    program.write_text("#!/bin/sh\nexit 1\n")
    assert installed(host) == Installed(str(program), "")
