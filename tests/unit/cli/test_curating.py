"""`plimsoll campaigns note` and `delete`, and `plimsoll run` beside a run of Airflow's, as a user gives them."""

import json
import os
import pwd
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition
from typer.testing import CliRunner, Result

from plimsoll.cli import cli
from plimsoll.domain.text.errors import NotFound, Refused
from plimsoll.services.cell.attempts import begin
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.store.listing import campaign_ids

DEFINITION = instant_definition("demo", variants=1, loads=2)


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    made = Installation(tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LOGNAME", "somebody-else")
    for name in ("mine", "other"):
        made.open_campaign(DEFINITION, name)
    return made


def plimsoll(*arguments: str, answers: str = "") -> Result:
    return CliRunner().invoke(cli, arguments, input=answers)


def test_a_note_is_written_shown_in_the_list_and_removed(installation: Installation) -> None:
    assert plimsoll("campaigns", "note", "mine", "two racks").output == "campaign mine has this note now\n"
    listed = json.loads(plimsoll("campaigns", "list", "--json").stdout)
    assert [(one["campaign_id"], (one["note"] or {})) for one in listed] == [("mine", "two racks"), ("other", {})]
    assert "two racks" in plimsoll("campaigns").output
    plimsoll("campaigns", "note", "mine", "lost [/127.0.0.1:9042]")
    assert "lost [/127.0.0.1:9042]" in plimsoll("campaigns").output
    assert plimsoll("campaigns", "note", "mine", "").output == "campaign mine has no note now\n"


def test_a_note_on_no_campaign_and_one_that_is_too_long_are_refused(installation: Installation) -> None:
    assert isinstance(plimsoll("campaigns", "note", "nonesuch", "x").exception, NotFound)
    assert isinstance(plimsoll("campaigns", "note", "mine", "x" * 100_000).exception, Refused)


@pytest.mark.parametrize(
    "command",
    [
        ("campaigns", "delete", "--yes", "mine/"),
        ("campaigns", "note", "mine/", "x"),
        ("store", "keep", "mine/", "x"),
        ("store", "check", "mine/"),
        ("rejudge", "--jobs", "1", "mine/"),
        ("status", "mine/"),
        ("compare", "other", "mine/"),
        ("bundle", "mine/", "-o", "mine.zip"),
    ],
)
def test_a_path_is_no_campaign_and_the_one_meant_is_named(
    installation: Installation, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(installation.folder)
    refused = plimsoll(*command)
    assert isinstance(refused.exception, NotFound)
    assert "there is no campaign 'mine/'\n  To mend it: did you mean 'mine'?" in str(refused.exception)
    assert campaign_ids(installation.toolkit.store) == ("mine", "other")


@pytest.mark.parametrize("answers", ["n\n", "y\nother\n", "y\n", ""])
def test_nothing_is_deleted_unless_both_questions_are_answered(installation: Installation, answers: str) -> None:
    answer = plimsoll("campaigns", "delete", "mine", answers=answers)
    assert answer.exit_code != 0
    assert "mine has 0 attempts in 1 file" in answer.output
    assert campaign_ids(installation.toolkit.store) == ("mine", "other")


@pytest.mark.parametrize(("options", "answers"), [([], "y\nmine\n"), (["--yes"], "")])
def test_a_campaign_is_deleted_with_who_did_on_record(
    installation: Installation, options: list[str], answers: str
) -> None:
    deleted = plimsoll("campaigns", "delete", "mine", *options, answers=answers)
    assert deleted.exit_code == 0
    assert "deleted mine: 0 attempts, 1 file" in deleted.output
    store = installation.toolkit.store
    assert campaign_ids(store) == ("other",)
    [record] = store.keys(".deleted")
    assert json.loads(store.read(record))["by"] == pwd.getpwuid(os.getuid()).pw_name


def test_a_user_without_a_name_curates_by_number(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(number: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("LOGNAME")
    for arguments in (
        ("campaigns", "note", "mine", "two racks"),
        ("store", "keep", "mine", "for a paper"),
        ("store", "prune", "--older-than", "1d"),
        ("campaigns", "delete", "mine", "--yes"),
    ):
        ended = plimsoll(*arguments)
        assert ended.exit_code == 0, ended.exception
    store = installation.toolkit.store
    [record] = store.keys(".deleted")
    assert json.loads(store.read(record))["by"] == f"user {os.getuid()}"


def test_a_run_beside_one_of_airflows_is_refused_with_its_name(installation: Installation, tmp_path: Path) -> None:
    (tmp_path / "demo.yaml").write_text(dump_definition(DEFINITION))
    begin(installation.toolkit, "mine", "v1-001k-r1", "airflow:mine__v1-001k-r1#0@here")
    refused = plimsoll("run", str(tmp_path / "demo.yaml"), "--campaign", "mine")
    assert isinstance(refused.exception, Refused)
    assert "mine/v1-001k-r1/1: is being run by Airflow's run mine__v1-001k-r1, installation here, since" in str(
        refused.exception
    )
    assert "--take-over" in str(refused.exception)
    assert plimsoll("run", str(tmp_path / "demo.yaml"), "--campaign", "mine", "--take-over").exit_code == 0
