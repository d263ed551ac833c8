"""Vega's runtime is made once for each version of vl-convert, wherever it can be kept."""

import sys
from pathlib import Path

import pytest

from plimsoll.report import page

SCRIPT = "window.vegaEmbed = 'drawn';"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    place = tmp_path / "kept"
    monkeypatch.setattr(page, "folder", lambda: place)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return place


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """Provide the script, once for each time that it was made."""
    times: list[str] = []

    def bundled() -> str:
        times.append(SCRIPT)
        return SCRIPT

    monkeypatch.setattr(page, "bundled", bundled)
    return times


def test_it_is_made_once(made: list[str], folder: Path) -> None:
    assert [page.runtime(), page.runtime()] == [SCRIPT, SCRIPT]
    assert made == [SCRIPT]
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(("left", "added"), [(0, b""), (1, b""), (20, b""), (-1, b""), (-8, b"01234567"), (0, b"<a>")])
def test_a_damaged_one_is_made_anew(made: list[str], folder: Path, left: int, added: bytes) -> None:
    page.runtime()
    (kept,) = folder.iterdir()
    kept.write_bytes(kept.read_bytes()[:left] + added)

    assert [page.runtime(), page.runtime()] == [SCRIPT, SCRIPT]
    assert made == [SCRIPT] * 2


def test_that_of_another_version_is_not_taken_and_goes(
    made: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("1.0", "2.0"):
        monkeypatch.setattr(page, "version", {"vl-convert-python": each}.get)
        page.runtime()

    assert made == [SCRIPT] * 2
    assert [kept.name for kept in folder.iterdir()] == ["vega-2.0.js.gz"]


def test_where_nothing_can_be_written_it_is_made_each_time(made: list[str], folder: Path) -> None:
    folder.write_text("a file, where there should be a folder")

    assert [page.runtime(), page.runtime()] == [SCRIPT, SCRIPT]
    assert made == [SCRIPT] * 2


def test_where_python_is_to_keep_nothing_neither_is_this(
    made: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    assert page.runtime() == SCRIPT
    assert not folder.exists()
