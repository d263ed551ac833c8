import os
import signal
import sys
import time
from datetime import timedelta
from pathlib import PurePosixPath

import psutil
import pytest

from plimsoll.adapters.local import LocalHost
from plimsoll.domain.cluster import HostInfo
from plimsoll.ports.host import Job

PATIENCE_S = 30


def until(condition, what):
    """Wait for something real; the deadline only bounds a test that has failed anyway."""
    deadline = time.monotonic() + PATIENCE_S
    while not (value := condition()):
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.01)
    return value


def marked(name, value):
    """Living processes whose environment carries that mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(name) == value and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def python_job(job_id, code, **changes):
    return Job(**{"id": job_id, "argv": [sys.executable, "-c", code], "expires": timedelta(minutes=1), **changes})


def log_of(host, job_id):
    return host.read_tail(PurePosixPath("jobs", f"{job_id}.log"), max_bytes=10_000)


@pytest.fixture
def host(tmp_path):
    """A host whose every process is ended after the test."""
    mark = str(tmp_path)
    info = HostInfo(name="node1", role="node", address="127.0.0.1", facts={"machine": "here"})
    yield LocalHost(info, tmp_path / "node1", {"PLIMSOLL_TEST": mark})
    while left := marked("PLIMSOLL_TEST", mark):
        for process in left:
            os.kill(process.pid, signal.SIGKILL)
