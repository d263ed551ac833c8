"""The documentation's pictures show what the product looks like today."""

import os
import re
from pathlib import Path

import pytest
from tests.pictures.record import BY_HAND, CHECKOUT, GROUPS, IMAGES, digest, recorded, stale


@pytest.mark.skipif(not os.environ.get("PLIMSOLL_TEST_ALL"), reason="CI alone asks for fresh pictures: make pictures")
def test_no_picture_is_older_than_its_template() -> None:
    found = stale(recorded())
    assert not found, f"templates have changed since these were made; make them again with `make pictures`: {found}"


@pytest.mark.parametrize("group", GROUPS)
def test_a_changed_added_or_removed_template_makes_its_pictures_stale(group: str, tmp_path: Path) -> None:
    pattern = GROUPS[group].sources[0]
    first = tmp_path / pattern.replace("*", "a.html")
    first.parent.mkdir(parents=True)
    first.write_text("one")
    known = dict.fromkeys(GROUPS[group].pictures, digest(group, tmp_path))
    assert not set(GROUPS[group].pictures) & set(stale(known, tmp_path))
    first.write_text("another")
    assert set(GROUPS[group].pictures) <= set(stale(known, tmp_path))
    first.write_text("one")
    first.with_name("b.html").write_text("")
    assert set(GROUPS[group].pictures) <= set(stale(known, tmp_path))


def test_every_picture_is_made_by_the_command_or_named_as_made_by_hand() -> None:
    made = {name for group in GROUPS.values() for name in group.pictures}
    assert {path.name for path in IMAGES.glob("*.png")} == made | set(BY_HAND)


def test_every_picture_is_shown_and_every_one_that_is_shown_is_there() -> None:
    pages = [CHECKOUT / "README.md", *(CHECKOUT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w-]+\.png)", page.read_text(encoding="utf-8"))}
    assert shown == {path.name for path in IMAGES.glob("*.png")}
