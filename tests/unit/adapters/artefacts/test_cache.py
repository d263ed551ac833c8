import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.support.strangers import STRANGER

from plimsoll.adapters.artefacts.cache import Cache, is_sound
from plimsoll.domain.text.errors import ArtefactError


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache", lambda _: None)


def build(folder: Path) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "java").write_bytes(b"java")


def never(folder: Path) -> None:
    raise AssertionError("built again")


def left_over(cache: Cache) -> list[Path]:
    return list((cache.root / "unfinished").iterdir())


def test_an_entry_is_built_once(cache: Cache) -> None:
    assert (cache.sealed("jdks/one", build) / "bin" / "java").read_bytes() == b"java"
    cache.sealed("jdks/one", never)
    assert left_over(cache) == []


def test_a_cache_that_others_could_change_is_not_read(cache: Cache, tmp_path: Path) -> None:
    cache.sealed("jdks/one", build)
    (tmp_path / "cache").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    for place in ("cache", "link"):
        with pytest.raises(ArtefactError, match=f"other users may write to {tmp_path / 'cache'}") as refused:
            Cache(tmp_path / place, lambda _: None).sealed("jdks/one", never)
        assert "PLIMSOLL_CACHE" in refused.value.mend


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_cache_by_a_link_is_read_unless_the_link_is_another_users(cache: Cache, tmp_path: Path) -> None:
    cache.sealed("jdks/one", build)
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    Cache(tmp_path / "link", lambda _: None).sealed("jdks/one", never)
    os.chown(tmp_path / "link", STRANGER, STRANGER, follow_symlinks=False)
    with pytest.raises(ArtefactError, match=f"the link .* belongs to user {STRANGER}"):
        Cache(tmp_path / "link", lambda _: None).sealed("jdks/one", never)


def test_a_damaged_entry_is_built_again(cache: Cache) -> None:
    place = cache.sealed("jdks/one", build)
    (place / "bin" / "java").write_bytes(b"jav")
    assert not is_sound(place)
    cache.sealed("jdks/one", build)
    assert (place / "bin" / "java").read_bytes() == b"java"
    assert left_over(cache) == []


@pytest.mark.parametrize("seal", [None, "{"])
def test_an_entry_without_a_seal_is_no_entry(cache: Cache, seal: str | None) -> None:
    path = cache.sealed("jdks/one", build) / ".sealed.json"
    path.unlink() if seal is None else path.write_text(seal)
    cache.sealed("jdks/one", build)
    assert is_sound(path.parent)


def test_what_was_interrupted_leaves_no_entry_and_is_cleared_away(cache: Cache) -> None:
    def interrupted(folder: Path) -> None:
        build(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.sealed("jdks/one", interrupted)
    assert not (cache.root / "jdks" / "one").exists()
    assert left_over(cache) == []


def test_what_a_killed_process_left_is_not_taken_over(cache: Cache) -> None:
    half = cache.root / "unfinished" / "jdks-one" / "content"
    half.mkdir(parents=True)
    (half / "half").touch()
    assert not (cache.sealed("jdks/one", build) / "half").exists()


def test_two_at_once_build_one_entry(cache: Cache) -> None:
    built: list[int] = []
    started = threading.Barrier(2)

    def counted(folder: Path) -> None:
        built.append(1)
        build(folder)

    def run() -> None:
        started.wait()
        cache.sealed("jdks/one", counted)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1]


@pytest.mark.parametrize(
    ("code", "mend"),
    [(errno.ENOSPC, "free disk space"), (errno.EACCES, "the right to write"), (errno.EIO, "prepare it again")],
)
def test_what_the_disk_refuses_is_said_with_how_to_mend_it(cache: Cache, code: Any, mend: str) -> None:
    def refused(folder: Path) -> None:
        raise OSError(code, "the reason")

    with pytest.raises(ArtefactError, match=f"the reason(.|\n)*{mend}"):
        cache.sealed("jdks/one", refused)
    assert left_over(cache) == []


def test_a_cache_that_can_not_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ArtefactError, match="the cache can't be used"):
        Cache(tmp_path / "cache", lambda _: None).sealed("jdks/one", build)
