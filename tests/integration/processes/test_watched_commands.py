"""A program that others made is ended by its own signal once what it prints breaks a rule."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.support.processes import until

from plimsoll.adapters.generators.command import starter, watcher

RULE = {"share": 5.0, "percentile": None, "above_ms": None, "within_s": 2.0}
PROGRAM = """
import signal, sys, time
def end(number, _):
    open("ended", "w").write(signal.Signals(number).name)
    sys.exit(3)
signal.signal(signal.SIGINT, end)
signal.signal(signal.SIGTERM, end)
for number in range(int(sys.argv[1])):
    print(f"{number} s: 100 ops/s, {sys.argv[2]} failed", flush=True)
    time.sleep(0.6)
"""


@pytest.fixture
def watched(tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """`watched(lines, failed)`: the watcher of a program that prints so many lines with so many failures each."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def start(lines: int, failed: int, **asked: Any) -> subprocess.Popen[bytes]:
        pattern = r"(?P<rate>\d+) ops/s, (?P<errors>\d+) failed"
        rules = {"pattern": pattern, "console": "console", "rules": [RULE], "signal": "INT", "duration_s": 60}
        rules |= {"lease": None, "lease_s": 2, "end": None, **asked}
        (tmp_path / "rules.json").write_text(json.dumps(rules))
        argv = [sys.executable, "-I", "-S", "-B", watcher.__file__, str(tmp_path / "rules.json"), "--"]
        program = [sys.executable, "-I", str(tmp_path / "program.py"), str(lines), str(failed)]
        with (tmp_path / "console").open("wb") as console:
            return subprocess.Popen([*argv, *program], cwd=tmp_path, stdout=console, stderr=console)

    return start


def test_a_broken_rule_ends_the_program_by_its_own_signal(
    watched: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    assert watched(1000, 20).wait(60) == 0
    told = json.loads((tmp_path / watcher.STOPPED).read_text())
    # On busy processors a line is about more than 0.6 s, the first perhaps about all 2; or the program stands still
    assert told["rule"] == 0
    assert re.search(r"of the operations of \d+ s failed|has printed nothing", told["why"])
    assert told["seconds"] > 2.0
    assert (tmp_path / "ended").read_text() == "SIGINT"


def test_a_program_that_keeps_the_rules_ends_by_itself_with_its_own_exit_code(
    watched: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    assert watched(3, 1).wait(60) == 0
    stopped = tmp_path / watcher.STOPPED
    # The rule is broken by a program that stands still, as one may on busy processors
    assert not stopped.exists() or "has printed nothing" in stopped.read_text()
    stopped.unlink(missing_ok=True)
    (tmp_path / "program.py").write_text("import sys; sys.exit(7)")
    assert watched(0, 0).wait(60) == 7
    assert not stopped.exists()


def test_who_ends_the_watcher_ends_the_program(watched: Callable[..., subprocess.Popen[bytes]], tmp_path: Path) -> None:
    watching = watched(1000, 0)
    until((tmp_path / watcher.FIGURES).exists, "the first line")
    assert json.loads((tmp_path / watcher.FIGURES).read_text())["rate"] == 100.0
    [program] = psutil.Process(watching.pid).children()
    watching.send_signal(signal.SIGTERM)
    assert watching.wait(60) == 3
    assert (tmp_path / "ended").read_text() == "SIGTERM"
    assert not program.is_running()


def test_a_program_that_nobody_watches_is_ended(
    watched: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    (tmp_path / "lease").touch()
    watching = watched(1000, 0, lease="lease", pattern=None, rules=[])
    renewed = [time.monotonic()]
    for _ in range(6):
        (tmp_path / "lease").touch()
        time.sleep(0.5)
        renewed.append(time.monotonic())
    # This process may stand still for as long as the lease, less the watcher's pause
    assert watching.poll() is None or max(after - before for before, after in pairwise(renewed)) > 1.4
    assert watching.wait(60) == 143
    assert (tmp_path / "ended").read_text() == "SIGINT"
    assert "nobody has watched this load for 2 s" in (tmp_path / "console").read_text()


@pytest.mark.parametrize(("told_s", "code"), [(2.0, 0), (-5.0, 1)])
def test_a_host_begins_at_the_common_start_or_not_at_all(tmp_path: Path, told_s: float, code: int) -> None:
    waiting = subprocess.Popen([sys.executable, "-I", starter.__file__, "start.json"], cwd=tmp_path)
    assert waiting.poll() is None
    start = time.time() + told_s
    (tmp_path / "part").write_text(json.dumps({"local": start}))
    (tmp_path / "part").rename(tmp_path / "start.json")
    ended = waiting.wait(60)
    # A host on busy processors may hear of it more than a second late, and must not begin then
    assert ended == code or (ended, time.time() > start + 1.0) == (1, True)
    assert ended or time.time() >= start
