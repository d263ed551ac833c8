"""Processes may end by themselves while tests look at them or end them."""

import subprocess

import psutil
import pytest
from tests.support import processes


@pytest.fixture
def gone() -> psutil.Process:
    """A process that has ended."""
    with subprocess.Popen(["true"]) as started:
        return psutil.Process(started.pid)


def test_a_process_that_ended_meanwhile_is_no_error(gone: psutil.Process, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([[gone], []])
    monkeypatch.setattr(processes, "marked", lambda *_: next(looks))
    processes.end_marked("PLIMSOLL_TEST", "of-nobody")
    assert not list(looks)


def test_a_process_that_has_ended_has_no_command_line(gone: psutil.Process) -> None:
    assert processes.command_line(gone) == []
    assert processes.command_line(psutil.Process())
