"""What the commands print for people."""

import pytest

from plimsoll.cli.output import print_table


def test_a_table_shows_text_as_it_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    written = "no connection to [/127.0.0.1:9042]; [bold]see :smile: [red]log[/red]"

    print_table(f"T {written}", (f"H {written}",), [(written,), (None,)])

    out = capsys.readouterr().out
    assert f"T {written}" in out
    assert f"┃ H {written} ┃" in out
    assert f"│ {written}  " in out
    assert "│ None " in out
