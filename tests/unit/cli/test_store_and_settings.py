"""Stores and settings that can not be used are told in words."""

import re
from pathlib import Path

import pytest
from tests.unit.cli.commands import Command


def test_a_store_without_campaigns_is_said_to_have_none(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    assert plimsoll("campaigns")[1].startswith(f"there are no campaigns in {tmp_path}")


def test_the_version_is_told_with_a_digest_of_the_code(plimsoll: Command) -> None:
    code, out, _ = plimsoll("--version")
    assert code == 0
    assert re.fullmatch(r"plimsoll \d+\.\d+\.\d+\+[0-9a-f]{12}\n", out)


@pytest.mark.parametrize(
    "command",
    [["campaigns"], ["status", "c"], ["report", "c"], ["rejudge", "c"], ["bundle", "c"], ["compare", "a", "b"]],
    ids=lambda command: command[0],
)
def test_a_store_that_is_not_there_is_no_empty_list(
    plimsoll: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "nonexist"))
    code, out, err = plimsoll(*command)
    assert (code, out) == (2, "")
    assert f"{tmp_path / 'nonexist'}: there is no result store" in err
    assert "correct PLIMSOLL_STORE" in err
    assert not (tmp_path / "nonexist").exists()


def test_a_file_is_no_store_and_no_campaign_can_make_one_there(
    plimsoll: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "file"))
    code, _, err = plimsoll("campaigns")
    assert code == 2
    assert f"{tmp_path / 'file'}: is a file, not a result store" in err
    assert "makes a store" not in err


def test_the_first_campaign_makes_its_store_where_there_is_a_folder_for_it(
    plimsoll: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "no" / "where"))
    code, _, err = plimsoll("run", tmp_path / "instant.yaml")
    assert code == 2
    assert f"the result store can't be made: there is no folder for it (make the folder {tmp_path / 'no'}" in err
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "first"))
    assert plimsoll("plan", tmp_path / "instant.yaml")[0] == 0
    assert plimsoll("campaigns")[0] == 0


def test_settings_that_can_not_be_used_are_told_in_words(plimsoll: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", "nowhere:toolkit")
    code, _, err = plimsoll("plan", "demo")
    assert code == 2
    assert "PLIMSOLL_TOOLKIT or PLIMSOLL_SECRETS: 'nowhere:toolkit' is no factory" in err


def test_regions_that_are_none_are_told_in_words(plimsoll: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_REGIONS", "eu-west-1; us-east")
    code, _, err = plimsoll("clusters", "list")
    assert code == 2
    assert "PLIMSOLL_REGIONS: is not written as it must be; found 'eu-west-1; us-east'" in err
    assert "write a value like eu-west-1,us-east-1" in err
