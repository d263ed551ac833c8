"""What the launcher writes down."""

from pathlib import Path

import pytest

from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.launcher import Record, forget_record, read_record, settings_digest


def test_a_record_is_read_back_until_it_is_forgotten(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    written = Record(port=8080, kept=True, told="digest")
    written.write(home)
    home.session_note("scheduler").write_text("123")
    assert read_record(home) == written
    assert written.url == "http://127.0.0.1:8080"
    forget_record(home)
    assert read_record(home) is None
    assert not home.session_notes()


@pytest.mark.parametrize("text", ["", '{"port": 8080', '{"port": 8080, "kept": true, "of_another": 1}', "[1]"])
def test_a_record_that_is_cut_off_or_of_another_version_is_none(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path)
    home.create()
    (home.run / "stack.json").write_text(text)
    assert read_record(home) is None


def test_only_what_campaigns_are_told_counts_for_the_digest() -> None:
    before = {"PLIMSOLL_STORE": "/a", "LANG": "C"}
    assert settings_digest(before) == settings_digest({**before, "LANG": "de"})
    assert settings_digest(before) != settings_digest({**before, "PLIMSOLL_STORE": "/b"})
