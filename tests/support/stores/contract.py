"""Tests that every result store must pass. Test modules import these functions and define a fixture `store`."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.ports.store import BLOCK_BYTES, ResultStore


def test_what_is_written_is_read(store: ResultStore) -> None:
    store.write("a/b.json", b"one")
    store.write("a/b.json", b"two")
    assert store.read("a/b.json") == b"two"
    assert store.exists("a/b.json")


def test_what_is_not_there_is_not_found(store: ResultStore) -> None:
    with pytest.raises(NotFound):
        store.read("a/none")
    assert not store.exists("a/none")
    assert list(store.keys("none")) == []
    assert store.folders("none") == ()


def test_a_file_is_read_in_blocks(store: ResultStore) -> None:
    whole = bytes(range(256)) * (BLOCK_BYTES // 100)
    store.write("a/large", whole)
    blocks = list(store.blocks("a/large"))
    assert (b"".join(blocks) == whole, max(map(len, blocks)) <= BLOCK_BYTES) == (True, True)
    store.write("a/empty", b"")
    assert b"".join(store.blocks("a/empty")) == b""
    with pytest.raises(NotFound):
        next(store.blocks("a/none"))


def test_create_never_overwrites(store: ResultStore) -> None:
    assert store.create("a", b"first")
    assert not store.create("a", b"second")
    assert store.read("a") == b"first"


def test_of_many_who_create_at_once_one_succeeds(store: ResultStore) -> None:
    won: list[bool] = []
    threads = [threading.Thread(target=lambda: won.append(store.create("c/a", b"x"))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 15 + [True]
    assert list(store.keys("")) == ["c/a"]


def test_keys_and_folders_are_sorted(store: ResultStore) -> None:
    for key in ("x/2/b", "x/10/a", "x/1", "y"):
        store.write(key, b"")
    assert list(store.keys("x")) == ["x/1", "x/10/a", "x/2/b"]
    assert store.folders("x") == ("10", "2")
    assert store.folders("") == ("x",)


def test_a_stamp_tells_a_file_from_the_one_that_it_replaces(store: ResultStore) -> None:
    def stamp_of(key: str) -> str:
        return dict(store.stamped("x", "a"))[key]

    for key in ("x/1/a", "x/1/ba", "x/2/a"):
        store.write(key, b"one")
    assert [key for key, _ in store.stamped("x", "a")] == list(store.keys("x"))
    assert [bool(stamp) for _, stamp in store.stamped("x", "a")] == [True, False, True]
    first, other = stamp_of("x/1/a"), stamp_of("x/2/a")
    store.write("x/1/a", b"second")
    second = stamp_of("x/1/a")
    store.delete("x/1")
    store.create("x/1/a", b"made anew")
    assert len({first, second, stamp_of("x/1/a")}) == 3
    assert stamp_of("x/2/a") == other


def test_a_listing_tells_size_and_time_of_each_file(store: ResultStore) -> None:
    for key, content in (("x/2/b", b"1"), ("x/a", b"123"), ("y", b"")):
        store.write(key, content)
    assert [(one.key, one.size_bytes) for one in store.listed("")] == [("x/2/b", 1), ("x/a", 3), ("y", 0)]
    assert [one.key for one in store.listed("x", deep=False)] == ["x/a"]
    assert [one.key for one in store.listed("", deep=False)] == ["y"]
    assert all(abs(datetime.now(UTC) - one.changed_at) < timedelta(hours=1) for one in store.listed(""))
    assert list(store.unfinished()) == []


def test_delete_removes_a_prefix_and_nothing_else(store: ResultStore) -> None:
    store.write("x/a", b"")
    store.write("xy", b"")
    store.delete("x")
    store.delete("x")
    assert list(store.keys("")) == ["xy"]


def test_of_many_who_delete_at_once_none_fails(store: ResultStore) -> None:
    for number in range(10):
        store.write("x/settled.json", b"")
        store.write(f"x/{number}/a", b"")
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(store.delete, ["x/settled.json", "x/settled.json", "x", "x"]))
        assert list(store.keys("")) == []


def test_upload_says_what_was_stored(store: ResultStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"abc")
    stored = store.upload("raw/source", source)
    assert stored.size_bytes == 3
    assert stored.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert store.read("raw/source") == b"abc"


@pytest.mark.parametrize("key", ["../x", "a/../../x", "/etc/passwd"])
def test_keys_cannot_leave_the_store(store: ResultStore, key: str) -> None:
    with pytest.raises(StoreError):
        store.read(key)


def test_a_store_that_works_checks_itself_and_leaves_nothing(store: ResultStore) -> None:
    store.check()
    assert list(store.keys("")) == []


def test_urls_say_where_a_person_finds_it(store: ResultStore) -> None:
    assert store.url("a/b").startswith(store.url())
    assert store.url("a/b").endswith("/a/b")
