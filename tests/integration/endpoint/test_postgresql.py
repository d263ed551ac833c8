"""A PostgreSQL that Plimsoll did not start is measured by pgbench, left as it was, and its password seen nowhere."""

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.integration.command_database.guide import AS_ONE
from tests.support.campaigns.running import run_cell, run_missing
from tests.support.nodes.their_postgresql import PASSWORD, TheirPostgresql
from tests.support.processes import until

from plimsoll.adapters.external import endpoint
from plimsoll.domain.text.errors import ProviderError
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.reaping import reap
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

DATABASES = "SELECT datname FROM pg_database ORDER BY datname"
CELL = "staging-00100-r1"
SILENCE = "(the program has printed nothing|nothing was answered)"


def texts(folder: Path) -> Iterator[str]:
    """Yield everything that lies in a folder, but what the test itself wrote there."""
    for parent, _, names in os.walk(folder):
        for name in names:
            yield (Path(parent) / name).read_bytes().decode(errors="replace")


def made(theirs: TheirPostgresql) -> list[str]:
    """Return the databases that are named as cells name theirs."""
    return [name for name in theirs.asked(DATABASES) if name.startswith("plimsoll_")]


def test_it_is_measured_and_left_as_it_was(
    tools: Any, definition: Any, theirs: TheirPostgresql, tmp_path: Path
) -> None:
    before, said, own, mine = theirs.asked(DATABASES), list[str](), definition(service_levels=AS_ONE), tools()
    assert problems(mine, own) == ()
    CampaignStore(mine.store, own.name).open(own)
    _, verdict = run_cell(mine, own.name, said.append)
    assert (verdict.outcome, verdict.reasons) == ("met", ())
    assert verdict.operations > 300
    fingerprint = layout.FINGERPRINT.read(mine.store, verdict.key)
    assert fingerprint is not None
    [node] = fingerprint.reported_nodes
    assert node.release_version in theirs.asked("SHOW server_version")
    assert set(node.facts) == {"shared_buffers", "max_connections"}
    assert theirs.asked(DATABASES) == before
    assert PASSWORD not in "".join([*said, *texts(tmp_path)])


@pytest.fixture
def under_load(tools: Any, definition: Any) -> Iterator[AttemptContext]:
    """Provide an attempt whose timed run has begun."""
    mine, own = tools(), definition(timing={"duration": "5m", "warmup": "2s"})
    CampaignStore(mine.store, own.name).open(own)
    work = begin(mine, own.name, CELL, "me")
    actions.provision(work)
    actions.deploy(work)
    loading.start_load(work)
    until(lambda: loading.poll_load(work).phase == "load", "the timed run")
    yield work
    actions.destroy(work)


def test_no_argument_has_the_password_and_no_file_but_one_in_memory(under_load: AttemptContext, tmp_path: Path) -> None:
    seen = [one for one in psutil.process_iter(["cmdline"]) if "pgbench" in " ".join(one.info["cmdline"] or ())]
    assert seen
    assert PASSWORD not in "\0".join(word for one in seen for word in one.info["cmdline"])
    [pgbench] = [one for one in seen if Path(one.info["cmdline"][0]).name == "pgbench"]
    assert pgbench.environ()["PGPASSWORD"] == PASSWORD
    assert Path(pgbench.environ()["PGSSLROOTCERT"]).stat().st_mode & 0o777 == 0o600
    assert PASSWORD not in "".join(texts(tmp_path))


def test_the_reaper_cleans_up_what_a_process_that_died_left_and_nothing_else(
    under_load: AttemptContext, theirs: TheirPostgresql
) -> None:
    theirs.asked("CREATE DATABASE plimsoll_of_somebody_else")
    try:
        assert len(made(theirs)) == 2
        reaped = reap(under_load.toolkit, lambda _: False)
        assert reaped.troubles == ()
        assert str(under_load.cluster_id) in map(str, [cluster.id for cluster in reaped.destroyed])
        assert made(theirs) == ["plimsoll_of_somebody_else"]
    finally:
        theirs.asked("DROP DATABASE plimsoll_of_somebody_else")


