"""What runs from a folder only if nobody else could have changed what lies there."""

import grp
import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path, PurePosixPath

import pytest
from tests.support.strangers import STRANGER

from plimsoll.adapters.hosts.onhost import guard
from plimsoll.adapters.providers.ssh import execution

CommandResult = subprocess.CompletedProcess[str]


@pytest.fixture
def run() -> Callable[..., CommandResult]:
    """Run a command under the guard, as a host does."""

    def guarded(*arguments: str) -> CommandResult:
        argv = [sys.executable, "-I", "-S", "-B", guard.__file__, *arguments]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    return guarded


def test_a_missing_place_is_made_for_this_user_alone(tmp_path: Path, run: Callable[..., CommandResult]) -> None:
    place = tmp_path / "a" / "b"
    ended = run(str(place), "--", "pwd")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{place}\n", "")
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (place, place.parent)} == {0o700}


def test_a_place_that_others_could_read_is_closed_to_them(tmp_path: Path, run: Callable[..., CommandResult]) -> None:
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o757)
    assert "other users may write" in run(str(place), "--", "true").stderr
    place.chmod(0o755)
    assert run(str(place), "--", "true").returncode == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.parametrize("depth", ["the place", "above it"])
def test_a_link_is_not_followed(tmp_path: Path, run: Callable[..., CommandResult], depth: str) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    place = tmp_path / "link" if depth == "the place" else tmp_path / "link" / "inner"
    ended = run(str(place), "--", "echo", "ran")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"{tmp_path / 'link'} is a link or a file" in ended.stderr


def test_a_folder_above_in_which_others_write_is_refused_unless_it_is_sticky(
    tmp_path: Path, run: Callable[..., CommandResult]
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    ended = run(str(shared / "place"), "--", "echo", "ran")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"other users may write to {shared}: `chmod go-w {shared}`" in ended.stderr
    assert not (shared / "place").exists()
    shared.chmod(0o1777)
    assert run(str(shared / "place"), "--", "echo", "ran").stdout == "ran\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another group")
def test_a_group_may_write_if_it_is_the_users_own(tmp_path: Path, run: Callable[..., CommandResult]) -> None:
    place = tmp_path / "place"
    place.mkdir()
    place.chmod(0o775)
    assert run(str(place), "--", "true").returncode == 0
    place.chmod(0o775)
    os.chown(place, -1, STRANGER)
    assert "other users may write" in run(str(place), "--", "true").stderr


@pytest.mark.parametrize(("others", "in_it", "may_write"), [([], [], False), (["sync"], [], True), ([], ["eve"], True)])
def test_roots_group_may_write_unless_somebody_else_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: list[str], in_it: list[str], may_write: bool
) -> None:
    def user(name: str, uid: int, gid: int) -> pwd.struct_passwd:
        return pwd.struct_passwd((name, "x", uid, gid, "", "/", "/bin/sh"))

    airflow = user("airflow", 50000, 0)
    everybody = [user("root", 0, 0), airflow, user("bench", 1000, 1000), *(user(name, 7, 0) for name in others)]
    monkeypatch.setattr(pwd, "getpwuid", lambda _: airflow)
    monkeypatch.setattr(pwd, "getpwall", lambda: everybody)
    monkeypatch.setattr(grp, "getgrgid", lambda gid: grp.struct_group(("root", "x", gid, in_it)))
    volume = os.stat_result((0o042775, 0, 0, 2, 0, 0, 0, 0, 0, 0))
    with pytest.raises(PermissionError, match="other users may write") if may_write else nullcontext():
        guard.require_safe(tmp_path, volume)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
@pytest.mark.parametrize("below", ["", "bundles"])
def test_a_folder_that_another_user_made_first_is_refused(
    tmp_path: Path, run: Callable[..., CommandResult], below: str
) -> None:
    place = tmp_path / "plimsoll"
    (place / "bundles").mkdir(parents=True)
    os.chown(place, STRANGER, STRANGER)
    ended = run(str(place / below), "--", "echo", "ran")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"{place} belongs to user {STRANGER}" in ended.stderr


def test_a_folder_is_run_as_a_program_and_a_missing_one_is_told_by_its_exit_code(
    tmp_path: Path, run: Callable[..., CommandResult]
) -> None:
    program = tmp_path / "program"
    assert run(str(tmp_path), "--", str(program), "x").returncode == 2
    program.mkdir()
    (program / "__main__.py").write_text("import sys, beside; print(sys.argv[1:], beside.HERE)")
    (program / "beside.py").write_text("HERE = 1")
    assert run(str(tmp_path), "--", str(program), "x").stdout == "['x'] 1\n"


def test_every_command_line_that_runs_something_from_a_folder_looks_at_it_first(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    place, own = PurePosixPath(tmp_path / "shared" / "bundles"), PurePosixPath(tmp_path)
    lines = [
        execution.run_command(["echo", "ran"], [place, own], {}, 60),
        execution.run_command(["echo", "ran"], [own, place], {}, 60),
        execution.program_command(place / "onhost-1", "room", {}),
        execution.receiver_command("print('ran')", "settle", place / "onhost-1"),
    ]
    for line in lines:
        ended = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "other users may write to" in ended.stderr
