"""The folder of definitions: when it counts as changed, and what is said of names and paths that nothing has."""

import os
from pathlib import Path

import pytest

from plimsoll.adapters.stores.local_files import DefinitionFolder
from plimsoll.domain.text.errors import NotFound


def test_its_fingerprint_differs_when_a_definition_is_added_changed_or_removed(tmp_path: Path) -> None:
    folder, file = DefinitionFolder(tmp_path / "campaigns"), tmp_path / "campaigns" / "one.yaml"
    assert folder.fingerprint() == frozenset()
    file.parent.mkdir()
    file.write_text("name: one")
    added = folder.fingerprint()
    assert added
    assert folder.fingerprint() == added
    file.write_text("name: one, and longer")
    longer = folder.fingerprint()
    assert longer != added
    os.utime(file, ns=(0, 0))
    assert folder.fingerprint() != longer
    file.unlink()
    assert folder.fingerprint() == frozenset()


def test_other_files_and_links_that_lead_nowhere_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    assert DefinitionFolder(tmp_path).fingerprint() == frozenset()
    (tmp_path / "folder.yaml").mkdir()
    assert "folder" not in DefinitionFolder(tmp_path).names()


@pytest.mark.parametrize(
    ("wanted", "place", "message"),
    [
        ("mine.yaml", "here", "there is no file 'mine.yaml'"),
        ("sub/mine.yaml", "here/sub", "there is no file 'mine.yaml'"),
        ("folder.yaml", "here", "'folder.yaml' is a folder, not a definition"),
        ("mine", "campaigns", "there is no definition 'mine'"),
        ("", "campaigns", "no definition was named"),
    ],
)
def test_a_path_is_missed_where_it_leads_and_a_name_in_the_folder_of_definitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str, place: str, message: str
) -> None:
    (tmp_path / "here" / "folder.yaml").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(NotFound) as missing:
        DefinitionFolder(tmp_path / "campaigns").find(wanted)
    assert (missing.value.where, missing.value.what) == (str(tmp_path / place), message)
