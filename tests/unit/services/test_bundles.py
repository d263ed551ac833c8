"""Bundles: deterministic to write, and read only when whole, safe and of a known format."""

import json
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from plimsoll.domain.text.errors import BundleError
from plimsoll.services.publish.bundles import (
    CHECKSUMS,
    INDEX,
    BundleIndex,
    Member,
    checksums_of,
    read_bundle,
    write_bundle,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
FILES = {
    "definition.yaml": b"name: demo\n",
    "cells/a-001k-r1/1/verdict.json": b"{}",
    "cells/a-001k-r1/1/intervals.parquet": b"PAR1",
}
RAW = "cells/a-001k-r1/1/raw/load/load.hdr"


def index(**changes: Any) -> BundleIndex:
    facts = {"campaign_id": "demo-1", "generated_at": AT, "versions": {}, "commands": {}, "report": {}}
    return BundleIndex.model_validate(facts | changes)


def written(files: Any = FILES, **changes: Any) -> Any:
    stream = BytesIO()
    write_bundle(stream, index(**changes), {name: Member.of(content) for name, content in files.items()})
    return stream.getvalue()


def zipped(files: Any, checksums: Any = None) -> Any:
    """Return an archive of the names and contents given (pairs: names may stand twice), with right checksums by
    default.
    """
    listed = checksums_of(dict(files)) if checksums is None else checksums
    lines = "".join(f"{digest}  {name}\n" for name, digest in listed.items())
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, content in (*files, (CHECKSUMS, lines.encode())):
            archive.writestr(name, content)
    return stream.getvalue()


def whole(**changes: Any) -> list[Any]:
    """Return what `zipped` wants for a bundle with these flaws alone: of files, and of the index."""
    changed = json.loads(index().model_dump_json()) | changes
    return [(INDEX, json.dumps(changed).encode()), *FILES.items()]


def refusal(content: Any) -> str:
    with pytest.raises(BundleError) as refused:
        read_bundle(BytesIO(content), "bundle.zip")
    return str(refused.value)


def test_what_was_written_is_read() -> None:
    bundle = read_bundle(BytesIO(written()), "bundle.zip")
    assert bundle.index == index()
    assert bundle.files == FILES
    assert read_bundle(BytesIO(zipped(whole())), "bundle.zip") == bundle


def test_equal_content_gives_equal_bytes_in_whatever_order_it_comes() -> None:
    assert written() == written(dict(reversed(FILES.items())))
    with ZipFile(BytesIO(written())) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_keys_that_a_newer_version_has_added_change_nothing() -> None:
    assert read_bundle(BytesIO(zipped(whole(added="later"))), "bundle.zip").index == index()


def test_sha256sum_can_read_the_checksums() -> None:
    with ZipFile(BytesIO(written())) as archive:
        lines = archive.read(CHECKSUMS).decode().splitlines()
        assert lines == [f"{sha256(archive.read(n)).hexdigest()}  {n}" for n in archive.namelist() if n != CHECKSUMS]


def manifest(**files: Any) -> tuple[str, bytes]:
    """Return the manifest of the attempt that has raw files, which names the one with this size and checksum."""
    facts = {"path": RAW.partition("/1/")[2], "size_bytes": 5, "sha256": sha256(b"first").hexdigest()} | files
    key = {"campaign_id": "demo-1", "cell_id": "a-001k-r1", "attempt": 1}
    text = json.dumps({"key": key, "files": [facts], "written_at": AT.isoformat()})
    return "cells/a-001k-r1/1/manifest.json", text.encode()


def test_raw_files_are_checked_but_not_kept() -> None:
    named = dict([manifest()])
    assert read_bundle(BytesIO(written(FILES | named | {RAW: b"first"})), "bundle.zip").files == FILES | named
    files = [*whole(), manifest()]
    spoilt = zipped([*files, (RAW, b"other")], checksums_of(dict(files) | {RAW: b"first"}))
    assert f"{RAW} is not what its checksum says" in refusal(spoilt)


@pytest.mark.parametrize(
    "named",
    [
        manifest(size_bytes=4),
        manifest(sha256="0" * 64),
        manifest(path="raw/load/other.hdr"),
        ("cells/a-001k-r1/1/manifest.json", b"{}"),
        ("cells/a-001k-r1/2/manifest.json", manifest()[1]),
    ],
)
def test_a_raw_file_that_its_manifest_does_not_name_so_is_refused_unread(named: Any) -> None:
    refused = zipped([*whole(), named, (RAW, b"first")])
    assert f"{RAW} is not as its attempt's manifest says" in refusal(refused)


def test_raw_files_that_are_packed_to_almost_nothing_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.services.publish.bundles._ALWAYS_ALLOWED", 1 << 20)
    bomb = bytes(4 << 20)
    files = [*whole(), manifest(size_bytes=len(bomb), sha256=sha256(bomb).hexdigest())]
    stream = BytesIO(zipped(files, checksums_of(dict(files) | {RAW: bomb})))
    with ZipFile(stream, "a", ZIP_DEFLATED) as archive:
        archive.writestr(RAW, bomb)
    assert "MiB with raw files" in refusal(stream.getvalue())


def test_what_packs_to_almost_nothing_is_written_so_that_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.services.publish.bundles._ALWAYS_ALLOWED", 0)
    hollow, log = bytes(4 << 20), b"".join(b"%d pause\n" % number for number in range(1000))
    named = dict([manifest(size_bytes=len(hollow), sha256=sha256(hollow).hexdigest())])
    files = FILES | named | {"cells/a-001k-r1/1/hollow": hollow, "cells/a-001k-r1/1/log": log}
    content = written(files | {RAW: hollow})
    assert read_bundle(BytesIO(content), "bundle.zip").files == files
    with ZipFile(BytesIO(content)) as archive:
        packed = {entry.filename for entry in archive.infolist() if entry.compress_type == ZIP_DEFLATED}
    assert packed & {"cells/a-001k-r1/1/hollow", "cells/a-001k-r1/1/log", RAW} == {"cells/a-001k-r1/1/log"}


@pytest.mark.parametrize("size", [0, 1, 1000, (1 << 20) + 1])
def test_nothing_is_packed_beyond_the_bound(size: int) -> None:
    with ZipFile(BytesIO(written(FILES | {"cells/a-001k-r1/1/hollow": b"a" * size}))) as archive:
        entry = archive.getinfo("cells/a-001k-r1/1/hollow")
    assert entry.file_size <= 100 * entry.compress_size


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "cells/../../evil", "C:/evil", "cells\\..\\evil", "a//b", "./a"]
)
def test_a_member_that_leads_out_of_the_bundle_is_refused_although_its_checksum_is_right(name: str) -> None:
    assert "is no plain file below the campaign" in refusal(zipped([*whole(), (name, b"x")]))
    with pytest.raises(BundleError, match="is no name of a file"):
        written({name: b"x"})


