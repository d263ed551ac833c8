"""`plimsoll run` on hosts that are kept, killed in the middle of each step and started again.

One campaign's command is killed in all steps, one after the other, and others' in one step each.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fakes.gated import Gates, toolkit
from tests.fakes.installation import Installation, instant_definition
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

PLIMSOLL = [sys.executable, "-c", "from plimsoll.cli import app; app()"]
RUN = ("run", "instant", "--campaign", "mine")
FIRST, SECOND = "v1-001k-r1", "v1-002k-r1"
HOSTS = "hosts"
_PATIENCE_S = 600
STEPS = [(HOSTS, "keep"), (SECOND, "start"), (HOSTS, "release"), (HOSTS, "destroy")]
"""`keep`: what others have left on the hosts is gone, the attempt has not begun. `release`: its own is gone."""
KILLS = [STEPS, *([step] for step in STEPS)]


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path, toolkit)
    plain = instant_definition(variants=1, loads=2, parallel=1)
    definition = plain.model_copy(update={"cluster_scope": "campaign"})
    made.define(definition)
    made.open_campaign(definition, "mine")
    return made


def start(installation: Installation) -> "subprocess.Popen[str]":
    environment = {**os.environ, **installation.environment}
    pipe = subprocess.PIPE
    checkout = Path(__file__).resolve().parents[3]
    return subprocess.Popen([*PLIMSOLL, *RUN], cwd=checkout, env=environment, stdout=pipe, stderr=pipe, text=True)


@long("cells on kept hosts are killed in every step in reliability")
@pytest.mark.parametrize("steps", KILLS, ids=lambda steps: "-".join(step for _, step in steps))
def test_the_same_command_goes_on_with_the_same_hosts_and_leaves_none(
    installation: Installation, steps: Sequence[tuple[str, str]]
) -> None:
    for whose, step in steps:
        kill_in(installation, whose, step)

    with start(installation) as last:
        out, err = last.communicate(timeout=_PATIENCE_S)

    assert last.returncode == 0, out + err
    campaign = CampaignStore(installation.toolkit.store, "mine")
    valid = [verdict for verdict in campaign.verdicts() if verdict.valid]
    assert sorted(verdict.cell.id for verdict in valid) == [FIRST, SECOND]
    fingerprints = [layout.FINGERPRINT.read(campaign.store, verdict.key) for verdict in valid]
    assert {one and one.cluster for one in fingerprints} == {"hosts/1"}
    assert installation.provider.journal() == ["+ mine/hosts/1", "- mine/hosts/1"]


def kill_in(installation: Installation, whose: str, step: str) -> None:
    """Start the command, and kill it when it has come to that step."""
    gates = Gates(installation.folder / "work" / "gates")
    gates.close(f"mine~{whose}", step)
    with start(installation) as process:

        def has_come() -> bool:
            assert process.poll() is None, process.communicate()
            return any(one.phase == step for one in gates.arrivals())

        until(has_come, f"{step} of {whose}", patience_s=_PATIENCE_S)
        process.send_signal(signal.SIGKILL)
    gates.open(f"mine~{whose}", step)
