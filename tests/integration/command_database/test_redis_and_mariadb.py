"""Cells of the guide's Redis and MariaDB, by its own commands: real servers and real load generators."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.command_database.guide import AS_ONE, REDIS_LOAD, guided, need, run

from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store.layout import folder_of


def release(*version: str) -> str:
    """Return the release that a program of this machine tells."""
    told = subprocess.run(version, capture_output=True, text=True, check=True, timeout=60).stdout
    found = re.search(r"\d+\.\d+\.\d+", told)
    assert found is not None
    return found[0]


def test_a_cell_of_the_guide_s_redis_runs_to_its_judged_verdict(tmp_path: Path) -> None:
    need("redis-server", "redis-cli")
    words = {"/opt/redis-load.py": str(REDIS_LOAD), "python3": sys.executable}
    words["7.0.15"] = release("redis-server", "--version")

    tools, verdict = run(guided("redis", words, {"rows": "1k"}, service_levels=AS_ONE), tmp_path, print)

    assert verdict.valid, verdict.reasons
    assert verdict.met
    assert not verdict.may_omit, "the script counts from when operations were due"
    assert not verdict.errors
    assert verdict.operations == pytest.approx(600, rel=0.2)
    intervals = attempt_data(tools.store, verdict).intervals
    assert set(intervals["operation"]) == {"all", "reads", "writes"}


def test_two_load_hosts_share_a_load_of_the_guide_s_redis(tmp_path: Path) -> None:
    need("redis-server", "redis-cli")
    words = {"/opt/redis-load.py": str(REDIS_LOAD), "python3": sys.executable, "threads: 1": "hosts: 2\n  threads: 1"}
    words["7.0.15"] = release("redis-server", "--version")

    # Beside other tests one program may begin a second after the other: 5 % of an interval is allowed.
    level = {"percentile": 99, "interval": "40s", "below": "30s"}
    own = guided("redis", words, {"rows": "1k"}, timing={"duration": "44s", "warmup": "4s"}, service_levels=[level])
    tools, verdict = run(own, tmp_path, print)

    assert verdict.valid, verdict.reasons
    assert verdict.operations == pytest.approx(4_000, rel=0.2)
    logs = [key for key in tools.store.keys(f"{folder_of(verdict.key)}/raw") if key.endswith("times.csv")]
    assert sorted(key.split("/")[-2] for key in logs) == ["load", "load2"]


def test_a_cell_of_the_guide_s_mariadb_runs_to_its_judged_verdict(tmp_path: Path) -> None:
    need("mariadbd", "mariadb-install-db", "mariadb-admin", "sysbench")
    words = {"10.11.19": release("mariadbd", "--version"), "--report-interval=10": "--report-interval=2"}
    if os.geteuid() == 0:
        words["--no-defaults --datadir"] = "--no-defaults --user=root --datadir"

    _, verdict = run(guided("mariadb", words, {"rows": "1k"}, loads=["20/s"]), tmp_path, print)

    # It draws its schedule at random, so of so few operations 1 % may be missing.
    assert set(verdict.invalidated_by) <= {"load generator", "rate"}, verdict.reasons
    assert verdict.operations > 20
    assert verdict.levels[0].judged == 3
