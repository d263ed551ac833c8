"""What cleaning says of what it can't remove; what it does remove is tested with real processes."""

import os
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from plimsoll.adapters.hosts.onhost import cleaning, control

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


def test_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere" / "kept"
    kept.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert "symbolic link" in cleaning.remove(tmp_path / "link")
    assert kept.is_dir()


def leave(folder: Path) -> None:
    cleaning.leave(folder / "clusters", folder / "bundles")


def test_whoever_leaves_removes_its_program_and_the_folder(tmp_path: Path) -> None:
    (tmp_path / "own" / "bundles" / "onhost").mkdir(parents=True)
    leave(tmp_path / "own")
    assert not (tmp_path / "own").exists()
    leave(tmp_path / "own")


def test_whoever_leaves_touches_neither_another_cluster_nor_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    (tmp_path / "clusters" / KEY / "node1").mkdir(parents=True)
    (tmp_path / "of-others").touch()
    leave(tmp_path)
    assert (tmp_path / "bundles").is_dir()
    shutil.rmtree(tmp_path / "clusters")
    leave(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["of-others"]


def test_what_a_cluster_of_long_ago_has_left_goes_with_the_next_one(tmp_path: Path) -> None:
    file = tmp_path / "own" / "clusters" / KEY / "node1" / "host.csv"
    file.parent.mkdir(parents=True)
    file.touch()
    link = file.with_name("to-nowhere")
    link.symlink_to("nowhere")
    for path in (link, file, *list(file.parents)[:2]):
        os.utime(path, (1, 1), follow_symlinks=False)
    leave(tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_nothing_there_is_clean(tmp_path: Path) -> None:
    assert cleaning.clean(tmp_path / "none", KEY) == []


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collect naps taken, s. Time passes by them, and by a millisecond with each look at the clock."""
    taken: list[float] = []
    looks = count()
    clock = SimpleNamespace(monotonic=lambda: sum(taken) + next(looks) / 1000, sleep=taken.append)
    monkeypatch.setattr(cleaning, "time", clock)
    monkeypatch.setattr(cleaning, "PATIENCE_S", 20.0)
    return taken


@pytest.mark.parametrize(
    "remove",
    [lambda work: cleaning.clean(work, KEY), lambda work: cleaning.clear(work, KEY, [work / KEY], frozenset())],
)
def test_what_resists_takes_no_processor_from_those_who_measure(
    work: Path, naps: list[float], monkeypatch: pytest.MonkeyPatch, remove: Callable[[Path], list[str]]
) -> None:
    tries = []

    def refuse(folder: Path) -> None:
        tries.append(folder)
        raise OSError(16, "Device or resource busy", str(folder))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    assert remove(work)
    assert len(tries) < 60
    assert (min(naps), max(naps), sum(naps) < 21) == (0.02, 0.5, True)


def test_a_process_that_can_not_be_killed_is_looked_for_less_and_less_often(
    work: Path, naps: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaning, "tagged_processes", lambda *_: [(1, 0)])
    monkeypatch.setattr(control, "send", lambda *_: None)
    cleaning.kill_all(work, KEY, 20.0)
    assert naps == sorted(naps)
    assert len(naps) < 60


def test_what_resists_is_named(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(16, "Device or resource busy", str(folder))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    monkeypatch.setattr(cleaning, "tagged_processes", lambda *_: [(1, 0)])
    process, folder = cleaning.clean(work, KEY)
    assert process == f"process 1 ({Path('/proc/1/comm').read_text().strip()}) runs"
    assert "Device or resource busy" in folder
