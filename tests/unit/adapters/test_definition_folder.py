"""The folder of definitions: when it counts as changed."""

import os
from pathlib import Path

from plimsoll.adapters.definition_folder import DefinitionFolder


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
