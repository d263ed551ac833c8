"""Folders brought to a host: once, whole, and on with it after an interruption."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

import pytest
from tests.support.processes import python_job, until
from tests.support.ssh.host_folder import INFO, MIB, make_folder
from tests.support.ssh.sshd import KeyPair, OneKey, Sshd
from tests.support.suite.requirements import leave_out

from plimsoll.adapters.providers.ssh import Connections, SshHost, bundles
from plimsoll.domain.text.errors import HostError


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Provide a folder with an executable, an odd name, something big and what Python left there."""
    folder = make_folder(tmp_path / "some bundle", big=5 * MIB)
    (folder / "it's\n odd").write_text("odd")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").touch()
    return folder


@pytest.fixture
def again(sshd: Sshd, user_key: KeyPair, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Reach the same host as another process does, which remembers nothing."""
    pools = []

    def host() -> SshHost:
        pools.append(Connections(OneKey(user_key.private)))
        place = PurePosixPath(tmp_path / "bundles")
        return SshHost(INFO, PurePosixPath(tmp_path / "node1"), pools[-1].to(sshd.target()), bundles=place)

    yield host
    for pool in pools:
        pool.close()


def contents(folder: PurePath) -> dict[Any, Any]:
    return {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_a_folder_arrives_as_it_is(ssh_host: SshHost, bundle: Path) -> None:
    place = ssh_host.install(bundle)
    expected = {path: data for path, data in contents(bundle).items() if path.parts[0] != "__pycache__"}
    assert contents(place) == expected
    assert subprocess.check_output([str(place / "bin" / "java")]) == b"started\n"
    assert not os.access(place / "big.jar", os.X_OK)
    assert place.name.startswith("some-bundle-")


def test_it_is_sent_once(again: Callable[..., Any], bundle: Path, sent: list[Any]) -> None:
    assert again().install(bundle) == again().install(bundle)
    assert len(sent) == 3


def test_other_content_lies_elsewhere(ssh_host: SshHost, bundle: Path) -> None:
    before = ssh_host.install(bundle)
    (bundle / "big.jar").write_bytes(b"changed")
    assert ssh_host.install(bundle) != before


def test_what_was_damaged_there_is_sent_again(again: Callable[..., Any], bundle: Path, sent: list[Any]) -> None:
    place = Path(again().install(bundle))
    (place / "big.jar").write_bytes(b"damaged")
    (place / "bin" / "java").unlink()
    sent.clear()
    assert Path(again().install(bundle)) == place
    assert sorted(sent) == ["big.jar", "bin/java"]
    assert (place / "big.jar").read_bytes() == (bundle / "big.jar").read_bytes()


def test_an_interrupted_transfer_goes_on_where_it_was(
    again: Callable[..., Any], bundle: Path, sent: list[Any], tmp_path: Path
) -> None:
    for number in range(20):
        (bundle / f"part-{number:02d}.jar").write_bytes(os.urandom(MIB))
    place = tmp_path / "bundles" / bundles.bundle_of(bundle).folder
    unfinished = Path(f"{place}.part")
    unfinished.mkdir(parents=True)
    arrived = [f"part-{number:02d}.jar" for number in range(10)]
    for name in arrived:
        (unfinished / name).write_bytes((bundle / name).read_bytes())
    (unfinished / "part-10.jar").write_bytes(b"half of it")
    assert Path(again().install(bundle)) == place
    assert not set(sent) & set(arrived)
    assert "part-10.jar" in sent
    assert not unfinished.exists()


def test_a_link_that_is_cut_in_a_transfer_does_not_spoil_it(
    ssh_host: SshHost, sshd: Sshd, bundle: Path, tmp_path: Path
) -> None:
    for number in range(30):
        (bundle / f"part-{number:02d}.jar").write_bytes(os.urandom(MIB))
    unfinished = tmp_path / "bundles" / f"{bundles.bundle_of(bundle).folder}.part"

    def cut() -> None:
        until(lambda: len(list(unfinished.glob("*.jar"))) > 3, "some files", longest_s=0.01)
        sshd.cut()

    cutter = threading.Thread(target=cut)
    cutter.start()
    place = ssh_host.install(bundle)
    cutter.join()
    assert sshd.log.count("Accepted publickey") == 2
    assert contents(place).keys() == contents(bundle).keys() - {Path("__pycache__/x.pyc")}
    assert contents(place)[Path("part-29.jar")] == (bundle / "part-29.jar").read_bytes()


def test_many_at_once_bring_one(again: Callable[..., Any], bundle: Path) -> None:
    hosts, places = [again() for _ in range(4)], []
    threads = [threading.Thread(target=lambda one=host: places.append(one.install(bundle))) for host in hosts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(places) == 4
    assert len(set(places)) == 1
    assert [path.name for path in Path(places[0]).parent.iterdir()] == [places[0].name]


def test_a_program_that_was_removed_meanwhile_is_brought_again(ssh_host: SshHost, tmp_path: Path) -> None:
    ssh_host.facts()
    subprocess.run(["rm", "-r", str(tmp_path / "bundles")], check=True)
    assert ssh_host.facts().cpus >= 1


def test_no_folder_is_an_error(ssh_host: SshHost, tmp_path: Path) -> None:
    with pytest.raises(HostError, match="no folder"):
        ssh_host.install(tmp_path / "none")


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Provide a file system of 64 KiB."""
    folder = tmp_path / "full"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode != 0:
        leave_out("only root may mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_said(connection: Any, full_disk: Path, bundle: Path, tmp_path: Path) -> None:
    (full_disk / "filler").write_bytes(bytes(64 << 10))
    full = PurePosixPath(full_disk)
    elsewhere = PurePosixPath(tmp_path / "bundles")
    host = SshHost(INFO, full / "node1", connection, bundles=elsewhere)
    with pytest.raises(HostError, match=r"No space left[\s\S]*free disk space"):
        host.write(PurePosixPath("file"), "x" * 100)
    with pytest.raises(HostError, match=r"No space left[\s\S]*free disk space"):
        host.start(python_job("load", "print('x')"))
    with pytest.raises(HostError, match=r"No space left[\s\S]*free disk space"):
        SshHost(INFO, full / "node1", connection, bundles=full / "bundles").install(bundle)
