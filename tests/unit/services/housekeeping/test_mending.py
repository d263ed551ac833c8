"""What `--mend` makes good, and what it leaves to people."""

import os
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners

from plimsoll.adapters.providers.ssh.bundles import make_bundle, write_archive
from plimsoll.domain.text.errors import BundleError, GateClosed
from plimsoll.services.housekeeping import mending
from plimsoll.services.housekeeping.checking import check_campaign_files
from plimsoll.services.housekeeping.mending import Mended, mend
from plimsoll.services.housekeeping.whole_store import check_store
from plimsoll.services.ownership import held
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit

ATTEMPT = "cells/v1-001k-r1/1"
DERIVED = ("verdict.json", "intervals.parquet", "manifest.json", "attempt.json")


@pytest.fixture
def mine(installation: Installation) -> Path:
    return installation.folder / "store/mine"


def mended(tools: Toolkit) -> tuple[Mended, ...]:
    return tuple(mend(tools, check_campaign_files(tools, "mine", lambda _: None)))


def contents(mine: Path) -> dict[str, bytes]:
    files = (path for path in mine.rglob("*") if path.is_file() and "holds" not in path.parts)
    return {str(path.relative_to(mine)): path.read_bytes() for path in files}


def test_what_the_bundle_has_comes_back_byte_for_byte_and_so_does_the_report(tools: Toolkit, mine: Path) -> None:
    before = contents(mine)
    for name in DERIVED:
        (mine / ATTEMPT / name).write_bytes(b"?")
    (mine / "definition.yaml").unlink()
    (mine / "report/report.html").write_bytes(b"")
    (mine / "report/report.json").unlink()

    assert [one.why_not for one in mended(tools)] == [None] * 7

    assert contents(mine) == before
    assert mended(tools) == ()


def test_without_a_report_damaged_tables_and_verdicts_are_judged_again(tools: Toolkit, mine: Path) -> None:
    tools.store.delete("mine/report")
    before = contents(mine)
    for name in ("verdict.json", "intervals.parquet"):
        (mine / ATTEMPT / name).write_bytes(b"?")

    assert [one.why_not for one in mended(tools)] == [None, None]

    assert mended(tools) == ()
    of_verdicts = {layout.TOTALS.path, layout.FIGURES.path}  # computed once somebody needs them
    assert contents(mine).keys() == before.keys() - of_verdicts
    assert contents(mine)[f"{ATTEMPT}/verdict.json"] == before[f"{ATTEMPT}/verdict.json"]


def test_a_strangers_file_beside_them_keeps_them_from_nothing(tools: Toolkit, mine: Path) -> None:
    tools.store.delete("mine/report")
    (mine / ATTEMPT / "intervals.parquet").unlink()
    (mine / ATTEMPT / "verdict.json~").write_bytes(b"{}")
    os.utime(mine / ATTEMPT / "verdict.json~", (0, 0))
    assert {one.fault.kind: bool(one.why_not) for one in mended(tools)} == {"unreferenced": True, "missing": False}
    assert (mine / ATTEMPT / "intervals.parquet").exists()


def test_tables_that_are_gone_are_made_again(tools: Toolkit, mine: Path) -> None:
    tools.store.delete("mine/report")
    before = (mine / ATTEMPT / "intervals.parquet").read_bytes()
    (mine / ATTEMPT / "intervals.parquet").unlink()
    assert [(one.fault.kind, one.why_not) for one in mended(tools)] == [("missing", None)]
    assert (mine / ATTEMPT / "intervals.parquet").read_bytes() == before


