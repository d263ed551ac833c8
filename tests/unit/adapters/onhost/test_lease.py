"""The lease of a folder."""

import time
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.onhost import lease

MINE: dict[str, Any] = {"key": "demo-1/a-001k-r1/1", "ready": False}
OTHERS: dict[str, Any] = {"key": "demo-1/a-001k-r1/2", "ready": False}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plimsoll"


def holder(folder: Path) -> Any:
    return lease.read(folder)["lease"]


def test_nobody_holds_what_was_never_taken(folder: Path) -> None:
    assert holder(folder) is None
    assert not folder.exists()


def test_the_first_has_it(folder: Path) -> None:
    assert lease.take(folder, MINE, None)["lease"] == MINE
    assert lease.take(folder, OTHERS, None)["lease"] == MINE


def test_taking_it_again_changes_nothing(folder: Path) -> None:
    lease.take(folder, MINE, None)
    assert lease.ready(folder, MINE["key"])
    assert lease.take(folder, MINE, None)["lease"] == {**MINE, "ready": True}
    assert lease.take(folder, MINE, MINE["key"])["lease"] == {**MINE, "ready": True}


def test_it_is_taken_over_from_the_named_holder_only(folder: Path) -> None:
    lease.take(folder, MINE, None)
    assert lease.take(folder, OTHERS, "another/a-001k-r1/1")["lease"] == MINE
    assert lease.take(folder, OTHERS, MINE["key"])["lease"] == OTHERS


def test_only_its_holder_makes_it_ready_and_gives_it_back(folder: Path) -> None:
    lease.take(folder, MINE, None)
    assert not lease.ready(folder, OTHERS["key"])
    lease.release(folder, OTHERS["key"])
    assert holder(folder) == MINE
    lease.release(folder, MINE["key"])
    assert holder(folder) is None


def test_giving_back_what_is_not_there_makes_no_folder(folder: Path) -> None:
    lease.release(folder, MINE["key"])
    assert not folder.exists()


def test_the_hosts_own_time_comes_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1234.5)
    assert lease.read(folder)["now"] == 1234.5
