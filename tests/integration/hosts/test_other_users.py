"""Another user of a host: nothing runs from a folder that he has made or can change, and he reads nothing of it."""

import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.support.processes import until
from tests.support.ssh.shell_connection import over_a_shell
from tests.support.strangers import as_stranger

from plimsoll.adapters.providers.ssh import SshHost
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import Job

LONG = timedelta(seconds=60)
INFO = HostInfo(name="node1", role="node", address="127.0.0.1")


@pytest.fixture
def shared() -> Iterator[Path]:
    """Provide a folder in which every user may write, as in /var/tmp."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o1777)
        yield Path(name)


@pytest.fixture
def connection(tmp_path: Path) -> Any:
    return over_a_shell(tmp_path)


@pytest.fixture
def host(shared: Path, connection: Any) -> SshHost:
    place = PurePosixPath(shared, "plimsoll")
    return SshHost(INFO, place / "clusters" / "node1", connection, bundles=place / "bundles")


def test_a_folder_that_another_user_made_first_is_not_used(shared: Path, host: SshHost) -> None:
    made = as_stranger("mkdir", "--parents", "--mode=0777", f"{shared}/plimsoll/bundles")
    assert made.returncode == 0, made.stderr
    for use in (lambda: host.run(["touch", f"{shared}/ran"], timeout=LONG), host.facts, lambda: host.status("job")):
        with pytest.raises(HostError, match="belongs to user 65534"):
            use()
    assert [path.name for path in shared.rglob("*")] == ["plimsoll", "bundles"]


def test_a_program_that_was_swapped_between_two_calls_does_not_run(shared: Path, host: SshHost) -> None:
    """Another user can swap it only where the folder was opened to him in between."""
    host.facts()
    (shared / "plimsoll").chmod(0o777)
    swap = "mv bundles mine && mkdir bundles"
    assert as_stranger("sh", "-c", f"cd {shared}/plimsoll && {swap}").returncode == 0
    for use in (host.facts, lambda: host.run(["true"], timeout=LONG)):
        with pytest.raises(HostError, match="other users may write"):
            use()


def test_another_user_sees_nothing_of_a_host_s_folder(shared: Path, host: SshHost, tmp_path: Path) -> None:
    (tmp_path / "bundle" / "bin").mkdir(parents=True)
    (tmp_path / "bundle" / "bin" / "java").write_text("#!/bin/sh\n")
    host.install(tmp_path / "bundle")
    host.start(Job("job", ["sh", "-c", "umask; mkdir made; touch made/file"], LONG))
    until(lambda: host.status("job").state == "exited", "the end of the job")
    assert Path(host.root, "jobs/job.log").read_text() == "0077\n"
    assert {path.stat().st_mode & 0o077 for path in (shared / "plimsoll" / "clusters").rglob("*")} == {0}
    assert as_stranger("find", str(shared / "plimsoll"), "-mindepth", "1").stdout == ""
