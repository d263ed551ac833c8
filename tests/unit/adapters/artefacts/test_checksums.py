import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.artefacts import cache
from plimsoll.adapters.artefacts.cache import STAMPS, faulty, sha256


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.jar").write_bytes(b"a")
    (tmp_path / "sub" / "b.jar").write_bytes(b"b")
    return tmp_path


@pytest.fixture
def expected(folder: Path) -> dict[str, Any]:
    return {"a.jar": sha256(folder / "a.jar"), "sub/b.jar": sha256(folder / "sub" / "b.jar")}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Collect the names of files whose content is read."""
    names: list[str] = []

    def counting(path: Path) -> str:
        names.append(path.name)
        return sha256(path)

    monkeypatch.setattr(cache, "sha256", counting)
    return names


def test_the_checksum_is_sha256(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert sha256(tmp_path / "empty") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_sound_files_are_not_faulty(folder: Path, expected: dict[str, Any]) -> None:
    assert faulty(folder, expected) == ()


def test_missing_and_changed_files_are_faulty(folder: Path, expected: dict[str, Any]) -> None:
    (folder / "a.jar").write_bytes(b"x")
    (folder / "sub" / "b.jar").unlink()
    assert faulty(folder, expected) == ("a.jar", "sub/b.jar")


def test_a_missing_folder_has_every_file_faulty(tmp_path: Path, expected: dict[str, Any]) -> None:
    assert faulty(tmp_path / "none", expected) == ("a.jar", "sub/b.jar")


def test_content_is_read_once(folder: Path, expected: dict[str, Any], read: Any) -> None:
    faulty(folder, expected)
    faulty(folder, expected)
    assert sorted(read) == ["a.jar", "b.jar"]


def test_a_thorough_look_reads_everything_again(folder: Path, expected: dict[str, Any], read: Any) -> None:
    faulty(folder, expected)
    before = (folder / "a.jar").stat()
    (folder / "a.jar").write_bytes(b"x")
    os.utime(folder / "a.jar", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert faulty(folder, expected) == ()
    assert faulty(folder, expected, thorough=True) == ("a.jar",)


def test_another_expectation_of_the_same_file_is_noticed(folder: Path, expected: dict[str, Any]) -> None:
    faulty(folder, expected)
    assert faulty(folder, {**expected, "a.jar": "0" * 64}) == ("a.jar",)


def test_damaged_stamps_only_cost_a_look(folder: Path, expected: dict[str, Any]) -> None:
    faulty(folder, expected)
    (folder / STAMPS).write_text("{")
    assert faulty(folder, expected) == ()
