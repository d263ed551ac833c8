import uuid

import pytest
from tests import store_contract
from tests.store_contract import (  # noqa: F401
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

from plimsoll.adapters.object_store import ObjectStore
from plimsoll.domain.errors import StoreError


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path):
    root = str(tmp_path / "store") if request.param == "local" else f"memory://{uuid.uuid4().hex}"
    return ObjectStore(root)


def test_of_many_who_create_at_once_one_succeeds(tmp_path):
    """Not asked of the store in memory, which is one thread's."""
    store_contract.test_of_many_who_create_at_once_one_succeeds(ObjectStore(str(tmp_path)))


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="PLIMSOLL_STORE"):
        ObjectStore(str(tmp_path / "file" / "store")).check()


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    store = ObjectStore(str(tmp_path))
    store.write("a", b"old")

    def full(path, value, **_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store._fs, "pipe_file", full)
    with pytest.raises(StoreError, match="free disk space"):
        store.write("a", b"new")
    assert store.read("a") == b"old"
    assert list(store.keys("")) == ["a"]