def test_a_report_that_can_not_be_made_again_is_left_with_the_reason(
    tools: Toolkit, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise BundleError("holds what no report can be made of", mend="use the version that made it")

    (mine / "report/report.html").write_bytes(b"")
    monkeypatch.setattr(mending, "report_again", fail)
    assert "use the version that made it" in str(mended(tools)[0].why_not)


def test_an_attempt_is_not_judged_by_raw_files_that_are_damaged(tools: Toolkit, mine: Path) -> None:
    tools.store.delete("mine/report")
    raw, verdict = f"{ATTEMPT}/raw/load/summary.json", f"{ATTEMPT}/verdict.json"
    (mine / raw).write_bytes(b"{}")
    (mine / verdict).write_bytes(b"?")

    why_not = {one.fault.path: one.why_not for one in mended(tools)}

    assert why_not[verdict] == f"it can't be judged again while {raw} is at fault"
    assert "put the file back from a copy" in str(why_not[raw])
    assert (mine / verdict).read_bytes() == b"?"


def test_a_verdict_that_can_not_be_reached_again_comes_back_as_it_was(
    tools: Toolkit, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise GateClosed("no processor is free")

    tools.store.delete("mine/report")
    (mine / ATTEMPT / "verdict.json").write_bytes(b"?")
    monkeypatch.setattr(mending, "judge_again", fail)

    assert [one.why_not for one in mended(tools)] == ["no processor is free"]
    assert (mine / ATTEMPT / "verdict.json").read_bytes() == b"?"


def test_a_damaged_bundle_is_published_again_unless_the_evidence_is_at_fault(tools: Toolkit, mine: Path) -> None:
    (mine / "report/bundle.zip").write_bytes(b"PK")
    raw = mine / ATTEMPT / "raw/load/summary.json"
    whole = raw.read_bytes()
    raw.unlink()
    assert any("no report is made while" in (one.why_not or "") for one in mended(tools))
    raw.write_bytes(whole)

    assert [(one.fault.path, one.why_not) for one in mended(tools)] == [("report/bundle.zip", None)]
    assert mended(tools) == ()


def test_totals_that_can_not_be_read_are_counted_again(tools: Toolkit, mine: Path) -> None:
    before = (mine / "settled.json").read_bytes()
    (mine / "settled.json").write_bytes(b"{")
    assert [one.why_not for one in mended(tools)] == [None]
    assert (mine / "settled.json").read_bytes() == before


@pytest.mark.parametrize("definition", [b"name: mine\nvariants: 3\n", None], ids=["damaged", "missing"])
def test_totals_of_a_campaign_whose_definition_is_bad_make_room_and_every_fault_is_told_once(
    tools: Toolkit, mine: Path, definition: bytes | None
) -> None:
    tools.store.delete("mine/report")
    (mine / "settled.json").write_bytes(b"{")
    tools.store.delete("mine/definition.yaml")
    if definition:
        tools.store.write("mine/definition.yaml", definition)

    found = [(one.fault.path, one.why_not is None) for one in mended(tools)]

    assert found == [("definition.yaml", False), ("settled.json", True)]
    assert not (mine / "settled.json").exists()


def test_nothing_is_mended_while_somebody_works_on_the_campaign(tools: Toolkit, mine: Path) -> None:
    (mine / ATTEMPT / "verdict.json").write_bytes(b"?")
    mine_tools = replace(tools, owners=FixedOwners(me="first", alive={"first", "second"}))
    with held(replace(tools, owners=FixedOwners(me="second", alive=set())), "mine"):
        assert "is being run by second" in str(mended(mine_tools)[0].why_not)
    assert (mine / ATTEMPT / "verdict.json").read_bytes() == b"?"


def test_uploads_that_never_ended_are_removed_and_strangers_are_not(tools: Toolkit, mine: Path) -> None:
    left = mine / f"note.json.{'0' * 32}.part"
    for path in (left, mine / "odd.part", mine.parent / "loose.txt", mine.parent / ".plimsoll-check-0"):
        path.write_text("?")

    *_, rest = check_store(tools, (), lambda _: None, lambda _: None)
    assert {one.fault.path: one.why_not is None for one in mend(tools, rest)} == {
        str(left.relative_to(mine.parent)): True,
        "loose.txt": False,
        ".plimsoll-check-0": True,
    }
    assert [path.exists() for path in (left, mine / "odd.part", mine.parent / "loose.txt")] == [False, True, True]


def test_a_damaged_contribution_to_trends_is_made_again_with_the_report(tools: Toolkit, mine: Path) -> None:
    before = (mine / "trend.json").read_bytes()
    (mine / "trend.json").write_bytes(b"?")

    assert [one.why_not for one in mended(tools)] == [None]

    assert (mine / "trend.json").read_bytes() == before


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [(lambda whole: whole.replace(b"a program", b"a Program"), "differs"), (lambda whole: whole[:700], "unreadable")],
    ids=["another byte", "half of it"],
)
def test_an_archive_of_software_whose_content_is_not_what_its_name_says_is_removed(
    tools: Toolkit, mine: Path, tmp_path: Path, spoil: Callable[[bytes], bytes], kind: str
) -> None:
    (tmp_path / "main.py").write_text("a program " * 100)
    bundle = make_bundle("program", {"main.py": tmp_path / "main.py", "other.py": tmp_path / "main.py"})
    whole = BytesIO()
    write_archive(bundle, sorted(bundle.files), whole)
    archive = mine / "bundles" / f"program-1.2-{bundle.digest}.tar"
    archive.parent.mkdir()
    archive.write_bytes(whole.getvalue())
    assert mended(tools) == ()

    archive.write_bytes(spoil(whole.getvalue()))
    (found,) = mended(tools)
    assert (found.fault.kind, found.fault.expected, found.why_not) == (kind, bundle.digest, None)
    assert not archive.exists()
