"""A cluster of somebody else is measured, and found as it was."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.integration.external.conftest import KEYSPACE
from tests.support.campaigns.running import run_cell
from tests.support.nodes.guarded import PASSWORD, Guarded
from tests.support.processes import until
from tests.support.suite.requirements import IS_LONG, long

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.text.errors import ProviderError
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.cell import actions, loading, preflight
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.reaping import reap
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

CELL = "theirs-00100-r1"
READS = {
    "name": "cql",
    "replication_factor": 1,
    "operations": [{"name": "reads", "share": 1, "statement": "SELECT name FROM people WHERE name = 'Ada'"}],
}


@pytest.fixture
def before(theirs: Guarded) -> Any:
    return theirs.state()


def run(tools: Any, own: Any, said: list[str]) -> tuple[AttemptContext, Verdict]:
    assert problems(tools, own) == ()
    CampaignStore(tools.store, own.name).open(own)
    ran, verdict = run_cell(tools, own.name, said.append)
    return ran.work, verdict


def texts(folder: Path) -> Iterator[str]:
    """Yield everything that lies in a folder."""
    for parent, _, names in os.walk(folder):
        for name in names:
            yield (Path(parent) / name).read_bytes().decode(errors="replace")


@pytest.mark.parametrize("hosts", [pytest.param(1, marks=long("two load hosts do all that one does")), 2])
def test_it_is_measured_and_left_as_it_was(
    site: Any, definition: Any, theirs: Guarded, before: Any, tmp_path: Path, hosts: int
) -> None:
    said: list[str] = []
    generator = {"threads": 2, "heap": "128M", "hosts": hosts}
    work, verdict = run(site().tools, definition(load_generator=generator), said)
    assert (verdict.outcome, verdict.reasons) == ("met", ())
    fingerprint = layout.FINGERPRINT.read(work.toolkit.store, work.key)
    assert fingerprint is not None
    assert {node.address: node.release_version for node in fingerprint.reported_nodes} == dict.fromkeys(
        theirs.addresses, "4.0.1"
    )
    untested = {check.name for check in verdict.checks if not check.tested}
    assert {"JVM", "JVM flags", "hardware", "logs and GC logs", "nodes up"} <= untested
    assert theirs.state() == before
    assert PASSWORD not in "".join([*said, *texts(tmp_path / "store")])


@long("a cell with a keyspace of its own leaves all as it was")
def test_a_keyspace_of_theirs_is_read_and_left_as_it_was(
    site: Any, definition: Any, theirs: Guarded, before: Any
) -> None:
    options = {"keyspace": {"existing": "theirs", "read_only": True}}
    _, verdict = run(site().tools, definition(options=options, workload=READS), [])
    assert (verdict.outcome, verdict.reasons) == ("met", ())
    assert verdict.operations > 500
    assert theirs.state() == before


@pytest.fixture
def under_load(site: Any, definition: Any) -> Any:
    """An attempt whose load runs."""
    tools, own = site().tools, definition(timing={"duration": "5m", "warmup": "2s"}, name="long")
    CampaignStore(tools.store, own.name).open(own)
    work = begin(tools, own.name, CELL, "me")
    actions.provision(work)
    actions.deploy(work)
    loading.start_load(work)
    yield work
    actions.destroy(work)


def test_no_other_process_sees_how_a_load_logs_in(under_load: AttemptContext, tmp_path: Path) -> None:
    every = psutil.process_iter(["cmdline"])
    # By its own folder, too: tests of other processes start such programs
    own = [one for one in every if f"{tmp_path}/" in " ".join(one.info["cmdline"] or ())]
    [load] = [one for one in own if "--access-on-stdin" in one.info["cmdline"]]
    assert PASSWORD not in "\0".join([*load.cmdline(), *load.environ().values()])
    assert PASSWORD not in "".join(texts(tmp_path))


def test_a_load_that_somebody_cancels_is_stopped_at_once(under_load: AttemptContext) -> None:
    until(lambda: loading.poll_load(under_load).phase == "load", "the timed run")
    began = time.monotonic()
    loading.stop_load(under_load)
    took_s = time.monotonic() - began
    assert took_s < (2 if IS_LONG else 20)  # beside other tests
    assert loading.poll_load(under_load).state == "failed"


def test_what_a_process_that_died_left_is_dropped_by_the_reaper(
    under_load: AttemptContext, theirs: Guarded, definition: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {"keyspace_name": KEYSPACE} in theirs.state()["keyspaces"]
    CampaignStore(under_load.toolkit.store, "other").open(definition(name="other"))
    second = begin(site().tools, "other", CELL, "me")
    monkeypatch.setattr(preflight, "_LONGEST_TURN", timedelta(0))
    with pytest.raises(ProviderError, match="is loaded by long/"):
        actions.provision(second)
    # As a cell of another store, which waits for nobody here
    monkeypatch.setattr(actions, "await_turn", lambda _: datetime.now(UTC))
    with pytest.raises(ProviderError, match="is in use by long/"):
        actions.provision(second)
    reaped = reap(under_load.toolkit, lambda _: False)
    assert reaped.troubles == ()
    assert str(under_load.cluster_id) in map(str, [cluster.id for cluster in reaped.destroyed])
    assert {"keyspace_name": KEYSPACE} not in theirs.state()["keyspaces"]
