"""The code's version tells changes apart that the version number does not."""

from pathlib import Path

from plimsoll import __version__
from plimsoll.adapters.code_version import code_version, digest


def source(root: Path, **files: str) -> Path:
    for name, text in files.items():
        (root / "part").mkdir(parents=True, exist_ok=True)
        (root / "part" / f"{name}.py").write_text(text)
    return root


def test_it_begins_with_the_version_number() -> None:
    number, _, digest = code_version().partition("+")
    assert (number, len(digest)) == (__version__, 12)


def test_the_same_files_give_the_same_digest_wherever_they_lie(tmp_path: Path) -> None:
    here, there = (source(tmp_path / name, a="1", b="2") for name in ("here", "there"))
    (there / "part" / "__pycache__").mkdir()
    (there / "part" / "__pycache__" / "a.pyc").write_text("compiled")
    assert digest(here) == digest(there)


def test_other_contents_or_names_give_another(tmp_path: Path) -> None:
    digests = {
        digest(source(tmp_path / "1", a="1", b="2")),
        digest(source(tmp_path / "2", a="1", b="3")),
        digest(source(tmp_path / "3", a="1", c="2")),
        digest(source(tmp_path / "4", a="12")),
    }
    assert len(digests) == 4
