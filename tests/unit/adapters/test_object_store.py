import os
import uuid
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from tests.support.stores import contract
from tests.support.stores.contract import (  # noqa: F401
    test_a_listing_tells_size_and_time_of_each_file,
    test_a_stamp_tells_a_file_from_the_one_that_it_replaces,
    test_a_store_that_works_checks_itself_and_leaves_nothing,
    test_create_never_overwrites,
    test_delete_removes_a_prefix_and_nothing_else,
    test_keys_and_folders_are_sorted,
    test_keys_cannot_leave_the_store,
    test_upload_says_what_was_stored,
    test_urls_say_where_a_person_finds_it,
    test_what_is_not_there_is_not_found,
    test_what_is_written_is_read,
)

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.text.errors import StoreError


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    root = str(tmp_path / "store") if request.param == "local" else f"memory://{uuid.uuid4().hex}"
    return ObjectStore(root)


def test_of_many_who_create_at_once_one_succeeds(tmp_path: Path) -> None:
    """Not asked of the store in memory, which is one thread's."""
    contract.test_of_many_who_create_at_once_one_succeeds(ObjectStore(str(tmp_path)))


def test_of_many_who_delete_at_once_none_fails(tmp_path: Path) -> None:
    """Not asked of the store in memory either."""
    contract.test_of_many_who_delete_at_once_none_fails(ObjectStore(str(tmp_path)))


@pytest.mark.parametrize("system", [LocalFileSystem, MemoryFileSystem])
def test_what_vanishes_before_it_is_deleted_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: type[Any]
) -> None:
    store = ObjectStore(str(tmp_path) if system is LocalFileSystem else f"memory://{uuid.uuid4().hex}")
    exists = system.exists
    store.write("a", b"")

    def seen_and_gone(files: Any, path: str) -> bool:
        found = bool(exists(files, path))
        if found:
            files.rm_file(path)
        return found

    monkeypatch.setattr(system, "exists", seen_and_gone)
    store.delete("a")
    monkeypatch.undo()
    assert not list(store.keys(""))


def test_what_vanishes_of_a_folder_while_it_is_deleted_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ObjectStore(str(tmp_path))
    for key in ("x/1/a", "x/1/b", "x/2"):
        store.write(key, b"")
    unlink = os.unlink

    def another_is_quicker(*arguments: Any, **further: Any) -> None:
        unlink(*arguments, **further)
        unlink(*arguments, **further)

    monkeypatch.setattr(os, "unlink", another_is_quicker)
    store.delete("x")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_deleted_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ObjectStore(str(tmp_path))
    store.write("x/a", b"")

    def denied(*_: object, **__: object) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", denied)
    with pytest.raises(StoreError, match="Permission denied"):
        store.delete("x")


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="PLIMSOLL_STORE"):
        ObjectStore(str(tmp_path / "file" / "store")).check()


@pytest.mark.parametrize("library", ["dir", "reference", "zip", "cached"])
def test_a_library_that_wraps_another_is_no_store(library: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=rf"{library}://.*: is no address of a store"):
        ObjectStore(f"{library}://{tmp_path}")


def test_an_address_that_no_library_can_reach_is_told_with_its_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match=r"foo://there: is no address of a store (?s:.*)set PLIMSOLL_STORE to a"):
        ObjectStore("foo://there")
    missing = {"bar": {"class": "no_such_library.FileSystem", "err": "Please install no_such_library"}}
    monkeypatch.setattr(import_module("fsspec.registry"), "known_implementations", missing)
    with pytest.raises(StoreError, match=r"bar://there: .*not installed(?s:.*)Please install no_such_library"):
        ObjectStore("bar://there")


