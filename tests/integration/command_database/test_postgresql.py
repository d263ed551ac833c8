"""A cell of the PostgreSQL that the guide measures, by its own commands: a real server and a real pgbench."""

import os
import re
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.integration.command_database.guide import guided, run
from tests.support.processes import until

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout
from plimsoll.services.store.layout import folder_of
from plimsoll_airflow.local.database import program

DEBIAN = "/usr/lib/postgresql/15/bin"
NOBODY = "65534"
AS_NOBODY = (
    f"exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --securebits=+no_setuid_fixup "
    "--inh-caps=+dac_override --ambient-caps=+dac_override --"
)
"""PostgreSQL refuses to run as root."""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Provide a folder with PostgreSQL's programs, which root runs as another user."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("initdb", "postgres", "pg_isready", "pgbench"):
        own = folder / name
        if os.geteuid() != 0 or name in ("pg_isready", "pgbench"):
            own.symlink_to(program(name))
            continue
        made = 'data=${1#--pgdata=}; install --directory --mode=700 --owner=65534 "$data"' if name == "initdb" else ":"
        own.write_text(f'#!/bin/sh\n{made}\n{AS_NOBODY} {program(name)} "$@"\n')
        own.chmod(0o755)
    return folder


def release() -> str:
    """Return the release of these programs."""
    told = subprocess.run([program("postgres"), "--version"], capture_output=True, text=True, check=True, timeout=60)
    return told.stdout.split()[2]


def postgresql(programs: Path, **changes: Any) -> Definition:
    """Return the guide's definition as one short cell of these programs, with keys changed."""
    return guided("postgresql", {DEBIAN: str(programs), "15.18": release()}, {"scale": 1}, **changes)


def test_a_cell_of_the_guide_s_postgresql_runs_to_its_judged_verdict(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    said: list[str] = []

    tools, verdict = run(postgresql(programs), tmp_path, said.append)

    assert verdict.reasons == ()
    assert verdict.operations > 100
    intervals = attempt_data(tools.store, verdict).intervals
    assert len(intervals[intervals["phase"] == "judged"]) == 3
    assert not verdict.may_omit, "pgbench counts from the scheduled start"
    fingerprint = layout.FINGERPRINT.read(tools.store, verdict.key)
    assert fingerprint is not None
    assert fingerprint.nodes[0].processes[0].version.startswith("postgres (PostgreSQL) ")
    assert any(re.search(r"load, \d+ ops/s", line) for line in said), "pgbench's rate is told while it runs"
    kept = set(tools.store.keys(f"{folder_of(verdict.key)}/raw"))
    assert any(name.endswith("node1/command/command.log") for name in kept)


@pytest.fixture
def measured(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Verdict]:
    """`measured(definition, said)`: the verdict of its only cell, whose progress goes to `said`."""
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    return lambda own, said: run(own, tmp_path, said.append)[1]


def test_a_postgresql_beyond_its_limit_has_missed(programs: Path, measured: Callable[..., Verdict]) -> None:
    level = {"percentile": 99, "interval": "2s", "below": "50ms"}
    verdict = measured(postgresql(programs, loads=["200000/s"], service_levels=[level]), [])
    assert verdict.reasons == ()
    assert verdict.outcome == "missed"
    assert verdict.rate_achieved is False


def test_a_postgresql_that_stands_still_has_missed(
    programs: Path, measured: Callable[..., Verdict], tmp_path: Path
) -> None:
    said: list[str] = []
    timing, level = {"duration": "14s", "warmup": "2s"}, {"percentile": 90, "interval": "2s", "below": "1s"}
    own = postgresql(programs, timing=timing, service_levels=[level])

    with ThreadPoolExecutor(1) as pool:
        freezing = pool.submit(freeze, tmp_path, said, seconds=5)
        verdict = measured(own, said)
        freezing.result()
    assert verdict.reasons == ()
    assert verdict.outcome == "missed"


def test_a_rule_ends_the_load_of_a_postgresql_that_stands_still(
    programs: Path, measured: Callable[..., Verdict], tmp_path: Path
) -> None:
    said: list[str] = []
    generator = postgresql(programs).load_generator.model_dump(mode="json")
    pattern = r"progress: [0-9.]+ s, (?P<rate>[0-9.]+) tps, .*?(?P<errors>\d+) failed"
    generator["command"] |= {"progress": pattern, "stop_signal": "INT"}
    changes = {"load_generator": generator, "stop_when": [{"errors": "5%", "within": "3s"}]}
    own = postgresql(programs, timing={"duration": "60s", "warmup": "2s"}, **changes)

    with ThreadPoolExecutor(1) as pool:
        freezing = pool.submit(freeze, tmp_path, said, seconds=12)
        verdict = measured(own, said)
        freezing.result()
    assert not [reason for reason in verdict.reasons if "covered by the logs" in reason]
    assert verdict.met is not True
    # pgbench on busy processors writes a line for more than a second, or none for a while
    silence = "(nothing was answered|the program has printed nothing)"
    assert re.search(rf"by `stop_when\[0\]`: {silence}", verdict.stopped)


def freeze(folder: Path, said: list[str], seconds: float) -> None:
    """Stop every process of the PostgreSQL in the folder for so long, once its load has begun."""
    until(lambda: any(re.search(r"load, \d+ ops/s", line) for line in said), "the timed run")
    [of_server] = folder.glob("work/**/postmaster.pid")
    server = psutil.Process(int(of_server.read_text().split()[0]))
    every = [server, *server.children(recursive=True)]
    for one in every:
        one.suspend()
    time.sleep(seconds)
    for one in reversed(every):
        with suppress(psutil.NoSuchProcess):  # its cell may be over
            one.resume()
