"""The commands as a user gives them, on instant fakes behind the ports."""

from functools import partial
from pathlib import Path

import pytest
from tests.unit.cli.commands import INSTANT, Command, run_command, settings_in


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings_in(tmp_path).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "instant.yaml").write_text(INSTANT)


@pytest.fixture
def plimsoll(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, installation: None) -> Command:
    """Run the command as the console script does."""

    return partial(run_command, monkeypatch, capsys)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, installation: None) -> None:
    """Provide an installation that has the EC2 provider, but no credentials."""
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", "tests.unit.cli.commands:without_credentials")


@pytest.fixture(autouse=True)
def _undrawn(undrawn_reports: None) -> None:
    """Draw no charts."""
