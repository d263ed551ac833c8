"""What only hosts of this machine must keep apart: the process that starts a job, and its jobs."""

import os
import signal
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import psutil
import pytest
from tests.support.processes import ended, job_record, log_of, python_job

from plimsoll.adapters.providers.local import LocalHost
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import HostError

SLEEP = "import time; time.sleep(600)"


@pytest.fixture
def host(tags: dict[str, Any], tmp_path: Path) -> LocalHost:
    return LocalHost(HostInfo(name="node1", role="node", address="127.0.0.1"), tmp_path / "node1", tags)


def test_a_bundle_is_used_where_it_lies(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    assert Path(host.install(tmp_path / "bundle")) == tmp_path / "bundle"
    with pytest.raises(HostError, match="no folder"):
        host.install(tmp_path / "none")


def test_no_file_is_fetched_through_a_link_out_of_the_hosts_folder(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    host.write(PurePosixPath("gc.log"), "log")
    Path(host.root, "inner.log").symlink_to("gc.log")
    Path(host.root, "outer.log").symlink_to(tmp_path / "secret")

    host.fetch(PurePosixPath("inner.log"), tmp_path / "fetched")
    assert (tmp_path / "fetched").read_text() == "log"
    with pytest.raises(HostError, match="leads out of the host's folder"):
        host.fetch(PurePosixPath("outer.log"), tmp_path / "fetched")


CALLER = """
import sys
from datetime import timedelta
from pathlib import Path
from plimsoll.adapters.providers.local import LocalHost
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.host import Job
info = HostInfo(name="node1", role="node", address="127.0.0.1")
host = LocalHost(info, Path(sys.argv[1]), {"PLIMSOLL_TEST": sys.argv[2]})
host.start(Job("load", [sys.executable, "-c", "import time; time.sleep(600)"], timedelta(minutes=1)))
print("started", flush=True)
sys.stdin.read()
"""


def test_a_job_survives_the_kill_of_its_starter_and_keeps_none_of_its_pipes(host: LocalHost) -> None:
    argv = [sys.executable, "-c", CALLER, str(host.root), str(host.root.parent)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as caller:
        assert caller.stdout.readline() == "started\n"
        tree = psutil.Process(caller.pid).children(recursive=True)
        os.killpg(caller.pid, signal.SIGKILL)
        assert caller.stdout.read() == ""  # end of file comes only when nobody holds the pipe
    assert tree == []
    assert host.status("load").state == "running"
    session = os.getsid(job_record(host, "load")["child"])
    assert session == job_record(host, "load")["pid"]


def test_a_job_has_no_file_of_the_caller_open(host: LocalHost, tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        assert has_open(os.getpid(), tmp_path / "secret")
        host.start(python_job("load", SLEEP))
        for pid in (job_record(host, "load")["pid"], job_record(host, "load")["child"]):
            assert not has_open(pid, tmp_path / "secret")


def has_open(pid: int, path: Path) -> bool:
    """Tell whether a process has that file open. It may close others meanwhile."""
    return str(path) in {one.path for one in psutil.Process(pid).open_files()}


PRIORITY = "import os; print(os.nice(0), open('/proc/self/autogroup').read().split()[-1])"


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel groups no processes by session")
def test_jobs_of_a_host_that_gives_way_do_so_to_their_own_session_and_to_others(tmp_path: Path) -> None:
    info = HostInfo(name="node1", role="node", address="127.0.0.1", facts={"niceness": "7"})
    host = LocalHost(info, tmp_path / "node1", {})
    host.start(python_job("modest", PRIORITY))
    assert ended(host, "modest") == 0
    assert log_of(host, "modest").split() == ["7", "7"]
