"""The commands as a user gives them, on instant fakes behind the ports."""

from pathlib import Path

import pytest
from tests.unit.cli.commands import INSTANT, Command, Ended, settings_in

from plimsoll import cli


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings_in(tmp_path).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "instant.yaml").write_text(INSTANT)


@pytest.fixture
def plimsoll(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, installation: None) -> Command:
    """Run the command as the console script does."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr("sys.argv", ["plimsoll", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.app()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, installation: None) -> None:
    """An installation that has the EC2 provider, but no credentials."""
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", "tests.unit.cli.commands:without_credentials")
