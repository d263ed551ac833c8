"""The lease of a folder."""

import stat
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.hosts.onhost import lease
from plimsoll.adapters.hosts.onhost.__main__ import COMMANDS

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


@pytest.mark.parametrize("record", ["{", "\x00", "[" * 100_000])
def test_a_damaged_lease_is_an_error_that_names_it(folder: Path, record: str) -> None:
    folder.mkdir()
    (folder / "lease.json").write_text(record)
    with pytest.raises(OSError, match=r"lease\.json is damaged"):
        lease.read(folder)


def test_the_folder_of_a_lease_is_for_its_user_alone(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    lease.take(folder, MINE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_first_has_it(folder: Path) -> None:
    assert lease.take(folder, MINE)["lease"] == MINE
    assert lease.take(folder, OTHERS)["lease"] == MINE


def test_taking_it_again_changes_nothing(folder: Path) -> None:
    lease.take(folder, MINE)
    assert lease.ready(folder, MINE["key"])
    assert lease.take(folder, MINE)["lease"] == {**MINE, "ready": True}


def test_it_is_taken_over_once_nothing_of_its_holder_is_left(folder: Path) -> None:
    lease.take(folder, MINE)
    answer = lease.take_over(folder, OTHERS, MINE, lambda: ["process 7 (java) runs"])
    assert (answer["lease"], answer["left"]) == (MINE, ["process 7 (java) runs"])
    answer = lease.take_over(folder, OTHERS, MINE, list)
    assert (answer["lease"], answer["left"]) == (OTHERS, [])


@pytest.mark.parametrize("changed", [{"until": 2}, {"key": "demo-1/a-001k-r1/3"}])
def test_a_lease_that_has_changed_since_it_was_seen_stays_and_so_does_what_runs(folder: Path, changed: Any) -> None:
    now = {**MINE, "until": 1, **changed}
    lease.take(folder, now)

    def clean() -> list[str]:
        pytest.fail("what runs was ended")

    answer = lease.take_over(folder, OTHERS, {**MINE, "until": 1}, clean)
    assert (answer["lease"], answer["left"]) == (now, [])


def test_what_its_holder_left_is_removed_and_nothing_else(folder: Path) -> None:
    own, other = (folder / "clusters" / one["key"] for one in (MINE, OTHERS))
    own.mkdir(parents=True)
    other.mkdir()
    lease.take(folder, MINE)
    request = {"folder": str(folder), "work": str(folder / "clusters"), "lease": OTHERS, "seen": MINE}
    assert COMMANDS["lease-take-over"](request)["lease"] == OTHERS
    assert (own.exists(), other.exists()) == (False, True)


def test_its_holder_can_not_renew_it_while_it_is_taken_over(folder: Path) -> None:
    lease.take(folder, MINE)
    with ThreadPoolExecutor() as pool:
        renewals: list[Future[bool]] = []

        def clean() -> list[str]:
            renewals.append(pool.submit(lease.renew, folder, {**MINE, "until": 2}))
            return []

        assert lease.take_over(folder, OTHERS, MINE, clean)["lease"] == OTHERS
        assert not renewals[0].result()


def test_a_takeover_that_is_asked_for_again_changes_nothing(folder: Path) -> None:
    lease.take(folder, MINE)
    lease.take_over(folder, OTHERS, MINE, list)
    lease.ready(folder, OTHERS["key"])
    assert lease.take_over(folder, OTHERS, MINE, list)["lease"] == {**OTHERS, "ready": True}


class Killed(BaseException):
    """What a process that cleans is killed by."""


def killed() -> list[str]:
    raise Killed


def test_a_takeover_of_a_whole_cluster_that_was_killed_half_way_cleans_again(folder: Path) -> None:
    whole = {**MINE, "ready": True}
    lease.take(folder, whole)
    with pytest.raises(Killed):
        lease.take_over(folder, OTHERS, whole, killed)
    assert holder(folder) == MINE

    answer = lease.take_over(folder, OTHERS, whole, lambda: ["process 7 (java) runs"])
    assert (answer["lease"], answer["left"]) == (MINE, ["process 7 (java) runs"])
    assert lease.take_over(folder, OTHERS, whole, list)["lease"] == OTHERS


def test_renewing_does_not_make_a_cluster_whole_that_another_has_begun_to_take_over(folder: Path) -> None:
    whole = {**MINE, "ready": True}
    lease.take(folder, whole)
    with pytest.raises(Killed):
        lease.take_over(folder, OTHERS, whole, killed)

    assert lease.renew(folder, {**whole, "until": 2})
    assert holder(folder) == {**MINE, "until": 2}


def test_only_its_holder_makes_it_ready_and_gives_it_back(folder: Path) -> None:
    lease.take(folder, MINE)
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
