"""The documentation's pictures show what the product looks like today."""

import re
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
from tests.pictures.captions import CAPTIONS, write_captions, wrong_captions
from tests.pictures.record import BY_HAND, CAMPAIGN, CHECKOUT, GROUPS, IMAGES, digest, recorded, stale

from plimsoll.services.publish.bundles import read_bundle


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
    pages = [CHECKOUT / "README.md", *(CHECKOUT / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w-]+\.png)", page.read_text(encoding="utf-8"))}
    assert shown == {path.name for path in IMAGES.glob("*.png")}


def test_captions_say_whether_results_are_a_real_campaigns_or_made_up(tmp_path: Path) -> None:
    assert list(wrong_captions()) == []
    for name in {caption.document for caption in CAPTIONS}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((CHECKOUT / name).read_bytes())
    for real in (True, False, True):
        write_captions(tmp_path, real=real)
        assert list(wrong_captions(tmp_path, real=real)) == []
        assert len(list(wrong_captions(tmp_path, real=not real))) == len(CAPTIONS)


@pytest.mark.skipif(not CAMPAIGN.exists(), reason="the pictures show made-up results: there is no bundle")
def test_the_bundle_tells_nothing_of_the_machine_that_made_it() -> None:
    with CAMPAIGN.open("rb") as stream:
        files = read_bundle(stream, CAMPAIGN.name).files
    assert {name: found for name, content in files.items() if (found := private_words(name, content))} == {}


@pytest.mark.parametrize("text", ["-Xlog:gc*:file=/root/work/gc.log", "process:build-7/b00t/1/2/3", "/home/ada/x"])
def test_private_words_are_found_in_texts_and_tables(text: str) -> None:
    table = BytesIO()
    pd.DataFrame({"text": [text, "-Xmx1g /srv/plimsoll/cache/jdks"], "start_s": 1.0}).to_parquet(table)
    assert private_words("cells/a/1/attempt.json", text.encode())
    assert private_words("cells/a/1/log-lines.parquet", table.getvalue())
    assert not private_words("a.json", b"process:plimsoll/b00t/1/2/3 and /srv/plimsoll/clusters, /proc/1/stat")


def private_words(name: str, content: bytes) -> set[str]:
    """Return folders of people and of workplaces, and names of hosts other than `plimsoll`."""
    if name.endswith(".parquet"):
        table = pd.read_parquet(BytesIO(content)).select_dtypes(exclude="number")
        text = "\n".join(str(value) for column in table for value in table[column].unique())
    else:
        text = content.decode(errors="replace")
    return set(re.findall(r"/(?:root|home|Users|tmp|work)/[^\s\"']*|process:(?!plimsoll/)[^/\s]+", text))
