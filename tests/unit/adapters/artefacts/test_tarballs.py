"""What a tar archive may do to the machine that unpacks it, with Python's own filter and without."""

import io
import os
import sys
import tarfile
from pathlib import Path
from typing import Any, cast

import pytest

from plimsoll.adapters.artefacts import archives
from plimsoll.adapters.artefacts.archives import unpack_tar


@pytest.fixture(params=["with the filter", "without"], autouse=True)
def python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide Python with its filter for archives, and as it was before 3.11.4."""
    if request.param == "without" and sys.version_info < (3, 12):
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif request.param == "without" or not hasattr(tarfile, "data_filter"):
        pytest.skip("this Python has it always, or never")


def member(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.size = len(content)
    for field, value in fields.items():
        setattr(made, field, value)
    return made, content


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, type=kind, linkname=target)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "unpacked"


def archive(folder: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    packed = folder.parent / "packed.tar.gz"
    with tarfile.open(packed, "w:gz") as tar:
        for made, content in members:
            tar.addfile(made, io.BytesIO(content))
    return packed


def test_files_folders_and_links_inside_are_there_and_belong_to_who_unpacks_them(folder: Path) -> None:
    program = member("jdk/bin/java", b"#!", mode=0o6777, uid=12345, gid=12345, uname="daemon", gname="daemon")
    hard = member("jdk/again", type=tarfile.LNKTYPE, linkname="jdk/bin/java", mode=0o6777)

    unpack_tar(
        archive(folder, member("jdk", type=tarfile.DIRTYPE, mode=0o755), program, link("jdk/java", "bin/java"), hard),
        folder,
    )

    found = (folder / "jdk/bin/java").stat()
    assert (found.st_mode & 0o7777, found.st_uid, found.st_gid) == (0o755, os.geteuid(), os.getegid())
    assert (folder / "jdk/java").read_bytes() == (folder / "jdk/again").read_bytes() == b"#!"


@pytest.mark.parametrize(
    "members",
    [
        (member("../outside", b"x"),),
        (link("out", ".."), member("out/outside", b"x")),
        (link("deep/out", "../../outside"),),
        (link("absolute", "/etc/passwd"),),
        (link("hard", "../outside", tarfile.LNKTYPE),),
        (link("deep/link", "../x"), link("h", "deep/link", tarfile.LNKTYPE)),
        (member("/outside", b"x"),),
        (member("pipe", type=tarfile.FIFOTYPE),),
    ],
    ids=[
        "name",
        "through a link",
        "link",
        "absolute link",
        "hard link",
        "hard link to a link",
        "absolute name",
        "pipe",
    ],
)
def test_what_leads_outside_or_is_no_file_is_refused(
    folder: Path, members: tuple[tuple[tarfile.TarInfo, bytes], ...]
) -> None:
    with pytest.raises(tarfile.TarError):
        unpack_tar(archive(folder, *members), folder)
    assert not (folder.parent / "outside").exists()
    assert not [path for path in folder.rglob("*") if path.is_fifo() or not path.resolve().is_relative_to(folder)]


def test_no_more_is_unpacked_than_the_bound(folder: Path) -> None:
    packed = archive(folder, *(member(f"file{place}", bytes(1000)) for place in range(5)))
    unpack_tar(packed, folder, most_bytes=5000)
    with pytest.raises(tarfile.TarError, match="more than 4,000 bytes"):
        unpack_tar(packed, folder, most_bytes=4000)


def test_no_more_members_are_unpacked_than_the_bound(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 4)
    packed = archive(folder, *(member(f"file{place}") for place in range(5)))
    with pytest.raises(tarfile.TarError, match="more than 4 files, folders and links"):
        unpack_tar(packed, folder)
    assert len(list(folder.iterdir())) == 4


def test_folders_can_be_entered_and_files_are_run_by_others_only_if_by_their_owner(folder: Path) -> None:
    hidden, odd = member("jdk", type=tarfile.DIRTYPE, mode=0), member("jdk/notes", b"x", mode=0o611)
    unpack_tar(archive(folder, hidden, odd), folder)
    assert (folder / "jdk").stat().st_mode & 0o700 == 0o700
    assert (folder / "jdk/notes").stat().st_mode & 0o7777 == 0o600


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("damage", ["zeros", "cut short"])
def test_a_damaged_archive_is_told_as_one(folder: Path, compression: str, damage: str) -> None:
    packed, content, mode = folder.parent / "packed", io.BytesIO(), cast(Any, f"w:{compression}")
    with tarfile.open(fileobj=content, mode=mode) as tar:
        made, noise = member("noise", os.urandom(300_000))
        tar.addfile(made, io.BytesIO(noise))
    whole, half = content.getvalue(), len(content.getvalue()) // 2
    packed.write_bytes(whole[:half] + (bytes(half) if damage == "zeros" else b""))
    with pytest.raises(tarfile.TarError):
        unpack_tar(packed, folder)


def test_an_archive_that_contradicts_itself_is_told_as_damaged(folder: Path) -> None:
    as_both = member("jdk", b"x"), member("jdk/java", b"x")
    missing = (link("again", "nowhere", tarfile.LNKTYPE),)
    for members in (as_both, missing):
        with pytest.raises(tarfile.TarError):
            unpack_tar(archive(folder, *members), folder)
