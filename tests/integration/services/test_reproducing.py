"""A report from its bundle, by the commands that a person gives: the same bytes, on a machine that has no store."""

import json
import resource
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pyarrow
import pytest
from pyarrow import parquet
from tests.support.campaigns.stored import store_campaign
from tests.support.campaigns.synthetic import Plan, demo_definition
from typer.testing import CliRunner

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.cli import cli
from plimsoll.domain.text.errors import BundleError, GateClosed, NotFound, StoreError
from plimsoll.services.campaign.show.progress import recorded_totals
from plimsoll.services.publish.bundles import BundleIndex, Member, read_bundle, write_bundle
from plimsoll.services.publish.publishing import report_files
from plimsoll.services.publish.results import Snapshot
from plimsoll.services.store.campaigns import CampaignStore

AT = datetime(2026, 1, 31, tzinfo=UTC)


def plimsoll(*arguments: object) -> Any:
    return CliRunner().invoke(cli, [str(one) for one in arguments])


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Provide the store of a campaign whose report is published: drawn once, it takes seconds."""
    folder = tmp_path_factory.mktemp("published")
    plan = Plan({"g1": 200, "shenandoah": 1_500}, retried={"g1-00200-r1"}, saturation_ops_s=4_000.0)
    store_campaign(ObjectStore(str(folder)), demo_definition(), "demo-a", plan, AT)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PLIMSOLL_STORE", str(folder))
        assert plimsoll("report", "demo-a").exception is None
    return folder


def test_what_its_attempts_came_to_is_on_record_with_the_report(published: Any) -> None:
    tally = recorded_totals(CampaignStore(ObjectStore(str(published)), "demo-a"))
    assert tally is not None
    assert sum(tally.counts.values()) == 4


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide another machine: a folder, and a store that holds nothing."""
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_same_report_byte_for_byte_and_its_bundle_too(published: Any, elsewhere: Path) -> None:
    bundle = elsewhere / "bundle.zip"
    bundle.write_bytes((published / "demo-a/report/bundle.zip").read_bytes())
    result = plimsoll("report", bundle, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["campaign_id"], found["differing"], found["versions"]) == ("demo-a", [], {})
    assert files_below(elsewhere / "demo-a-report") == files_below(published / "demo-a/report")
    assert found["files"] == len(files_below(elsewhere / "demo-a-report"))
    assert not (elsewhere / "store").exists()


def test_a_bundle_with_raw_files_holds_what_the_manifests_name_and_gives_the_same_report(
    published: Any, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(published))
    assert plimsoll("bundle", "demo-a", "--raw", "-o", "raw.zip").exit_code == 0
    with ZipFile("raw.zip") as archive:
        raw = [name for name in archive.namelist() if "/raw/" in name]
        assert len(raw) == 5
        assert json.loads(archive.read("bundle.json"))["raw"] == "included"
        assert archive.read(raw[0]) == (published / "demo-a" / raw[0]).read_bytes()
    assert isinstance(plimsoll("report", "raw.zip", "--into", "raw.zip").exception, StoreError)
    assert plimsoll("report", "raw.zip", "--into", "again").exit_code == 0
    assert files_below(elsewhere / "again") == files_below(published / "demo-a/report")


def test_tables_with_other_columns_are_named_as_content_that_no_report_is_made_of(
    published: Any, elsewhere: Path
) -> None:
    odd = BytesIO()
    pd.DataFrame({"of_another_program": [1]}).to_parquet(odd)
    assert "holds what no report can be made of: KeyError(" in refusal_of_intervals(published, odd.getvalue())


