"""`plimsoll store`, as a user gives it."""

import json
from pathlib import Path

import pytest
from tests.support.stores.stored_campaign import CAMPAIGN, STORED
from tests.unit.cli.commands import Command

from plimsoll.adapters.artefacts.archives import unpack_tar

RAW = "cells/v1-001k-r1/1/raw/load/summary.json"


@pytest.fixture
def campaign(tmp_path: Path, plimsoll: Command) -> Path:
    """Provide the folder of a campaign in the store that the commands use."""
    unpack_tar(STORED, tmp_path / "store")
    return tmp_path / "store" / CAMPAIGN


def test_of_a_sound_store_check_says_how_much_it_has_read(plimsoll: Command, campaign: Path) -> None:
    code, out, _ = plimsoll("store", "check")
    assert (code, out.splitlines()[-1]) == (0, f"checked {len(_files(campaign))} files: 0 faults")


def test_a_flipped_byte_is_named_in_text_and_in_json_with_exit_code_1(plimsoll: Command, campaign: Path) -> None:
    (campaign / RAW).write_bytes(b"?")

    code, out, _ = plimsoll("store", "check", CAMPAIGN)
    assert (code, f"{CAMPAIGN}/{RAW}: differs: its bytes are not those that the attempt's manifest records" in out) == (
        1,
        True,
    )
    code, out, _ = plimsoll("store", "check", "--json")
    [fault] = json.loads(out)["faults"]
    assert (code, fault["campaign_id"], fault["path"], fault["kind"]) == (1, CAMPAIGN, RAW, "differs")
    assert fault["expected_sha256"] != fault["actual_sha256"] != ""
    assert (fault["mended"], "put the file back" in fault["to_mend"]) == (False, True)


def test_check_mends_only_when_asked(plimsoll: Command, campaign: Path) -> None:
    verdict = campaign / "settled.json"
    verdict.write_text("{")

    code, out, _ = plimsoll("store", "check")
    assert (code, "`plimsoll store check --mend` mends what it can" in out, verdict.read_text()) == (1, True, "{")
    code, out, _ = plimsoll("store", "check", "--mend")
    assert (code, out.splitlines()[-1].endswith("1 fault, 1 of them mended")) == (0, True)
    assert plimsoll("store", "check")[0] == 0


def test_a_campaign_that_is_not_there_is_an_error(plimsoll: Command, campaign: Path) -> None:
    code, _, err = plimsoll("store", "check", "nonesuch")
    assert (code, "there is no campaign 'nonesuch'" in err) == (2, True)


def test_usage_shows_each_campaign_and_what_belongs_to_none(plimsoll: Command, campaign: Path) -> None:
    (campaign.parent / "loose").write_bytes(b"123")
    code, out, _ = plimsoll("store", "usage", "--json")
    found = json.loads(out)
    assert (code, [one["campaign_id"] for one in found["usage"]]) == (0, [CAMPAIGN, None])
    whole = sum(path.stat().st_size for path in _files(campaign))
    assert (found["usage"][0]["total"], found["total"]) == (whole, whole + 3)
    code, out, _ = plimsoll("store", "usage")
    assert (code, CAMPAIGN in out, "other files" in out) == (0, True, True)


@pytest.fixture
def published(plimsoll: Command, campaign: Path) -> Path:
    """Provide the campaign's folder, its report published."""
    assert plimsoll("report", CAMPAIGN)[0] == 0
    return campaign


def test_prune_names_what_would_go_then_removes_it_and_rejudge_says_so(plimsoll: Command, published: Path) -> None:
    code, out, _ = plimsoll("store", "prune", "--to", "0.0GB", "--dry-run", "--json")
    [dry] = json.loads(out)["campaigns"]
    assert (code, dry["campaign_id"], dry["why_not"], (published / RAW).exists()) == (0, CAMPAIGN, "", True)

    code, out, _ = plimsoll("store", "prune", "--to", "0MB")
    assert (code, f"{CAMPAIGN}: " in out, "more than 0 GB of raw files: removed" in out) == (0, True, True)
    assert not list(published.rglob("raw"))

    code, out, _ = plimsoll("rejudge", CAMPAIGN, "--jobs", "1")
    assert (code, "raw files were removed on" in out) == (1, True)
    code, _, err = plimsoll("rejudge", CAMPAIGN, "--jobs", "1", "--sliding")
    assert (code, "raw files were removed on" in err) == (2, True)
    assert plimsoll("report", CAMPAIGN)[0] == 0
    assert plimsoll("store", "check")[0] == 0


def test_settings_give_the_rule_where_no_option_does(
    plimsoll: Command, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = plimsoll("store", "prune")
    assert (code, "set PLIMSOLL_RAW_DAYS or" in " ".join(err.replace("│", " ").split())) == (2, True)
    monkeypatch.setenv("PLIMSOLL_RAW_DAYS", "36500")
    assert plimsoll("store", "prune")[:2] == (0, "0.0 MB of raw files removed\n")
    assert (published / RAW).exists()


@pytest.mark.parametrize("options", [("--older-than", "90"), ("--older-than", "0d"), ("--to", "50"), ("--to", "50G")])
def test_an_age_and_a_size_have_their_units(plimsoll: Command, campaign: Path, options: tuple[str, str]) -> None:
    code, _, err = plimsoll("store", "prune", *options)
    assert (code, "like 90d" in err or "like 50GB" in err) == (2, True)


def test_a_campaign_that_is_kept_stays_until_the_mark_is_taken_away(plimsoll: Command, published: Path) -> None:
    assert plimsoll("store", "keep", CAMPAIGN, "our reference")[1] == f"raw files of campaign {CAMPAIGN} stay\n"
    code, out, _ = plimsoll("store", "prune", "--to", "0MB")
    assert (code, "stays: " in out, "keeps it: our reference" in out) == (0, True, True)
    assert plimsoll("store", "keep", CAMPAIGN, "")[1] == f"raw files of campaign {CAMPAIGN} may go\n"
    assert (published / RAW).exists()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
