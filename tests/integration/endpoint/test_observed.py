"""Machines of a database of somebody else are looked at by a user who may only read, and left as they were."""

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns.running import run_cell
from tests.support.nodes.their_postgresql import NOBODY, TheirPostgresql
from tests.support.processes import end_marked
from tests.support.ssh.sshd import CONNECTION, KeyPair, Sshd, make_key, running_sshd
from tests.support.suite.requirements import leave_out

from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.tables import read_table

READER = "postgres"
"""A user of Debian's whose shell lets him in. The server of this test runs as another one."""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Provide a folder that every user may read."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)
        observed = Path("/var/tmp", Path(name).name)
        end_marked("PLIMSOLL_WORK", str(observed / "clusters"))
        shutil.rmtree(observed, ignore_errors=True)


@pytest.fixture
def key(tmp_path: Path) -> KeyPair:
    return make_key(tmp_path / "keys", "reader")


@pytest.fixture
def sshd(open_folder: Path, key: KeyPair) -> Iterator[Sshd]:
    if os.geteuid():
        leave_out("only root can let another user in")
    if READER not in {user.pw_name for user in pwd.getpwall()}:
        leave_out("no user postgres here: install Debian's postgresql")
    with running_sshd(open_folder / "sshd", [key.public], others=True) as server:
        yield server


@pytest.fixture
def observed(definition: Callable[..., Definition], sshd: Sshd, open_folder: Path) -> Callable[..., Definition]:
    """`observed(log, runs_as="…")`: the guide's definition, which looks at this machine and follows that log."""

    def made(log: Path, runs_as: str = str(NOBODY)) -> Definition:
        provider = definition().provider.model_dump(mode="json")
        host = {"address": sshd.address, "port": sshd.port, "host_key": sshd.host_key, "user": READER}
        folder = f"/var/tmp/{open_folder.name}"
        provider["options"]["observe"] = {
            "ssh": CONNECTION,
            "hosts": [host],
            "runs_as": runs_as,
            "logs": [str(log)],
            "folder": folder,
        }
        return definition(provider=provider)

    return made


@pytest.fixture
def mine(tools: Any, key: KeyPair, tmp_path: Path) -> Any:
    file = tmp_path / "key"
    file.write_text(key.private)
    return tools(ssh_key=file)


def test_it_is_measured_with_samples_of_its_machine_and_what_was_logged_meanwhile(
    mine: Any, observed: Callable[..., Definition], theirs: TheirPostgresql, open_folder: Path
) -> None:
    log = open_folder / "server.log"
    log.write_text("of before\n")
    own = observed(log)
    assert problems(mine, own) == ()
    assert not Path("/var/tmp", open_folder.name).exists()
    CampaignStore(mine.store, own.name).open(own)
    _, verdict = run_cell(mine, own.name, lambda _: _write(log))
    assert verdict.outcome == "met", verdict.reasons
    fingerprint = layout.FINGERPRINT.read(mine.store, verdict.key)
    assert fingerprint is not None
    [node] = fingerprint.nodes
    assert (node.host, node.facts.provider) == ("node1", {"runs_as": str(NOBODY)})
    samples = read_table(mine.store, verdict.key, "hosts")
    assert {"node1", "load"} <= set(samples["host"])
    taken = mine.store.read(layout.attempt_file(verdict.key, "raw/node1/database/1-server.log")).decode()
    assert set(taken.splitlines()) == {"of the cell"}
    assert not Path("/var/tmp", open_folder.name).exists()


def test_what_keeps_it_from_being_looked_at_is_told_before_anything_runs(
    mine: Any, observed: Callable[..., Definition], open_folder: Path
) -> None:
    secret = open_folder / "hidden.log"
    secret.write_text("of others\n")
    secret.chmod(0o600)
    told = [str(one) for one in problems(mine, observed(secret, runs_as="nobody-of-that-name"))]
    assert any("no process runs as nobody-of-that-name there" in one for one in told)
    assert any(f"{secret} can't be read" in one for one in told)
    assert all("provider.options.observe.hosts[0]" in one for one in told)


def test_a_machine_that_answers_no_more_takes_nothing_from_the_measurement(
    mine: Any, observed: Callable[..., Definition], sshd: Sshd, open_folder: Path
) -> None:
    log = open_folder / "server.log"
    log.touch()
    own = observed(log)
    CampaignStore(mine.store, own.name).open(own)

    def cut(line: str) -> None:
        if "load, " in line:
            sshd.stop()

    _, verdict = run_cell(mine, own.name, cut)
    assert verdict.outcome == "met", verdict.reasons
    assert any("nothing was collected from node1" in warning for warning in verdict.warnings)
    [left] = Path("/var/tmp", open_folder.name, "clusters").glob("*/*/*")
    assert left.is_dir()


def _write(log: Path) -> None:
    with log.open("a") as file:
        file.write("of the cell\n")