def test_a_symbolic_link_is_refused() -> None:
    link = ZipInfo("cells/link")
    link.external_attr = 0o120777 << 16
    assert "'cells/link' is no plain file" in refusal(zipped([*whole(), (link, b"/etc/passwd")], {}))


def test_a_name_that_stands_twice_is_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped([*whole(), ("definition.yaml", b"name: other\n")])
    assert "a name stands twice" in refusal(twice)


def test_a_method_of_compression_that_bundles_do_not_use_is_refused() -> None:
    odd = ZipInfo("odd")
    odd.compress_type = ZIP_BZIP2
    assert "compressed by another method" in refusal(zipped([*whole(), (odd, b"x")], {}))


def test_what_would_fill_the_memory_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.services.publish.bundles.LARGEST_BYTES", 1 << 20)
    stream = BytesIO(zipped(whole()))
    with ZipFile(stream, "a", ZIP_DEFLATED) as archive:
        archive.writestr("cells/bomb", bytes(1 << 21))
    assert "larger than 1 MiB without raw files" in refusal(stream.getvalue())


def test_what_is_packed_to_almost_nothing_is_refused_unread() -> None:
    stream = BytesIO(zipped(whole()))
    with ZipFile(stream, "a", ZIP_DEFLATED) as archive:
        archive.writestr("cells/bomb", bytes(100 << 20))
    assert "larger than 73 MiB without raw files" in refusal(stream.getvalue())


@pytest.mark.parametrize(
    ("files", "checksums", "why"),
    [
        (whole(), checksums_of(dict(whole()) | {"definition.yaml": b"name: other\n"}), "definition.yaml is not what"),
        ([*whole(), ("cells/more", b"")], checksums_of(dict(whole())), "cells/more is missing"),
        (whole()[:-1], checksums_of(dict(whole())), "intervals.parquet is missing"),
        (whole(format=2), None, "is of format 2; this Plimsoll reads formats up to 1"),
        (whole(format=2, campaign_id=None, more=1), None, "is of format 2"),
        (whole(campaign_id="../x"), None, "bundle.json can't be read: is not written as it must be"),
        (whole()[1:], None, "it has no bundle.json"),
    ],
)
def test_what_is_not_whole_or_too_new_is_refused(files: Any, checksums: Any, why: str) -> None:
    assert why in refusal(zipped(files, checksums))


def test_damage_at_any_byte_is_noticed_or_harmless() -> None:
    first, noticed = read_bundle(BytesIO(written()), "bundle.zip"), 0
    for at in range(len(written())):
        content = bytearray(written())
        content[at] ^= 0xFF
        try:
            assert read_bundle(BytesIO(bytes(content)), "bundle.zip") == first
        except BundleError:
            noticed += 1
    assert noticed > len(written()) / 2


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive at all", written()[:-30], written()[40:]])
def test_what_is_no_zip_file_is_refused(content: Any) -> None:
    refusal(content)


def test_a_file_that_has_changed_since_its_checksum_was_taken_is_not_bundled() -> None:
    with pytest.raises(BundleError, match=r"load\.hdr: is not what its checksum says"):
        write_bundle(BytesIO(), index(), {RAW: Member("0" * 64, lambda: b"changed")})
