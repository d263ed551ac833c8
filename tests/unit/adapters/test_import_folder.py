import hashlib
import os
import sys
from pathlib import Path

import pytest

from plimsoll.adapters.stores import local_files
from plimsoll.adapters.stores.local_files import ImportFolder
from plimsoll.domain.text.errors import NotFound


@pytest.fixture
def folder(tmp_path: Path) -> ImportFolder:
    for name in ("data/b.hdr", "data/a.hdr", "data/deep/c.hdr", "outside.hdr"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(name)
    return ImportFolder(tmp_path / "in")


def test_files_of_all_patterns_are_found_once_with_checksums(folder: ImportFolder) -> None:
    found = folder.find(("data/*.hdr", "data/a.hdr", "data/**/*.hdr"), required=True)
    assert [one.name for one in found] == ["data/a.hdr", "data/b.hdr", "data/deep/c.hdr"]
    assert found[0].sha256 == hashlib.sha256(b"data/a.hdr").hexdigest()


def test_a_pattern_that_finds_nothing_is_an_error_only_where_files_are_required(folder: ImportFolder) -> None:
    assert folder.find(("none/*.hdr",), required=False) == ()
    with pytest.raises(NotFound, match=r"no file is found by 'none/\*\.hdr'"):
        folder.find(("none/*.hdr",), required=True)


@pytest.mark.parametrize("pattern", ["../*.hdr", "/etc/*", "data/../../x", ""])
def test_a_pattern_that_leads_out_of_the_folder_is_refused(folder: ImportFolder, pattern: str) -> None:
    with pytest.raises(NotFound, match="leads out of the folder"):
        folder.find((pattern,), required=True)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="this Python takes any pattern")
def test_a_pattern_that_is_none_is_refused(folder: ImportFolder) -> None:
    with pytest.raises(NotFound, match=r"'\*\*x/a' is no pattern"):
        folder.find(("**x/a",), required=False)


def test_a_link_that_leads_out_of_the_folder_is_not_followed(folder: ImportFolder, tmp_path: Path) -> None:
    (tmp_path / "secret.hdr").write_text("x")
    (folder.root / "data" / "link.hdr").symlink_to(tmp_path / "secret.hdr")
    assert "data/link.hdr" not in [one.name for one in folder.find(("data/*.hdr",), required=True)]


def test_pipes_and_devices_are_no_files_and_hold_nobody_up(folder: ImportFolder) -> None:
    os.mkfifo(folder.root / "data" / "pipe.hdr")
    (folder.root / "data" / "zero.hdr").symlink_to("/dev/zero")
    assert [one.name for one in folder.find(("data/*.hdr",), required=True)] == ["data/a.hdr", "data/b.hdr"]
    with pytest.raises(NotFound, match=r"no file is found by 'data/pipe\.hdr'"):
        folder.find(("data/pipe.hdr",), required=True)


@pytest.mark.parametrize("name", [b"a\nb.hdr", b"a\x1b[2Jb.hdr", b"a\xffb.hdr", b"a\\..\\b.hdr"])
def test_a_name_that_no_bundle_may_have_is_refused(folder: ImportFolder, name: bytes) -> None:
    Path(os.fsdecode(os.fsencode(folder.root / "data") + b"/" + name)).write_text("x")
    with pytest.raises(NotFound, match="control characters, backslashes or bytes that are not UTF-8"):
        folder.find(("data/*.hdr",), required=True)


def test_files_of_one_run_that_are_too_large_together_are_refused(
    folder: ImportFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_files, "LARGEST_BYTES", 2 * len("data/a.hdr"))
    assert len(folder.find(("data/*.hdr",), required=True)) == 2
    with pytest.raises(NotFound, match="the files of one run hold more than 0 MiB together"):
        folder.find(("data/**/*.hdr",), required=True)