def test_a_load_that_nobody_answers_is_stopped_by_its_rule(
    tools: Any, definition: Any, theirs: TheirPostgresql, tmp_path: Path
) -> None:
    mine, said = tools(), list[str]()
    own = definition(timing={"duration": "60s", "warmup": "2s"}, stop_when=[{"errors": "5%", "within": "3s"}])
    CampaignStore(mine.store, own.name).open(own)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_missing, mine, own.name, "me", said.append)
        until(lambda: _is_answered(said), "the timed run")
        frozen = _processes(theirs)
        for process in frozen:
            process.suspend()
        try:
            until(lambda: list((tmp_path / "work-external").rglob("stopped.json")), "the end of the load")
        finally:
            for process in reversed(frozen):
                process.resume()
        [ran] = running.result()
    assert (ran.troubles, ran.remains) == ((), False)
    assert ran.verdict is not None
    assert ran.verdict.met is not True
    # pgbench on busy processors writes a line for more than a second, or none for a while
    assert re.search(rf"by `stop_when\[0\]`: {SILENCE}", ran.verdict.stopped)
    assert made(theirs) == []


def test_a_rule_that_one_of_several_load_hosts_breaks_ends_the_load_on_all(
    tools: Any, definition: Any, theirs: TheirPostgresql, tmp_path: Path
) -> None:
    """One of them is frozen, and so silent; the other, which is fine, is ended by the next look.

    They only read: frozen within a transaction, the one would keep its locks, and the other be answered nothing.
    """
    mine, said = tools(), list[str]()
    load_generator = definition().load_generator.model_dump(mode="json")
    command = load_generator["command"]
    reading = {**command, "run": command["run"].replace("--progress=1", "--progress=1 --builtin=select-only")}
    own = definition(
        timing={"duration": "5m", "warmup": "2s"},
        service_levels=[{"percentile": 99, "interval": "2s", "below": "30s"}],
        stop_when=[{"errors": "5%", "within": "3s"}],
        load_generator={**load_generator, "command": reading, "hosts": 2},
    )
    assert problems(mine, own) == ()
    CampaignStore(mine.store, own.name).open(own)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_missing, mine, own.name, "me", said.append)
        until(lambda: _is_answered(said), "the timed run")
        until(lambda: len(_loads(tmp_path)) == 2, "the programs of both hosts")
        [frozen, _] = sorted(_loads(tmp_path), key=lambda load: load.cwd())
        frozen.suspend()
        until(lambda: len(list((tmp_path / "work-external").rglob("stopped.json"))) == 2, "the end of both loads")
        [ran] = running.result()
    assert (ran.troubles, ran.remains) == ((), False)
    assert ran.verdict is not None
    # On busy processors the other one may stand still for as long
    assert re.search(rf"by `stop_when\[0\]`: load2?: {SILENCE}", ran.verdict.stopped)
    assert any(re.search(rf"a stop rule ends it: load2?: {SILENCE}", line) for line in said)
    assert ran.verdict.met is not True
    assert (_loads(tmp_path), made(theirs)) == ([], [])


def test_a_wrong_password_is_told_before_anything_is_made(
    tools: Any, definition: Any, theirs: TheirPostgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_PATIENCE", timedelta(seconds=2))
    mine, own = tools(password="of-somebody-else"), definition()
    CampaignStore(mine.store, own.name).open(own)
    work = begin(mine, own.name, CELL, "me")
    with pytest.raises(ProviderError, match=r"is not ready: .*password authentication failed") as refused:
        actions.provision(work)
    assert "of-somebody-else" not in str(refused.value)
    actions.destroy(work)
    assert made(theirs) == []


def _is_answered(said: list[str]) -> bool:
    """Tell whether pgbench has told a rate: before that it may still log in, and has 60 s for its first line."""
    return any(re.search(r"load, \d+ ops/s", line) for line in said)


def _loads(folder: Path) -> list[psutil.Process]:
    """Return the programs of the timed run that write into the folder, one of each load host."""
    own = f"--log-prefix={folder}/"
    running = psutil.process_iter(["name", "cmdline"])
    return [
        one
        for one in running
        if one.info["name"] == "pgbench" and any(word.startswith(own) for word in one.info["cmdline"] or ())
    ]


def _processes(theirs: TheirPostgresql) -> list[psutil.Process]:
    [server] = [one for one in psutil.process_iter(["cmdline"]) if f"port={theirs.port}" in (one.info["cmdline"] or ())]
    return [server, *server.children(recursive=True)]
