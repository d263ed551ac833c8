import os
from pathlib import Path

import pytest

from plimsoll.adapters.artefacts import checksums
from plimsoll.adapters.artefacts.checksums import STAMPS, faulty, sha256


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.jar").write_bytes(b"a")
    (tmp_path / "sub" / "b.jar").write_bytes(b"b")
    return tmp_path


@pytest.fixture
def expected(folder):
    return {"a.jar": sha256(folder / "a.jar"), "sub/b.jar": sha256(folder / "sub" / "b.jar")}


@pytest.fixture
def read(monkeypatch):
    """Names of the files whose content was read."""
    names: list[str] = []

    def counting(path: Path) -> str:
        names.append(path.name)
        return sha256(path)

    monkeypatch.setattr(checksums, "sha256", counting)
    return names


def test_the_checksum_is_sha256(tmp_path):
    (tmp_path / "empty").touch()
    assert sha256(tmp_path / "empty") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_sound_files_are_not_faulty(folder, expected):
    assert faulty(folder, expected) == ()


def test_missing_and_changed_files_are_faulty(folder, expected):
    (folder / "a.jar").write_bytes(b"x")
    (folder / "sub" / "b.jar").unlink()
    assert faulty(folder, expected) == ("a.jar", "sub/b.jar")


def test_a_missing_folder_has_every_file_faulty(tmp_path, expected):
    assert faulty(tmp_path / "none", expected) == ("a.jar", "sub/b.jar")


def test_content_is_read_once(folder, expected, read):
    faulty(folder, expected)
    faulty(folder, expected)
    assert sorted(read) == ["a.jar", "b.jar"]


def test_a_thorough_look_reads_everything_again(folder, expected, read):
    faulty(folder, expected)
    before = (folder / "a.jar").stat()
    (folder / "a.jar").write_bytes(b"x")
    os.utime(folder / "a.jar", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert faulty(folder, expected) == ()
    assert faulty(folder, expected, thorough=True) == ("a.jar",)


def test_another_expectation_of_the_same_file_is_noticed(folder, expected):
    faulty(folder, expected)
    assert faulty(folder, {**expected, "a.jar": "0" * 64}) == ("a.jar",)


def test_damaged_stamps_only_cost_a_look(folder, expected):
    faulty(folder, expected)
    (folder / STAMPS).write_text("{")
    assert faulty(folder, expected) == ()
