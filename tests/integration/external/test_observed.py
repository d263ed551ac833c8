"""The machine of a cluster of somebody else is looked at: its samples, its own log and its JVM's pauses are known."""

import getpass
from pathlib import Path
from typing import Any

from tests.integration.external.conftest import NODES
from tests.support.campaigns.running import run_cell
from tests.support.nodes.guarded import Guarded
from tests.support.ssh.sshd import CONNECTION, make_key, running_sshd

from plimsoll.bootstrap import full_toolkit
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.tables import read_table


def test_pauses_and_samples_of_its_machine_are_known(
    site: Any, definition: Any, theirs: Guarded, tmp_path: Path
) -> None:
    key, node = make_key(tmp_path / "keys", "reader"), theirs.nodes[0]
    logs, folder = node.root / "cassandra" / "logs", str(tmp_path / "observed")
    tools = full_toolkit(site().settings.model_copy(update={"ssh_key": tmp_path / "keys" / "reader"}))
    with running_sshd(tmp_path / "sshd", [key.public]) as sshd:
        reached = {"ssh_address": sshd.address, "port": sshd.port, "host_key": sshd.host_key, "user": getpass.getuser()}
        observe = {
            "ssh": CONNECTION,
            "hosts": [{"address": node.info.address, **reached, "facts": {"rack": "7"}}],
            "runs_as": getpass.getuser(),
            "gc_log": f"{logs}/gc.log*",
            "log": {"path": f"{logs}/system.log", "of": "cassandra"},
            "folder": folder,
        }
        own = definition(options={"observe": observe}, timing={"duration": "30s", "warmup": "2s"})
        assert problems(tools, own) == ()
        CampaignStore(tools.store, own.name).open(own)
        ran, verdict = run_cell(tools, own.name, lambda _: None)
    assert (verdict.outcome, verdict.reasons) == ("met", ())
    assert not Path(folder).exists()
    untested = {check.name for check in verdict.checks if not check.tested}
    known = {"hardware", "logs and GC logs"}  # of one machine, which may not be all
    assert known & untested == (set() if NODES == 1 else known)
    jvms = read_table(tools.store, ran.work.key, "jvms")
    assert list(jvms["host"]) == ["node1"]
    assert set(read_table(tools.store, ran.work.key, "hosts")["host"]) == {"node1", "load"}
