"""A controller is killed while its load runs: the load ends, and what it left is told and removed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
from tests.integration.external.conftest import KEYSPACE
from tests.support.nodes.guarded import Guarded
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.services.definitions.reference import dump_definition

PLIMSOLL = str(Path(sys.executable).with_name("plimsoll"))


def loads(folder: Path) -> list[psutil.Process]:
    """Return the load generators that write into the folder: tests of other processes start some, too."""
    every = psutil.process_iter(["cmdline"])
    own = [one for one in every if f"{folder}/" in " ".join(one.info["cmdline"] or ())]
    return [one for one in own if "--access-on-stdin" in one.info["cmdline"]]


@long("a load that nobody watches ends, and the reaper drops what is left, in other tests")
def test_a_load_that_nobody_watches_ends_by_itself_and_its_keyspace_is_removed_by_name(
    site: Any, definition: Any, theirs: Guarded, tmp_path: Path
) -> None:
    settings, before = site().settings, theirs.state()
    own = definition(timing={"duration": "20m", "warmup": "2s"}, name="killed")
    (tmp_path / "killed.yaml").write_text(dump_definition(own))
    given = {
        "store": settings.store,
        "work": settings.work,
        "cache": settings.cache,
        "database_user": settings.database_user,
        "database_password": settings.database_password.get_secret_value(),
        **{f"database_{name}": tmp_path / name for name in ("authority", "certificate", "key")},
    }
    environment = {**os.environ, **{f"PLIMSOLL_{name.upper()}": str(value) for name, value in given.items()}}

    def plimsoll(*words: str) -> tuple[int, str]:
        argv = [PLIMSOLL, *words]
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    run = [PLIMSOLL, "run", str(tmp_path / "killed.yaml")]
    log = tmp_path / "run.log"
    with log.open("wb") as said:
        controller = subprocess.Popen(run, env=environment, stdout=said, stderr=said)
    try:
        [load] = until(lambda: loads(tmp_path), lambda: f"a load: {log.read_text()}")
        until(
            lambda: [*Path(settings.work.parent).glob("work-external/**/load/progress.jsonl")], "a second of the load"
        )
        core = (Path("/proc") / str(load.pid) / "limits").read_text().split("Max core file size")[1].split()[:2]
        assert core == ["0", "0"]
        assert "-XX:-CreateCoredumpOnCrash" in load.cmdline()
    finally:
        controller.send_signal(signal.SIGKILL)
        controller.wait()
    until(lambda: not loads(tmp_path), "the end of a load that nobody watches")
    summary = json.loads(next(Path(settings.work.parent).glob("work-external/**/load/summary.json")).read_text())
    assert (summary["complete"], summary["reason"]) == (False, "nobody has looked at the load for 60 s")

    code, said_of_clusters = plimsoll("clusters", "list", "--json")
    [cluster] = json.loads(said_of_clusters)
    name = f"{cluster['id']['campaign_id']}/{cluster['id']['name']}"
    assert code == 0, said_of_clusters
    code, plan = plimsoll("plan", str(tmp_path / "killed.yaml"))
    assert (code, f"plimsoll clusters destroy {name}" in " ".join(plan.split())) == (2, True), plan
    assert {"keyspace_name": KEYSPACE} in theirs.state()["keyspaces"]
    assert plimsoll("clusters", "destroy", name) == (0, f"destroyed {name}\n")
    assert plimsoll("clusters", "list") == (0, "no cluster is alive\n")
    assert theirs.state() == before
