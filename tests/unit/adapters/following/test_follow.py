"""Logs of others are followed from now on, through whatever rotates them, as far as the bound allows."""

import ast
import os
import sys
from pathlib import Path

import pytest

from plimsoll.adapters.hosts.following import CUT, follow


class Followed:
    """A log in a folder, and what was taken of it."""

    def __init__(self, folder: Path, pattern: str = "gc.log*") -> None:
        self.folder, self.copy = folder, folder / "taken"
        self.written = 0
        self.write("of before\n")
        self.log = follow.Log(f"{folder}/{pattern}", self.copy)

    def write(self, text: str, name: str = "gc.log", mode: str = "a") -> None:
        file = self.folder / name
        with file.open(mode) as log:
            log.write(text)
        self.written += 1
        os.utime(file, (self.written, self.written))  # the clock of files may be coarser than a test is quick

    def taken(self) -> str:
        self.log.take()
        return self.copy.read_text()


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(tmp_path)


def test_what_is_written_from_now_on_is_taken_once(followed: Followed) -> None:
    assert followed.taken() == ""
    followed.write("one\n")
    assert followed.taken() == "one\n"
    followed.write("two\n")
    assert (followed.taken(), followed.taken()) == ("one\ntwo\n", "one\ntwo\n")


def test_a_file_that_was_renamed_is_read_to_its_end_before_the_one_in_its_place(followed: Followed) -> None:
    followed.write("last of the first\n")
    (followed.folder / "gc.log").rename(followed.folder / "gc.log.0")
    followed.write("first of the second\n")
    assert followed.taken() == "last of the first\nfirst of the second\n"
    followed.write("more\n")
    assert followed.taken().endswith("second\nmore\n")


def test_a_file_with_another_name_that_is_written_to_from_now_on_is_read_whole(followed: Followed) -> None:
    followed.write("of the next\n", name="gc.log.1.current")
    assert followed.taken() == "of the next\n"


def test_a_file_that_is_begun_anew_is_read_from_its_beginning(followed: Followed) -> None:
    followed.write("anew\n", mode="w")
    assert followed.taken() == "anew\n"


def test_a_log_that_is_not_there_yet_is_taken_once_it_is(tmp_path: Path) -> None:
    followed = Followed(tmp_path, "later.log")
    assert followed.taken() == ""
    followed.write("first\n", name="later.log")
    assert followed.taken() == "first\n"


def test_of_a_log_that_never_ends_a_part_is_taken_and_that_is_told(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "MOST_BYTES", 10)
    followed.write("0123456789abc\n")
    taken = followed.taken()
    followed.write("more\n")
    assert followed.taken() == taken
    assert taken.startswith("0123456789\nplimsoll: more than 0 MiB")
    assert taken.splitlines()[1].partition("than")[0] == CUT.partition("than")[0]


def test_what_is_in_the_way_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "there.log").touch()
    follow.main("check", str(os.geteuid()), f"{tmp_path}/there.*", f"{tmp_path}/none.log")
    assert capsys.readouterr().out == f"there is no file {tmp_path}/none.log, or its folder can't be listed\n"
    follow.main("check", "nobody-of-that-name")
    assert capsys.readouterr().out == "no process runs as nobody-of-that-name there\n"


def test_the_program_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(follow.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