def test_a_library_that_makes_a_file_for_several_at_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who creates a record first holds a campaign: two that both believe so would run it twice."""
    monkeypatch.setattr(MemoryFileSystem, "pipe_file", AbstractFileSystem.pipe_file)
    with pytest.raises(StoreError, match=r"can't be a store(?s:.*)set PLIMSOLL_STORE to a folder"):
        ObjectStore("memory://shared")


@pytest.mark.parametrize("address", ["simplecache::memory://shared", "dir::file:///tmp/shared"])
def test_a_library_around_another_is_refused_as_nobody_knows_how_it_makes_a_file(address: str) -> None:
    with pytest.raises(StoreError, match=r"can't be a store(?s:.*)set PLIMSOLL_STORE to a folder"):
        ObjectStore(address)


def test_whoever_may_read_what_is_written_may_read_what_is_created(tmp_path: Path) -> None:
    store = ObjectStore(str(tmp_path))
    store.write("written", b"")
    store.create("created", b"")
    assert (tmp_path / "created").stat().st_mode == (tmp_path / "written").stat().st_mode


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ObjectStore(str(tmp_path))
    store.write("a", b"old")

    def full(_: LocalFileSystem, path: Path, value: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LocalFileSystem, "pipe_file", full)
    with pytest.raises(StoreError, match="free disk space"):
        store.write("a", b"new")
    assert store.read("a") == b"old"
    assert list(store.keys("")) == ["a"]


@pytest.mark.parametrize("store_it", [ObjectStore.write, ObjectStore.create])
def test_a_record_is_on_the_disk_before_it_has_its_name_and_then_its_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_it: Callable[[ObjectStore, str, bytes], object]
) -> None:
    on_disk: list[tuple[str, bool]] = []

    def synced(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        on_disk.append((path.read_text() if path.is_file() else path.name, (tmp_path / "c" / "a").exists()))

    monkeypatch.setattr(os, "fsync", synced)
    store_it(ObjectStore(str(tmp_path)), "c/a", b"record")
    assert on_disk == [("record", False), ("c", True)]


def test_a_log_is_on_the_disk_before_the_manifest_can_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_disk: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda handle: on_disk.append(Path(f"/proc/self/fd/{handle}").readlink().name))
    source = tmp_path / "source"
    source.write_bytes(b"log")

    ObjectStore(str(tmp_path / "store")).upload("raw/load.hdr", source)

    assert [name.partition(".")[0] for name in on_disk] == ["load", "raw"]


def test_where_a_folder_can_not_be_synced_files_are_stored_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def only_files(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").is_dir():
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", only_files)
    store = ObjectStore(str(tmp_path))
    store.write("a", b"1")
    assert store.create("b", b"2")
    assert (store.read("a"), store.read("b")) == (b"1", b"2")


@pytest.fixture
def linked(tmp_path: Path) -> ObjectStore:
    """Provide a store behind a link, with a link to a file, one to a folder, one within the store, and one to
    nothing.
    """
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret")
    (tmp_path / "disk" / "c" / "cells").mkdir(parents=True)
    (tmp_path / "store").symlink_to(tmp_path / "disk")
    store = ObjectStore(str(tmp_path / "store"))
    store.write("c/raw/load.hdr", b"log")
    (tmp_path / "disk" / "c" / "raw" / "file").symlink_to(tmp_path / "private" / "key")
    (tmp_path / "disk" / "c" / "raw" / "inner").symlink_to("load.hdr")
    (tmp_path / "disk" / "c" / "raw" / "nothing").symlink_to(tmp_path / "none")
    (tmp_path / "disk" / "c" / "folder").symlink_to(tmp_path / "private")
    return store


def test_listings_leave_out_links_that_lead_out_of_the_store(linked: ObjectStore) -> None:
    assert list(linked.keys("")) == ["c/raw/inner", "c/raw/load.hdr"]
    assert linked.folders("c") == ("cells", "raw")
    assert linked.read("c/raw/inner") == b"log"


@pytest.mark.parametrize("key", ["c/raw/file", "c/raw/nothing", "c/folder", "c/folder/key", "c/folder/new"])
def test_nothing_is_reached_by_a_link_that_leads_out_of_the_store(
    linked: ObjectStore, tmp_path: Path, key: str
) -> None:
    file = tmp_path / "file"
    file.write_text("new")

    for attempt in (
        lambda: linked.read(key),
        lambda: next(linked.blocks(key)),
        lambda: linked.exists(key),
        lambda: list(linked.keys(key)),
        lambda: linked.folders(key),
        lambda: linked.write(key, b"new"),
        lambda: linked.create(key, b"new"),
        lambda: linked.upload(key, file),
        lambda: linked.delete(key),
    ):
        with pytest.raises(StoreError, match="link that leads out of the store"):
            attempt()
    assert {path.name: path.read_text() for path in (tmp_path / "private").iterdir()} == {"key": "secret"}


def test_a_folder_is_deleted_with_its_links_and_without_what_they_lead_to(linked: ObjectStore, tmp_path: Path) -> None:
    linked.delete("c")

    assert list(linked.keys("")) == []
    assert (tmp_path / "private" / "key").read_text() == "secret"


def test_names_that_are_not_utf_8_are_no_keys_whatever_the_store_s_own_folder_is_called(tmp_path: Path) -> None:
    odd = os.fsdecode(b"odd-\xff")
    store = ObjectStore(str(tmp_path / odd))
    store.write("a/b", b"")
    for folder in ("", "a"):
        (tmp_path / odd / folder / odd).mkdir()
        (tmp_path / odd / folder / odd / "inner").touch()
        (tmp_path / odd / folder / f"{odd}.log").touch()
    assert list(store.keys("")) == ["a/b"]
    assert [key for key, _ in store.stamped("", "b")] == ["a/b"]
    assert (store.folders(""), store.folders("a")) == (("a",), ())


def test_temporary_files_of_killed_processes_are_unfinished_and_files_of_others_are_not(tmp_path: Path) -> None:
    store = ObjectStore(str(tmp_path))
    left = [f"c/note.json.{'a' * 32}.part", "c/tmp0a_b1c2d.part"]
    for name in (*left, "c/raw.part", "c/tmp.part"):
        store.write(name, b"?")

    found = list(store.unfinished())
    assert [one.name for one in found] == left
    for one in found:
        store.drop(one)
        store.drop(one)
    assert list(store.unfinished()) == []
    assert (tmp_path / "c/raw.part").exists()
