import errno
from pathlib import Path, PurePosixPath

import pytest

from plimsoll.adapters.providers.local import LocalHost
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import HostError


@pytest.fixture
def host(tmp_path: Path) -> LocalHost:
    return LocalHost(HostInfo(name="node1", role="node", address="127.0.0.1"), tmp_path / "node1", {})


def test_what_is_not_there_reads_as_nothing(host: LocalHost) -> None:
    assert host.read_tail(PurePosixPath("none.log"), max_bytes=10) == ""
    assert host.files(PurePosixPath("none")) == ()


def test_fetching_a_missing_file_names_it(host: LocalHost, tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"none\.log"):
        host.fetch(PurePosixPath("none.log"), tmp_path / "kept")


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "a/../../b"])
def test_nothing_is_written_outside_the_hosts_folder(host: LocalHost, path: str) -> None:
    with pytest.raises(HostError, match="not below"):
        host.write(PurePosixPath(path), "x")


def test_a_full_disk_is_said_with_how_to_mend_it_and_leaves_no_part(
    host: LocalHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object, **__: object) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(HostError, match=r"No space left(.|\n)*free disk space"):
        host.write(PurePosixPath("conf/a"), "x")
    assert host.files(host.root) == ()


def test_a_file_in_the_way_of_a_folder_is_said(host: LocalHost) -> None:
    host.write(PurePosixPath("conf"), "x")
    with pytest.raises(HostError, match="conf"):
        host.write(PurePosixPath("conf/a"), "x")
