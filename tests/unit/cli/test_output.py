"""What the commands print for people."""

import sys

import pytest
from typer.testing import CliRunner

from plimsoll.cli import _COMMANDS, cli
from plimsoll.cli.output import print_table


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_stands_where_the_table_says(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0
    assert f" {name} [OPTIONS]" in result.output


def test_a_table_shows_text_as_it_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    written = "no connection to [/127.0.0.1:9042]; [bold]see :smile: [red]log[/red]"

    print_table(f"T {written}", (f"H {written}",), [(written,), (None,)])

    out = capsys.readouterr().out
    assert f"T {written}" in out
    assert f"┃ H {written} ┃" in out
    assert f"│ {written}  " in out
    assert "│ None " in out


NAME = "campaign/" + "-".join(f"part{number}" for number in range(60))


def test_a_name_is_whole_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("T", ("name", "other"), [(NAME, NAME[::-1])])
    assert f"│ {NAME} │ {NAME[::-1]} │" in capsys.readouterr().out


def test_a_narrow_terminal_breaks_names_and_drops_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    print_table("T", ("name",), [(NAME,)])
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if line.startswith("│")) <= 40
    assert "".join(line.strip("│ ") for line in lines if line.startswith("│")) == NAME
