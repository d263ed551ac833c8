"""Logs of others are followed from now on, through whatever rotates them, as far as the bound allows."""

import ast
import os
import sys
from pathlib import Path

import pytest

from plimsoll.adapters.hosts.following import follow
from plimsoll.domain.keys.process import CUT


class Followed:
    """A log in a folder, and what was taken of it."""

    def __init__(self, folder: Path, pattern: str = "gc.log*", copy: str = "taken") -> None:
        self.folder, self.copy = folder / "theirs", folder / copy
        self.folder.mkdir()
        self.written = 0
        self.write("of before\n")
        self.log = follow.Log(f"{self.folder}/{pattern}", self.copy)

    def write(self, text: str, name: str = "gc.log", mode: str = "a") -> None:
        file = self.folder / name
        with file.open(mode) as log:
            log.write(text)
        self.written += 1
        os.utime(file, (self.written, self.written))  # the clock of files may be coarser than a test is quick

    def taken(self, left: int = follow.MOST_BYTES, room: int = 1 << 40) -> str:
        follow.follow([self.log], left, room)
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


def test_what_is_written_while_a_file_is_renamed_is_not_lost(followed: Followed) -> None:
    with (followed.folder / "gc.log").open("a") as open_before:
        (followed.folder / "gc.log").rename(followed.folder / "gc.log.0")
        followed.write("first of the second\n")
        open_before.write("last of the first\n")
    os.utime(followed.folder / "gc.log.0", (1, 1))
    assert followed.taken() == "last of the first\nfirst of the second\n"


def test_a_line_is_taken_once_it_has_ended(followed: Followed) -> None:
    followed.write("half")
    assert followed.taken() == ""
    followed.write(" a line\n")
    assert followed.taken() == "half a line\n"


def test_packed_files_and_folders_are_no_logs(followed: Followed) -> None:
    followed.write("PK", name="gc.log.1.zip")
    (followed.folder / "gc.log.d").mkdir()
    os.utime(followed.folder / "gc.log.d", (99, 99))
    followed.write("still here\n")
    assert followed.taken() == "still here\n"


def test_details_of_a_gc_log_are_left_out(tmp_path: Path) -> None:
    followed = Followed(tmp_path, copy="gc.log")
    lines = [f"[1s][9][9][{level}] GC(0) {level}\n" for level in ("info ", "debug", "trace")]
    followed.write("".join(lines))
    assert followed.taken() == lines[0]


@pytest.mark.parametrize(
    ("bounds", "why"), [({"left": 10}, "too much was written"), ({"room": 1000}, "there is no room")]
)
def test_of_a_log_that_never_ends_a_part_is_taken_and_that_is_told(
    followed: Followed, bounds: dict[str, int], why: str
) -> None:
    followed.write("0123456789abc\n")
    taken = followed.taken(**bounds)
    followed.write("more\n")
    assert followed.taken() == taken
    assert taken.splitlines()[-1] == f"{CUT}: {why}"


def test_an_error_ends_one_log_and_is_told_in_it(followed: Followed, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bytes:
        raise OSError("Input/output error")

    monkeypatch.setattr(os, "pread", broken)
    assert followed.taken().splitlines()[-1] == f"{CUT}: Input/output error"


def obstacles(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    follow.main("check", *map(str, arguments))
    return capsys.readouterr().out.splitlines()


def test_what_is_in_the_way_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "there.log").touch()
    mine = os.geteuid()
    assert obstacles(capsys, tmp_path / "new" / "folder", mine, f"{tmp_path}/there.*", f"{tmp_path}/none.log") == [
        f"there is no file {tmp_path}/none.log, or its folder can't be listed"
    ]
    assert obstacles(capsys, tmp_path, "nobody-of-that-name") == ["no process runs as nobody-of-that-name there"]
    assert obstacles(capsys, tmp_path, mine, tmp_path) == [f"{tmp_path} can't be read"]


def test_a_folder_without_room_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = os.geteuid()
    monkeypatch.setattr(follow, "MOST_BYTES", 1 << 60)
    [told] = obstacles(capsys, tmp_path, mine)
    assert "M are needed" in told


def test_the_program_ends_a_log_as_those_who_read_it_know() -> None:
    assert follow.CUT == CUT


def test_the_program_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(follow.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