def test_a_table_that_claims_to_be_smaller_than_it_is_fills_no_memory(
    published: Any, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.domain.keys.host_bounds.MOST_MEMORY_OF_A_BUNDLE", 400 << 20)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert "can't be read as a table (malloc of size " in refusal_of_intervals(published, understated_table())
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def refusal_of_intervals(published: Path, table: bytes) -> str:
    """Return the error of a report from a bundle with another table of intervals."""
    bundle = read_bundle(BytesIO((published / "demo-a/report/bundle.zip").read_bytes()), "")
    files = bundle.files | {name: table for name in bundle.files if name.endswith("intervals.parquet")}
    with Path("odd.zip").open("wb") as changed:
        write_bundle(changed, bundle.index, {name: Member.of(content) for name, content in files.items()})
    error = plimsoll("report", "./odd.zip").exception
    assert isinstance(error, BundleError)
    return str(error)


def understated_table() -> bytes:
    """Return a text of 512 MiB in some kilobytes, of which the file's own metadata says that it has 1,000 bytes."""
    stream = BytesIO()
    text = pyarrow.table({"operation": ["x" * (512 << 20)]})
    parquet.write_table(text, stream, compression="zstd", use_dictionary=False, write_statistics=False)
    table = stream.getvalue()
    size = parquet.ParquetFile(BytesIO(table)).metadata.row_group(0).column(0).total_uncompressed_size
    end_of_pages = len(table) - 8 - int.from_bytes(table[-8:-4], "little")
    metadata = table[end_of_pages:].replace(thrift_number(size), thrift_number(1_000, len(thrift_number(size))))
    changed = table[:end_of_pages] + metadata
    assert parquet.ParquetFile(BytesIO(changed)).metadata.row_group(0).column(0).total_uncompressed_size == 1_000
    return changed


def thrift_number(number: int, least_bytes: int = 1) -> bytes:
    """Return a positive number in Thrift's compact protocol: doubled, 7 bits a byte, a mark on all bytes but
    the last.
    """
    doubled, digits = 2 * number, bytearray()
    while doubled > 127 or len(digits) < least_bytes - 1:
        digits.append(doubled & 127 | 128)
        doubled >>= 7
    return bytes(digits) + bytes([doubled])


def test_a_report_is_written_through_no_link_that_a_stranger_left(published: Any, elsewhere: Path) -> None:
    (elsewhere / "demo-a-report").mkdir()
    (elsewhere / "own.txt").write_text("mine")
    (elsewhere / "demo-a-report" / "summary.md").symlink_to(elsewhere / "own.txt")
    result = plimsoll("report", published / "demo-a/report/bundle.zip")
    assert isinstance(result.exception, StoreError)
    assert "summary.md: is no file, or a link out of the folder" in str(result.exception)
    assert (elsewhere / "own.txt").read_text() == "mine"


def test_the_command_gives_the_published_bundle(
    published: Any, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(published))
    answer = json.loads(plimsoll("bundle", "demo-a", "--json").stdout)
    content = (elsewhere / "demo-a.zip").read_bytes()
    assert content == (published / "demo-a/report/bundle.zip").read_bytes()
    assert answer == {"campaign_id": "demo-a", "bundle": "demo-a.zip", "bytes": len(content)}


def test_unpacked_into_a_store_it_is_the_campaign_again(
    published: Any, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ZipFile(published / "demo-a/report/bundle.zip") as archive:
        archive.extractall(elsewhere / "store" / "demo-a")
    found = json.loads(plimsoll("compare", "demo-a", "demo-a", "--json").stdout)
    monkeypatch.setenv("PLIMSOLL_STORE", str(published))
    first = json.loads(plimsoll("compare", "demo-a", "demo-a", "--json").stdout)
    assert found["capacity"] == first["capacity"]
    assert found["a"]["campaign_id"] == "demo-a"


def changed(published: Path, file: Path, name: str, old: bytes, new: bytes, **index: object) -> None:
    """Write the published bundle with one file changed, and checksums that fit."""
    with (published / "demo-a/report/bundle.zip").open("rb") as stream:
        bundle = read_bundle(stream, "")
    assert old in bundle.files[name]
    files = {**bundle.files, name: bundle.files[name].replace(old, new)}
    claimed = BundleIndex.model_validate({**bundle.index.model_dump(), **index})
    members = {name: Member.of(content) for name, content in files.items()}
    with file.open("wb") as stream:
        write_bundle(stream, claimed, members)


def test_files_that_differ_are_named_with_the_versions_that_do(published: Any, elsewhere: Path) -> None:
    index = ZipFile(published / "demo-a/report/bundle.zip").read("bundle.json")
    first = BundleIndex.model_validate_json(index).versions
    versions = {**first, "numpy": "1.0"}
    changed(published, Path("other.zip"), "definition.yaml", b"title: G1", b"title: H1", versions=versions)
    result = plimsoll("report", "other.zip")
    assert result.exit_code == 1
    assert "of 39 files these are not those of the first report: report.html, report.json, summary.md" in result.stdout
    assert f"numpy: 1.0, now {first['numpy']}" in result.stdout
    with Path("demo-a-report/bundle.zip").open("rb") as stream:
        assert read_bundle(stream, "").index.versions == first


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("definition.yaml", b"repeats: 1", b"repeats: x"), "refused, 1 problem"),
        (("cells/shenandoah-01500-r1/1/fingerprint.json", b'"kernel"', b'"colonel"'), "facts.kernel: is missing"),
        (("cells/shenandoah-01500-r1/1/verdict.json", b'"met": true', b'"met": false'), "attempts were judged since"),
    ],
)
def test_what_no_report_can_be_made_of_is_refused_by_name(
    published: Any, elsewhere: Path, change: Any, why: str
) -> None:
    changed(published, Path("other.zip"), *change)
    refused = plimsoll("report", "other.zip").exception
    assert isinstance(refused, BundleError)
    assert "other.zip: holds what no report can be made of" in str(refused)
    assert why in str(refused)
    assert not (elsewhere / "demo-a-report").exists()


def test_attempts_that_the_gate_has_not_seen_are_not_reported(published: Any) -> None:
    with (published / "demo-a/report/bundle.zip").open("rb") as stream:
        files = read_bundle(stream, "").files
    fewer = {f"demo-a/{name}": content for name, content in files.items() if "shenandoah-01500" not in name}
    with pytest.raises(GateClosed, match="attempts were judged since"):
        report_files(Snapshot(fewer), "demo-a", AT, "1")


@pytest.mark.parametrize(
    ("command", "error"),
    [(("report", "./gone.zip"), NotFound), (("report", "."), NotFound), (("bundle", "demo-a"), StoreError)],
)
def test_what_is_not_there_is_named(elsewhere: Path, command: Any, error: Any) -> None:
    assert isinstance(plimsoll(*command).exception, error)


def test_a_damaged_bundle_leaves_no_report(published: Any, elsewhere: Path) -> None:
    content = (published / "demo-a/report/bundle.zip").read_bytes()
    (elsewhere / "cut.zip").write_bytes(content[: len(content) // 2])
    assert isinstance(plimsoll("report", "cut.zip").exception, BundleError)
    assert not (elsewhere / "demo-a-report").exists()


def test_a_folder_is_for_bundles_alone(elsewhere: Path) -> None:
    assert plimsoll("report", "demo-a", "--into", "x").exit_code == 2
