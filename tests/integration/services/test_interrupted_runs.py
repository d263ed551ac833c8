"""`plimsoll run` as processes that are ended, killed, and started twice at once."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.processes import PATIENCE_S

CHECKOUT = Path(__file__).resolve().parents[3]
PLIMSOLL = [sys.executable, "-c", "from plimsoll.cli import app; app()"]
RUN = ("run", "instant", "--campaign", "mine", "--cells", "v1-001k-r1")


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    definition = instant_definition(variants=1, loads=2, load_s=600)
    made.define(definition)
    made.open_campaign(definition, "mine")
    return made


@contextmanager
def started(installation: Installation) -> Iterator[subprocess.Popen[str]]:
    """Start a run, and yield it when its cell is under load."""
    environment = {**os.environ, **installation.environment, "PYTHONUNBUFFERED": "1"}
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*PLIMSOLL, *RUN], cwd=CHECKOUT, env=environment, **pipes) as process:
        try:
            for line in process.stdout or ():
                if "ops/s" in line:
                    break
            else:
                pytest.fail((process.stderr and process.stderr.read()) or "it ended and said nothing")
            yield process
        finally:
            process.kill()


def plimsoll(installation: Installation, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **installation.environment}
    return subprocess.run(
        [*PLIMSOLL, *arguments], cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def cell(installation: Installation) -> dict[str, Any]:
    """Return the cell, as `plimsoll status` tells it."""
    status = json.loads(plimsoll(installation, "status", "mine", "--json").stdout)
    [found] = [one for one in status["cells"] if one["attempt"]]
    return dict(found)


def test_a_second_run_is_refused_while_the_first_lives_and_goes_on_once_it_was_killed(
    installation: Installation,
) -> None:
    with started(installation) as first:
        second = plimsoll(installation, *RUN)

        assert second.returncode == 2
        assert re.search(rf"is being run by process {first.pid} on \S+, since \d{{4}}-", second.stderr)
        assert (first.poll(), cell(installation)["state"]) == (None, "running")
        assert installation.attempts("mine") == {"v1-001k-r1": [1]}

        first.send_signal(signal.SIGKILL)
        first.wait()

    after = cell(installation)
    assert after["state"] == "failed"
    assert f"process {first.pid} on " in after["reason"]
    assert "has ended" in after["reason"]

    with started(installation):
        assert installation.attempts("mine") == {"v1-001k-r1": [1, 2]}
        assert [found.id.number for found in installation.provider.clusters()] == [2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_leaves_no_cluster_and_says_how_to_go_on(
    installation: Installation, number: signal.Signals
) -> None:
    with started(installation) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    assert "plimsoll clusters destroy mine/v1-001k-r1/1" in out
    assert "To go on where it was: plimsoll run instant --campaign mine" in err
    assert "Traceback" not in out + err
    assert installation.provider.clusters() == []
    after = cell(installation)
    assert (after["state"], after["reason"]) == ("failed", "cancelled by a signal, such as Ctrl-C")
