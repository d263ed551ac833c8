"""A cell of the PostgreSQL that the guide measures, by its own commands: a real server and a real pgbench."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.integration.command_database.guide import guided, run

from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import read_fingerprint
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


def test_a_cell_of_the_guide_s_postgresql_runs_to_its_judged_verdict(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    own = guided("postgresql", {DEBIAN: str(programs), "15.18": release()}, scale=1)
    said: list[str] = []

    tools, verdict = run(own, tmp_path, said.append)

    if not verdict.valid:  # it draws its schedule at random, so of so few operations 1 % may be missing
        assert verdict.invalidated_by == ("load generator",)
    assert verdict.operations > 100
    intervals = attempt_data(tools.store, verdict).intervals
    assert len(intervals[intervals["phase"] == "judged"]) == 3
    assert not verdict.may_omit, "pgbench counts from the scheduled start"
    fingerprint = read_fingerprint(tools.store, verdict.key)
    assert fingerprint is not None
    assert fingerprint.nodes[0].processes[0].version.startswith("postgres (PostgreSQL) ")
    assert any(re.search(r"load, \d+ ops/s", line) for line in said), "pgbench's rate is told while it runs"
    kept = set(tools.store.keys(f"{layout.attempt_prefix(verdict.key)}/raw"))
    assert any(name.endswith("node1/command/command.log") for name in kept)
