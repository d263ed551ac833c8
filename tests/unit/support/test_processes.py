"""Processes of tests are ended even if some end by themselves meanwhile."""

import subprocess

import psutil
import pytest
from tests.support import processes


def test_a_process_that_ended_meanwhile_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["true"]) as started:
        gone = psutil.Process(started.pid)
    looks = iter([[gone], []])
    monkeypatch.setattr(processes, "marked", lambda *_: next(looks))
    processes.end_marked("PLIMSOLL_TEST", "of-nobody")
    assert not list(looks)
