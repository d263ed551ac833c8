"""What cleaning says of what it can't remove; what it does remove is tested with real processes."""

import shutil
from pathlib import Path

import pytest

from plimsoll.adapters.onhost import cleaning

KEY = "demo-1/g1-040k-r1/1"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / KEY / "node1").mkdir(parents=True)
    return tmp_path


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "PATIENCE_S", 0.0)


def test_a_cluster_goes_with_the_folders_above_that_hold_nothing_else(work: Path) -> None:
    assert cleaning.clean(work, KEY) == []
    assert not (work / "demo-1").exists()


def test_other_attempts_stay(work: Path) -> None:
    (work / "demo-1/g1-040k-r1/2").mkdir()
    assert cleaning.clean(work, KEY) == []
    assert [path.name for path in (work / "demo-1/g1-040k-r1").iterdir()] == ["2"]


def test_of_every_cluster_all_goes(work: Path) -> None:
    assert cleaning.clean(work, None) == []
    assert not work.exists()


def test_nothing_there_is_clean(tmp_path: Path) -> None:
    assert cleaning.clean(tmp_path / "none", KEY) == []


def test_what_resists_is_named(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(16, "Device or resource busy", str(folder))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    monkeypatch.setattr(cleaning, "tagged_processes", lambda *_: [(1, 0)])
    process, folder = cleaning.clean(work, KEY)
    assert process == f"process 1 ({Path('/proc/1/comm').read_text().strip()}) runs"
    assert "Device or resource busy" in folder
