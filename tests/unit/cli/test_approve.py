"""`plimsoll run` of a definition whose campaign a person must approve, as a user gives it."""

import json
import os
import pwd
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.unit.cli.commands import paid
from typer.testing import CliRunner, Result

from plimsoll.cli import cli
from plimsoll.domain.keys.trigger import Approve
from plimsoll.domain.text.errors import Refused
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.store.campaigns import CampaignStore


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    made = Installation(tmp_path, paid)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LOGNAME", "somebody-else")
    approve = Approve.model_validate({"above": "1 USD"})
    definition = instant_definition("demo", variants=1, loads=1).model_copy(update={"approve": approve})
    (tmp_path / "demo.yaml").write_text(dump_definition(definition))
    return made


def run(installation: Installation, *options: str) -> Result:
    return CliRunner().invoke(cli, ["run", str(installation.folder / "demo.yaml"), *options])


@pytest.mark.usefixtures("undrawn_reports")
def test_a_campaign_is_approved_by_who_runs_it_and_by_nobody_else(installation: Installation) -> None:
    refused = run(installation, "--new-campaign", "mine")
    assert isinstance(refused.exception, Refused)
    assert "campaign 'mine': " in str(refused.exception)
    assert "approval: is missing: it may cost" in str(refused.exception)
    assert "by `--approve`" in str(refused.exception)
    assert installation.toolkit.store.folders("") == ()
    assert installation.provider.provided() == 0

    ended = run(installation, "--new-campaign", "mine", "--approve")
    assert ended.exit_code == 0, ended.output
    [approval] = CampaignStore(installation.toolkit.store, "mine").approvals()
    assert approval.by == pwd.getpwuid(os.getuid()).pw_name
    assert str(approval) in " ".join(ended.output.split())

    assert str(approval) in " ".join(CliRunner().invoke(cli, ["status", "mine"]).output.split())
    status = json.loads(CliRunner().invoke(cli, ["status", "mine", "--json"]).stdout)
    assert status["approvals"] == [approval.model_dump(mode="json")]

    assert run(installation, "--campaign", "mine", "--cells", "v1-001k-r1").exit_code == 0  # it is on record
